// The exact singularity analysis against exact motions, closed forms and invariances; its options, files and errors.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>

#include "garra/io/screws_file.hpp"
#include "garra/math/rotation.hpp"
#include "garra/singularity.hpp"
#include "places.hpp"
#include "singularity_cases.hpp"

namespace garra::singularity {
namespace {

using namespace reference;

TEST(Singularity, FiniteMotionsGrowAtThePredictedOrderAndRate) {
  constexpr double kStep = 1e-5;  // small against 3e-3, how far the folded PUMA is from a deeper singularity
  int second_order = 0, pairs = 0;
  for (const Json& c : cases()) {
    SCOPED_TRACE(c["id"].get<std::string>());
    const ScrewSet set = screws_in(c["screws"]);
    const Analysis a = analyze(set);
    for (const EscapeSet& e : a.escape_sets) {
      const double sigma = sigma_after(set, a, motion(set, a, e, kStep));
      EXPECT_NEAR(sigma / std::pow(kStep, e.order), e.rate, 0.01 * e.rate) << e.joints[0] + 1;
      EXPECT_NEAR(sigma_after(set, a, motion(set, a, e, AnalyzeOptions{}.step)), e.sigma, 1e-12);
      second_order += e.order == 2;
      pairs += e.joints.size() == 2;
    }
    if (a.arm_singular) {
      EXPECT_NEAR(sigma_after(set, a, a.recovery.motion), a.recovery.sigma, 1e-12);
      EXPECT_GT(a.recovery.sigma, 1e-3);
    }
  }
  EXPECT_GE(second_order, 4);
  EXPECT_GE(pairs, 1);
}

TEST(Singularity, SignsOfAPairAreTheBetterOnes) {
  const Json c = case_of("puma_wrist_elbow");
  const ScrewSet set = screws_in(c["screws"]);
  const Analysis a = analyze(set);
  ASSERT_EQ(a.escape_sets.size(), 1u);
  const EscapeSet& best = a.escape_sets[0];
  for (std::size_t k = 0; k < 2; ++k) {
    EscapeSet other = best;
    other.direction[k] = -other.direction[k];
    const double sigma = sigma_after(set, a, motion(set, a, other, AnalyzeOptions{}.step));
    EXPECT_LE(sigma, best.sigma * (1 + 1e-9));
    EXPECT_EQ(best.sign[k] == 0, sigma > best.sigma * (1 - 1e-9));
    if (best.sign[k] != 0) {
      EXPECT_EQ(best.sign[k] > 0, best.direction[k] > 0);
    }
  }
}

TEST(Singularity, NeitherThePlaceOfTheBaseNorTheUnitOfLengthChangesAnything) {
  const Mat3<double> R = rotation_from_rpy({{0.4, -1.1, 2.0}});
  const Vec3<double> p = {{3, -8, 5}};
  constexpr double kMillimeters = 1000;
  for (const Json& c : cases()) {
    SCOPED_TRACE(c["id"].get<std::string>());
    const ScrewSet set = screws_in(c["screws"]);
    ScrewSet far;
    for (const Screw<double>& s : set.screw) {
      const bool prismatic = norm(s.w) == 0;
      const Vec3<double> w = R * s.w;
      far.screw.push_back({w, prismatic ? R * s.v : kMillimeters * (R * s.v + cross(p, w))});
    }
    const Analysis a = analyze(set), b = analyze(far);
    for (std::size_t k = 0; k < a.singular_values.size(); ++k)
      EXPECT_NEAR(a.singular_values[k], b.singular_values[k], 1e-12);
    EXPECT_NEAR(b.scaling.length, kMillimeters * a.scaling.length, 1e-10 * b.scaling.length);
    EXPECT_EQ(a.rank, b.rank);
    EXPECT_EQ(a.dims, b.dims);
    EXPECT_EQ(a.dependent_joints, b.dependent_joints);
    ASSERT_EQ(a.escape.size(), b.escape.size());
    for (std::size_t k = 0; k < a.escape.size(); ++k) {
      EXPECT_EQ(a.escape[k].order, b.escape[k].order);
      EXPECT_NEAR(a.escape[k].rate, b.escape[k].rate, kSigma);
    }
  }
}

/// |det J| is the product of the singular values of the unscaled screws.
double volume(const chain::Robot& robot, const std::vector<double>& q) {
  double product = 1;
  for (const double s : singular_values(make_screws(robot, q), {})) product *= s;
  return product;
}

TEST(Singularity, DeterminantOfThePumaHasItsClosedForm) {
  const Json c = case_of("puma_wrist");
  const chain::Robot robot = robot_of(c);
  const double a2 = c["dh"][1]["a"], a3 = c["dh"][2]["a"], d4 = c["dh"][3]["d0"];
  std::mt19937_64 gen(1);
  std::uniform_real_distribution<double> turn(-M_PI, M_PI);
  for (int sample = 0; sample < 200; ++sample) {
    std::vector<double> q(6);
    for (double& x : q) x = turn(gen);
    const double det = -a2 * (a3 * std::sin(q[2]) + d4 * std::cos(q[2])) *
                       (a2 * std::cos(q[1]) + a3 * std::cos(q[1] + q[2]) - d4 * std::sin(q[1] + q[2])) * std::sin(q[4]);
    EXPECT_NEAR(volume(robot, q), std::abs(det), 1e-14);
  }
}

TEST(Singularity, DeterminantOfTheStanfordArmHasItsClosedForm) {
  const chain::Robot robot = robot_of(case_of("stanford_wrist"));
  std::mt19937_64 gen(2);
  std::uniform_real_distribution<double> turn(-M_PI, M_PI);
  for (int sample = 0; sample < 200; ++sample) {
    std::vector<double> q(6);
    for (double& x : q) x = turn(gen);
    EXPECT_NEAR(volume(robot, q), std::abs(q[2] * q[2] * std::sin(q[1]) * std::sin(q[4])), 1e-12);
  }
}

TEST(Singularity, TheUsersOriginAndLengthAndKnownDimensionsAreTaken) {
  const ScrewSet set = screws_in(case_of("srs_elbow")["screws"]);
  AnalyzeOptions options;
  options.origin = {{0.1, -0.2, 0.3}};
  options.length = 0.5;
  options.generic = generic_dims(set);
  const Analysis a = analyze(set, options);
  EXPECT_EQ(a.scaling.length, 0.5);
  EXPECT_EQ(a.scaling.origin[2], 0.3);
  EXPECT_EQ(a.generic_rank, 6);
  // The columns by hand: (s; (s0 - c x s) / L), whose squares add up to those of the singular values.
  double squares = 0, sum = 0;
  for (const Screw<double>& s : set.screw) {
    const Vec3<double> moment = 2.0 * (s.v - cross(*options.origin, s.w));
    squares += dot(s.w, s.w) + dot(moment, moment);
  }
  for (const double sigma : a.singular_values) sum += sigma * sigma;
  EXPECT_NEAR(sum, squares, 1e-12);
  EXPECT_EQ(a.escape_sets[0].joints, (Joints{3}));
  options.generic_rank = 5;  // a user who says so is believed
  EXPECT_FALSE(analyze(set, options).arm_singular);
}

TEST(Singularity, IntervalsThatAreAlwaysDependentAreSingularOnlyByThePapersRule) {
  // Four parallel axes, not in one plane: three freedoms at best.
  ScrewSet planar;
  for (const auto& [x, y] : {std::pair{0.0, 0.0}, {1.0, 0.0}, {1.5, 1.0}, {1.0, 2.0}})
    planar.screw.push_back({{{0, 0, 1}}, {{y, -x, 0}}});
  const Analysis generic = analyze(planar), paper = analyze(planar, paper_rule());
  EXPECT_EQ(generic.generic_rank, 3);
  EXPECT_FALSE(generic.arm_singular);
  EXPECT_FALSE(generic.subchain_singular);
  ASSERT_EQ(paper.intervals.size(), 1u);
  EXPECT_EQ(paper.intervals[0].dependent_joints, (Joints{0, 1, 2, 3}));
}

TEST(Singularity, AWristWithoutLengthAndASingleScrewAreAnalyzed) {
  const double c = std::cos(0.4), s = std::sin(0.4);
  const ScrewSet wrist = {{{{{0, 0, 1}}, {{0, 0, 0}}}, {{{0, 1, 0}}, {{0, 0, 0}}}, {{{s, 0, c}}, {{0, 0, 0}}}}};
  const Analysis a = analyze(wrist);
  EXPECT_EQ(a.scaling.length, 1);
  EXPECT_EQ(a.generic_rank, 3);
  EXPECT_EQ(a.rank, 3);
  const Analysis one = analyze(ScrewSet{{{{{0, 0, 1}}, {{0, 0, 0}}}}});
  EXPECT_EQ(one.rank, 1);
  EXPECT_FALSE(one.arm_singular);
}

TEST(ScrewsFile, IsReadWithItsOptions) {
  const io::ScrewsFile file = io::parse_screws(
      "generic_rank = 2\ntolerance = 1e-3\nscrews = [[0, 0, 1, 0.5, -2, 0], [0, 0, 0, 1, 0, 0]]\n", "two.toml");
  ASSERT_EQ(file.set.screw.size(), 2u);
  expect_near(file.set.screw[0], {{{0, 0, 1}}, {{0.5, -2, 0}}}, 0);
  expect_near(file.set.screw[1], {{{0, 0, 0}}, {{1, 0, 0}}}, 0);
  EXPECT_EQ(file.generic_rank, 2);
  EXPECT_EQ(file.tolerance, 1e-3);
}

TEST(ScrewsFile, WrongContentIsRefusedWithItsPlace) {
  const auto message = [](const std::string& text) -> std::string {
    try {
      static_cast<void>(io::parse_screws(text, "bad.toml"));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kInvalidFile);
      return error.what();
    }
    return "";
  };
  const std::string screws = "screws = [[0, 0, 1, 0, 0, 0]]\n";
  EXPECT_NE(message("").find("screws"), std::string::npos);
  EXPECT_NE(message("screws = []").find("bad.toml:1:"), std::string::npos);
  EXPECT_NE(message("screws = [[0, 0, 1, 0, 0]]").find("screws[0]"), std::string::npos);
  EXPECT_NE(message("screws = [[0, 0, 0, 0, 0, 0]]").find("the screw is zero"), std::string::npos);
  EXPECT_NE(message(screws + "generic_rank = 2").find("bad.toml:2:"), std::string::npos);
  EXPECT_NE(message(screws + "tolerance = 0").find("tolerance"), std::string::npos);
  EXPECT_NE(message(screws + "tolerence = 1e-3").find("tolerence"), std::string::npos);
}

TEST(ScrewsFile, TheExamplesThatComeWithGarraAreThoseOfTheReference) {
  int number = 0;
  for (const Json& c : examples()) {
    const std::string path = test::source_folder() + "/data/screws/gallardo_" + std::to_string(++number) + ".toml";
    const io::ScrewsFile file = io::read_screws(path);
    ASSERT_EQ(file.set.screw.size(), c["screws"].size());
    for (std::size_t k = 0; k < file.set.screw.size(); ++k)
      expect_near(file.set.screw[k], screw_of(c["screws"][k]), 1e-15);
    EXPECT_EQ(analyze(file.set).rank, c["rank"]);
  }
}

TEST(Singularity, MisuseIsRefused) {
  const ScrewSet set = screws_in(case_of("ex1")["screws"]);
  const auto refused = [](const ScrewSet& s, const AnalyzeOptions& o) {
    EXPECT_THROW(static_cast<void>(analyze(s, o)), Error);
  };
  refused({}, {});
  refused({{{Vec3<double>::zero(), Vec3<double>::zero()}}}, {});
  refused({{{{{NAN, 0, 1}}, Vec3<double>::zero()}}}, {});
  refused({std::vector<Screw<double>>(17, set.screw[0])}, {});
  AnalyzeOptions o;
  o.tolerance = 0;
  refused(set, o);
  o = {};
  o.length = -1;
  refused(set, o);
  o = {};
  o.generic_rank = 7;
  refused(set, o);
  o = {};
  o.generic = GenericDims{6, std::vector<int>(36, 1)};
  refused(set, o);
}

}  // namespace
}  // namespace garra::singularity
