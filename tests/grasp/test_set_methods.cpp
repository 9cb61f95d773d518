// The method of a set's contact problems: the outcomes of `auto`, the bits of the processor on a GPU, and errors.
#include <gtest/gtest.h>

#include <cmath>

#include "garra/core/error.hpp"
#include "garra/grasp_set.hpp"
#include "on_every_executor.hpp"
#include "uncertain_set.hpp"

namespace garra::grasp {
namespace {

/// Compliant fingers that press on a ball with three, and with four, contacts around it.
GraspSet compliant_hands() {
  GraspSet s;
  s.first = {0};
  for (const int contacts : {3, 4, 3}) {
    for (int j = 0; j < contacts; ++j) {
      const double angle = 2 * M_PI * j / contacts + 0.1 * contacts;
      const double normal[3] = {std::cos(angle), std::sin(angle), 0};
      for (int k = 0; k < 3; ++k) {
        s.normal.push_back(normal[k]);
        s.point.push_back(-0.04 * normal[k]);
        s.force.push_back(k == 0 ? 6 : 0);
      }
      for (int k = 0; k < 9; ++k) s.mobility.push_back(k % 4 == 0 ? 10 : 0);
      s.friction.push_back(0.7);
    }
    s.mass.push_back(0.2);
    for (const double x : {1e-4, 0.0, 0.0, 0.0, 1e-4, 0.0, 0.0, 0.0, 1e-4}) s.inertia.push_back(x);
    s.first.push_back(s.first.back() + contacts);
  }
  return s;
}

SetStudy study_by(const std::string& method) {
  SetStudy study;
  study.friction = study::Distribution::uniform(0.05, 0.5);
  study.force_radius = 4;
  study.held_imbalance = 5;
  study.samples = 130;
  study.friction_samples = 5;
  study.method = method;
  return study;
}

TEST(SetMethods, GiveTheOutcomesOfAuto) {
  const Ranking by_auto = rank(compliant_hands(), study_by("auto"), test::kReference);
  EXPECT_GT(by_auto.held[0], 10);
  EXPECT_LT(by_auto.held[0], 130);
  for (const char* method : {"nsgs", "admm", "fischer-burmeister", "second-order-cone/projected-lm"}) {
    const Ranking by = rank(compliant_hands(), study_by(method), test::kReference);
    for (std::size_t g = 0; g < 3; ++g) {
      EXPECT_LE(by.unsolved[g], 6) << method;
      EXPECT_LE(std::abs(by.held[g] - by_auto.held[g]), by.unsolved[g]) << method;
    }
  }
}

TEST(SetMethods, GiveTheSameNumbersOnEveryExecutor) {
  for (const char* method : {"fischer-burmeister", "second-order-cone/projected-lm"}) {
    SCOPED_TRACE(method);
    test::expect_same_on_every_executor([&](const Device& d) {
      const Ranking r = rank(compliant_hands(), study_by(method), d);
      return test::Answer()
          .add("held", r.held)
          .add("unsolved", r.unsolved)
          .add("p_held", r.p_held)
          .add("non_unique", r.non_unique);
    });
  }
}

TEST(SetMethods, ThatDoNotFitAreRefused) {
  const auto refused = [](const GraspSet& set, const std::string& method, const std::string& said) {
    try {
      (void)rank(set, study_by(method), test::kReference);
      ADD_FAILURE() << method << " was taken";
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find(said), std::string::npos) << e.what();
    }
  };
  refused(compliant_hands(), "newton", "no method is called newton");
  refused(compliant_hands(), "lemke", "contacts that may roll");
  GraspSet soft = compliant_hands();
  soft.torsion_radius.assign(10, 0.01);
  for (int k = 0; k < 90; ++k) soft.angular_mobility.push_back(k % 9 % 4 == 0 ? 1e4 : 0);
  refused(soft, "nsgs", "auto takes them");
  GraspSet ideal = compliant_hands();
  ideal.mobility.clear();
  ideal.force.clear();
  refused(ideal, "nsgs", "the hand is ideal");
}

}  // namespace
}  // namespace garra::grasp
