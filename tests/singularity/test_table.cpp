// Textbook configurations that the reference's files leave out but its notes list (section 5: rank, minimal subsets,
// minimal escape sets and their order), the reference's slice of the PUMA, and what else its examples hold.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "garra/math/screw_algebra.hpp"
#include "garra/singularity.hpp"
#include "singularity_cases.hpp"

namespace garra::singularity {
namespace {

using namespace reference;

struct Subset {
  int first, last;
  Joints dependent_joints;
};
/// Joints count from 1.
struct Expected {
  const char* name;
  int rank, generic_rank;
  std::vector<Subset> subsets;
  std::vector<Joints> escapes;
  int order;
};

void expect_table_row(const chain::Robot& robot, const std::vector<double>& q, const Expected& expected) {
  SCOPED_TRACE(expected.name);
  const Analysis a = analyze(robot, q, paper_rule());
  EXPECT_EQ(a.rank, expected.rank);
  EXPECT_EQ(a.generic_rank, expected.generic_rank);
  ASSERT_EQ(a.intervals.size(), expected.subsets.size());
  for (std::size_t k = 0; k < a.intervals.size(); ++k) {
    EXPECT_EQ(a.intervals[k].first + 1, expected.subsets[k].first);
    EXPECT_EQ(a.intervals[k].last + 1, expected.subsets[k].last);
    EXPECT_EQ(a.intervals[k].dependent_joints, from_zero(expected.subsets[k].dependent_joints));
  }
  ASSERT_EQ(a.escape_sets.size(), expected.escapes.size());
  for (std::size_t k = 0; k < a.escape_sets.size(); ++k) {
    EXPECT_EQ(a.escape_sets[k].joints, from_zero(expected.escapes[k]));
    EXPECT_EQ(a.escape_sets[k].order, expected.order);
  }
  EXPECT_EQ(a.recovery.rank, expected.generic_rank);
}

constexpr double kQuarter = M_PI / 2;

TEST(SingularityTable, ThePumaWhereItIsStretchedUnderItsShoulderAndInSeveralWaysAtOnce) {
  const Json c = case_of("puma_wrist");
  const chain::Robot puma = robot_of(c);
  const double a2 = c["dh"][1]["a"], a3 = c["dh"][2]["a"], d4 = c["dh"][3]["d0"];
  const double stretched = std::atan2(-a3, d4) - kQuarter + 2 * std::atan2(a3, d4);  // a3 s3 + d4 c3 = 0
  ASSERT_NEAR(a3 * std::sin(stretched) + d4 * std::cos(stretched), 0, 1e-15);
  // a2 c2 + a3 c23 - d4 s23 = 0 at q3 = 0.5.
  const double q3 = 0.5, along = a2 + a3 * std::cos(q3) - d4 * std::sin(q3),
               across = a3 * std::sin(q3) + d4 * std::cos(q3);
  const double below = std::atan2(along, across);
  const Joints wrist = {4, 6};
  expect_table_row(puma, {0.3, -0.7, stretched, 0.9, 0.6, -0.4},
                   {"elbow stretched", 5, 6, {{2, 6, {2, 3, 4, 5, 6}}}, {{3}}, 1});
  expect_table_row(puma, {0.3, below, q3, 0.9, 0.6, -0.4},
                   {"shoulder", 5, 6, {{1, 6, {1, 2, 4, 5, 6}}}, {{2}, {3}}, 1});
  expect_table_row(puma, {0.3, below, q3, 0.9, 0, -0.4},
                   {"wrist and shoulder", 5, 6, {{4, 6, wrist}}, {{2, 5}, {3, 5}}, 2});
  expect_table_row(puma, {0.3, kQuarter, stretched, 0.9, 0, -0.4},
                   {"all three", 4, 6, {{1, 5, {1, 2, 3, 4, 5}}, {4, 6, wrist}}, {{3, 5}}, 2});
}

TEST(SingularityTable, SevenJointsWithTwoAndThreePairsOfAlignedAxes) {
  const chain::Robot arm = robot_of(case_of("srs_wrist"));
  const Subset shoulder = {1, 3, {1, 3}}, elbow = {3, 5, {3, 5}}, wrist = {5, 7, {5, 7}};
  expect_table_row(arm, {0.2, 0, kQuarter, 0.9, 0.3, 0.8, 0.1},
                   {"shoulder", 5, 6, {shoulder, {2, 7, {2, 3, 5, 6, 7}}}, {{2}, {3}}, 1});
  expect_table_row(arm, {0.2, 0, 0.7, 0.9, 0.3, 0, 0.1},
                   {"shoulder and wrist", 5, 6, {shoulder, wrist}, {{2}, {6}}, 1});
  expect_table_row(arm, {0.2, 0, 0.7, 0, 0.3, 0, 0.1},
                   {"straight", 4, 6, {shoulder, elbow, wrist}, {{2, 4}, {4, 6}}, 2});
}

TEST(SingularityTable, AScaraThatIsFoldedAndAStanfordArmUnderItsShoulder) {
  expect_table_row(robot_of(case_of("scara_stretched")), {0.4, M_PI, 0.05, 0.3},
                   {"SCARA folded", 3, 4, {{1, 4, {1, 2, 4}}}, {{2}}, 1});
  const chain::Robot stanford = robot_of(case_of("stanford_wrist"));
  expect_table_row(stanford, {0.3, 0, 0.45, 0.5, 0.8, 0.2},
                   {"Stanford shoulder", 5, 6, {{1, 6, {1, 2, 4, 5, 6}}}, {{2}}, 1});
  expect_table_row(stanford, {0.3, 0, 0.45, 0.5, 0, 0.2},
                   {"Stanford wrist and shoulder", 5, 6, {{4, 6, {4, 6}}}, {{2, 5}}, 2});
}

TEST(SingularityTable, FourParallelAxesOfAUr5AndAWristAlone) {
  // Axes 2, 3, 4 are parallel always, axis 6 joins them where q5 = 0: four of them span three dimensions.
  expect_table_row(robot_of(case_of("ur5_elbow")), {0.3, -1.1, 0.7, 0.4, 0, 0.2},
                   {"UR5 wrist", 5, 6, {{2, 6, {2, 3, 4, 6}}}, {{5}}, 1});
  const std::vector<chain::DhJoint> zyz = {{0, 0, kQuarter, 0, {}}, {0, 0, -kQuarter, 0, {}}, {0, 0, 0, 0, {}}};
  expect_table_row(chain::from_dh({.name = "wrist"}, zyz), {0.3, 0, 0.2},
                   {"ZYZ wrist", 2, 3, {{1, 3, {1, 3}}}, {{2}}, 1});
}

TEST(SingularityTable, HelicalJointsOnOneAxisSpanTheTwoDimensionsOfACylindricalPair) {
  const Vec3<double> s = {{0, 0.6, 0.8}}, p = {{0.3, -0.2, 0.1}};
  const auto helical = [&](double pitch) { return turn_about<double>({s, p, pitch}); };
  const ScrewSet set = {{turn_about<double>({{{0, 0, 1}}, {{0.5, 0, 0}}, 0}), helical(0.05), helical(-0.1),
                         turn_about<double>({{{1, 0, 0}}, {{0, 0.4, 0}}, 0}), helical(0.2), slide_along(s)}};
  EXPECT_EQ(circuits(set, 1e-10, 3), (std::vector<Joints>{{1, 2, 4}, {1, 2, 5}, {1, 4, 5}, {2, 4, 5}}));
  // A screw moves along itself: turning a helical joint leaves those on its axis where they are, pitch and all.
  const ScrewSet after = displaced(set, {0, 0.7, 0, 0, 0, 0});
  expect_near(after.screw[2], set.screw[2], 1e-15);
  EXPECT_NEAR(screw_pitch(displaced(set, {1.1, 0, 0, 0, 0, 0}).screw[4]), 0.2, 1e-15);
  const Analysis a = analyze(set);
  EXPECT_TRUE(a.arm_singular);
  ASSERT_FALSE(a.escape_sets.empty());
  EXPECT_EQ(a.escape_sets[0].joints, (Joints{3}));  // it turns the last two away from the others
  EXPECT_EQ(a.recovery.rank, a.generic_rank);
}

TEST(SingularityTable, TheReferencesSliceOfThePuma) {
  const Json map = test::read_reference_json("singularity/maps.json")["maps"][0];
  ASSERT_EQ(map["arm"], "PUMA560");
  const chain::Robot puma = robot_of(case_of("puma_wrist"));
  const std::vector<double> x = map["x"], y = map["y"], fixed = map["fixed"];
  ASSERT_EQ(x.size() * y.size(), 41u * 41u);
  int near = 0;  // rows of the reference's tables belong to the x joint
  for (std::size_t i = 0; i < y.size(); ++i) {
    for (std::size_t j = 0; j < x.size(); ++j) {
      std::vector<double> q = fixed;
      q[map["x_joint"].get<std::size_t>() - 1] = x[j];
      q[map["y_joint"].get<std::size_t>() - 1] = y[i];
      const ScrewSet set = make_screws(puma, q);
      // The wrist's axes meet in its center: the last three screws alone have it as their natural origin.
      const Vec3<double> center = screw_axis(set.screw[4]).point;
      const Vec3<double> along = screw_axis(set.screw[4]).direction, other = screw_axis(set.screw[3]).direction;
      const Vec3<double> between = screw_axis(set.screw[3]).point - center;
      const Vec3<double> normal = cross(along, other);  // at right angles always
      const Vec3<double> wrist = axpy(dot(cross(between, other), normal) / dot(normal, normal), along, center);
      const std::vector<double> sigma = singular_values(set, {wrist, map["L"]});
      double volume = 1;
      for (const double s : sigma) volume *= s;
      EXPECT_NEAR(sigma[5], map["sigma_min"][j][i], kSigma * sigma[0]);
      EXPECT_NEAR(volume, map["manipulability"][j][i], kSigma);
      if (sigma[5] > 1e-6) {
        const double condition = map["cond"][j][i];
        EXPECT_NEAR(sigma[0] / sigma[5], condition, kSigma * condition * sigma[0] / sigma[5]);
      }
      near += sigma[5] < 0.05;
    }
  }
  EXPECT_NEAR(near / (41.0 * 41.0), 0.28, 0.005);  // the reference's notes: 28 %
}

TEST(SingularityExamples, KleinFormsAndManipulabilities) {
  for (const Json& c : examples()) {
    SCOPED_TRACE(c["id"].get<std::string>());
    const ScrewSet set = screws_in(c["screws"]);
    for (std::size_t i = 0; i < set.screw.size(); ++i)
      for (std::size_t j = 0; j < set.screw.size(); ++j)
        EXPECT_NEAR(klein_form(set.screw[i], set.screw[j]), c["klein_form"][i][j], kScrew);
    double volume = 1;
    for (const double s : singular_values(set, {})) volume *= s;
    EXPECT_NEAR(volume, c["manipulability_L1"], kSigma * std::max(1.0, volume));
  }
}

TEST(SingularityExamples, TheNineStepsEndWithTheReferencesActuatorAndSign) {
  int signs = 0;
  for (const Json& c : examples()) {
    SCOPED_TRACE(c["id"].get<std::string>());
    const Analysis a = analyze(screws_in(c["screws"]));
    const Json& steps = c["nine_step_rank_goal"];
    Joints actuated;
    for (std::size_t j = 0; j < a.recovery.motion.size(); ++j) {
      if (a.recovery.motion[j] == 0) continue;
      actuated.push_back(static_cast<int>(j) + 1);
      const Json& joint = c["joints"][j];
      if (joint["better_sign"] == 0) continue;  // both directions are alike: either will do
      EXPECT_EQ(a.recovery.motion[j] > 0 ? 1 : -1, steps["signs"][actuated.size() - 1]);
      ++signs;
    }
    EXPECT_EQ(actuated, steps["actuated"].get<Joints>());
    EXPECT_EQ(actuated.empty() ? a.rank : a.recovery.rank, steps["final_rank"]);
  }
  EXPECT_EQ(signs, 1);  // example 3; example 1 is symmetric, example 2 needs no joint
}

TEST(SingularityExamples, OneProductOutsideTheSpanIsNoSufficientTestButTheWeightedSumIs) {
  int pairs = 0, false_by_product = 0, false_by_sum = 0, missed_by_product = 0, missed_by_sum = 0;
  for (const Json& c : cases()) {
    for (const Interval& i : analyze(screws_in(c["screws"]), paper_rule()).intervals) {
      for (const Actuator& f : i.actuators) {
        const bool outside = std::any_of(f.products.begin(), f.products.end(), [](const auto& p) { return p.outside; });
        ++pairs;
        false_by_product += outside && !f.restores;
        missed_by_product += !outside && f.restores;
        false_by_sum += f.weighted_outside && !f.restores;
        missed_by_sum += !f.weighted_outside && f.restores;
      }
    }
  }
  // As counted in the reference's files; its notes count 131, 22, 0, 0, 2 over more arms.
  EXPECT_EQ(pairs, 77);
  EXPECT_EQ(false_by_product, 14);
  EXPECT_EQ(missed_by_product, 0);
  EXPECT_EQ(false_by_sum, 0);
  EXPECT_EQ(missed_by_sum, 2);  // example 3, joint 2: second order, in both subsets
}

TEST(SingularityExamples, ABestDirectionExistsWhereAlmostAllDirectionsLeadOutAtFirstOrder) {
  int second_order = 0;
  for (const Json& c : cases()) {
    const Analysis a = analyze(screws_in(c["screws"]));
    if (a.lost_freedoms != 1 || a.rank != 5) continue;
    EXPECT_EQ(!a.best_direction.empty(), c["generic_direction_order"] == 1) << c["id"];
    second_order += c["generic_direction_order"] == 2;
  }
  EXPECT_GE(second_order, 3);
}

}  // namespace
}  // namespace garra::singularity
