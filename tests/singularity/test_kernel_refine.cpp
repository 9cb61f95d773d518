// The second pass: singular configurations next to given ones, against closed forms and the exact analysis of the host.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "answers.hpp"
#include "singularity_map_cases.hpp"

namespace garra::singularity {
namespace {

using namespace map_test;

constexpr double kClosedForm = 1e-8;  // a factor of the determinant [m or 1] at what converged to 1e-10
constexpr double kRate = 1e-6;        // of escape: the null vectors are those of a point singular to 1e-10

std::uint32_t bits(const std::vector<int>& joints) {
  std::uint32_t set = 0;
  for (const int j : joints) set |= 1u << j;
  return set;
}

/// Factors of the PUMA's determinant: det J = -a2 (a3 s3 + d4 c3)(a2 c2 + a3 c23 - d4 s23) s5.
struct PumaFactors {
  double elbow, shoulder, wrist;
};
PumaFactors find_factors(const std::vector<double>& q) {
  const double a2 = 0.4318, a3 = 0.0203, d4 = 0.4318, q23 = q[1] + q[2];
  return {a3 * std::sin(q[2]) + d4 * std::cos(q[2]), a2 * std::cos(q[1]) + a3 * std::cos(q23) - d4 * std::sin(q23),
          std::sin(q[4])};
}

TEST(NearestSingularities, OfThePumaSatisfyTheirClosedFormAndNameItsDependentJoints) {
  const chain::Robot puma = reference_arm("puma_wrist");
  const MeasureOptions options;
  const std::vector<double> q = near_rows(puma, random_configurations(puma, 6000), options);
  const NearSingularities found = nearest_singularities(puma, q, options, kLanesDevice);
  int wrist = 0, elbow = 0, shoulder = 0;
  ASSERT_GT(found.search_status.size(), 500u);
  for (std::size_t i = 0; i < found.search_status.size(); ++i) {
    ASSERT_EQ(found.search_status[i], SearchStatus::kConverged) << i;
    const PumaFactors f = find_factors(row(found.singular_q, i, 6));
    const bool at_wrist = std::abs(f.wrist) < kClosedForm, at_elbow = std::abs(f.elbow) < kClosedForm,
               at_shoulder = std::abs(f.shoulder) < kClosedForm;
    ASSERT_EQ(at_wrist + at_elbow + at_shoulder, 1) << f.wrist << " " << f.elbow << " " << f.shoulder;
    const std::vector<int> expected = at_wrist   ? std::vector<int>{3, 5}
                                      : at_elbow ? std::vector<int>{1, 2, 3, 4, 5}
                                                 : std::vector<int>{0, 1, 3, 4, 5};
    EXPECT_EQ(found.dependent_joints[i], bits(expected));
    EXPECT_EQ(found.lost[i], 1);
    wrist += at_wrist;
    elbow += at_elbow;
    shoulder += at_shoulder;
  }
  for (const int count : {wrist, elbow, shoulder}) EXPECT_GT(count, 50);
}

/// Angle to the nearest of `zero` and its opposite.
double off(double angle, double zero) { return std::abs(std::remainder(angle - zero, M_PI)); }

/// Nearest singular configuration of the PUMA in closed form, the shoulder's by a search over q3 alone: there
/// (a2 + r cos b) cos q2 = r sin b sin q2 with a3 = r cos f, d4 = r sin f, b = q3 + f.
double nearest_of_the_puma(const std::vector<double>& q) {
  constexpr double a2 = 0.4318, a3 = 0.0203, d4 = 0.4318;
  constexpr int kHalf = 150;
  const double r = std::hypot(a3, d4), f = std::atan2(d4, a3);
  const double others = std::min(off(q[4], 0), off(q[2], std::atan2(-d4, a3)));
  const auto shoulder = [&](double move) {
    const double b = q[2] + move + f;
    return std::hypot(move, off(q[1], std::atan2(a2 + r * std::cos(b), r * std::sin(b))));
  };
  const double step = others / kHalf;
  int best = 0;
  for (int k = -kHalf; k <= kHalf; ++k)
    if (shoulder(k * step) < shoulder(best * step)) best = k;
  double low = (best - 1) * step, high = (best + 1) * step;
  for (int k = 0; k < 60; ++k) {
    const double a = low + 0.382 * (high - low), b = low + 0.618 * (high - low);
    (shoulder(a) < shoulder(b) ? high : low) = shoulder(a) < shoulder(b) ? b : a;
  }
  return std::min(others, shoulder(0.5 * (low + high)));
}

/// Joints uniform within the limits of the PUMA, as its maps are by default.
std::vector<double> puma_configurations(int count) {
  constexpr double kLow[] = {-160, -45, -225, -110, -100, -266}, kHigh[] = {160, 225, 45, 170, 100, 266};
  std::mt19937_64 gen(7);
  std::uniform_real_distribution<double> part(0, 1);
  std::vector<double> q;
  for (int i = 0; i < 6 * count; ++i) {
    const double low = kLow[i % 6], high = kHigh[i % 6];
    q.push_back((low + (high - low) * part(gen)) * M_PI / 180);
  }
  return q;
}

/// Of landings, those that are not the nearest singular configuration.
double share_not_nearest(double near, int count) {
  constexpr double kDistance = 1e-6;  // [rad] searches end where the distance is right to 1e-7 of itself
  const chain::Robot puma = reference_arm("puma_wrist");
  MeasureOptions options;
  options.near = near;
  const std::vector<double> q = near_rows(puma, puma_configurations(count), options);
  const NearSingularities found = nearest_singularities(puma, q, options, kLanesDevice);
  std::size_t farther = 0;
  for (std::size_t i = 0; i < found.search_status.size(); ++i) {
    const double nearest = nearest_of_the_puma(row(q, i, 6));
    farther += !(found.distance[i] <= nearest + kDistance);
    EXPECT_GE(found.distance[i], nearest - kDistance);
  }
  EXPECT_GT(found.search_status.size(), 2500u);
  return static_cast<double>(farther) / static_cast<double>(found.search_status.size());
}

/// Shares as docs/theory/singularity-maps.md has them.
TEST(NearestSingularities, OfThePumaAreTheNearestInClosedForm) {
  EXPECT_LE(share_not_nearest(0.02, 30000), 0.001);
  EXPECT_LE(share_not_nearest(0.1, 8000), 0.0015);
}

/// An arm without any symmetry, by another program (sequential quadratic programming on det J = 0 from many starts).
TEST(NearestSingularities, OfAnIrregularArmAreThoseOfAnotherProgram) {
  const auto reference = test::read_reference_json("singularity/nearest.json");
  const chain::Robot arm = arm_of_rows("irregular", reference["dh"].get<std::vector<std::array<double, 3>>>());
  std::vector<double> q, nearest;
  for (const auto& c : reference["cases"]) {
    const auto one = c["q"].get<std::vector<double>>();
    q.insert(q.end(), one.begin(), one.end());
    nearest.push_back(c["distance"]);
  }
  const NearSingularities found = nearest_singularities(arm, q, {}, kLanesDevice);
  std::size_t farther = 0;
  for (std::size_t i = 0; i < nearest.size(); ++i) {
    farther += !(found.distance[i] <= nearest[i] + 1e-6);
    EXPECT_GE(found.distance[i], nearest[i] - 1e-6) << i;
  }
  EXPECT_LE(farther, nearest.size() / 50);
}

/// A reference arm by the axes at zero: direction, point, and 1 where it slides.
chain::Robot arm_of_axes(const std::string& name, const std::vector<std::array<double, 7>>& axes) {
  std::vector<chain::ScrewJoint> joints;
  for (const auto& a : axes) {
    const Vec3<double> z = vec3(a[0], a[1], a[2]), p = vec3(a[3], a[4], a[5]);
    chain::ScrewJoint joint;
    (a[6] == 1 ? joint.moment : joint.direction) = z;
    if (a[6] != 1) joint.moment = cross(p, z);
    joints.push_back(joint);
  }
  return chain::from_screws({.name = name}, joints);
}

/// Ten published arms and ten random ones, by another program (descents of det J = 0 from 120 starts for each row).
TEST(NearestSingularities, OfPublishedAndRandomArmsAreThoseOfAnotherProgram) {
  constexpr double kDistance = 1e-6;  // [rad], both programs end within it
  std::size_t rows = 0, farther = 0;
  const auto reference = test::read_reference_json("singularity/nearest_arms.json");
  for (const auto& of : reference["arms"]) {
    const chain::Robot arm = arm_of_axes(of["name"], of["joints"].get<std::vector<std::array<double, 7>>>());
    SCOPED_TRACE(arm.name);
    std::vector<double> q;
    for (const auto& one : of["q"])
      for (const auto& x : one) q.push_back(x);
    const auto nearest = of["distance"].get<std::vector<double>>();
    const NearSingularities found = nearest_singularities(arm, q, {}, kLanesDevice);
    std::size_t missed = 0;
    for (std::size_t i = 0; i < nearest.size(); ++i)
      missed += nearest[i] <= 1 && !(found.distance[i] <= nearest[i] + kDistance);
    EXPECT_LE(missed, 1u);
    farther += missed;
    rows += nearest.size();
  }
  EXPECT_GE(rows, 800u);
  EXPECT_LE(farther, 3u);
}

TEST(NearestSingularities, AreNotThoseOfTheFirstSearchAlone) {
  const chain::Robot puma = reference_arm("puma_wrist");
  // sin q5 = 0 is 0.1972 rad away, the folded forearm 0.2433.
  const NearSingularities found =
      nearest_singularities(puma, {1.7129, -2.8497, 1.8647, 1.2037, 2.9444, 1.0177}, {}, kLanesDevice);
  EXPECT_NEAR(found.distance[0], M_PI - 2.9444, 1e-8);
}

/// sin q5 alone decides the wrist; the step there is the distance of q5 to 0 or a half turn.
TEST(NearestSingularities, AreReachedByTheLeastMotion) {
  const chain::Robot puma = reference_arm("puma_wrist");
  std::vector<double> q;
  std::vector<double> offset;
  for (int k = 1; k <= 40; ++k) {
    offset.push_back(0.002 * k);
    q.insert(q.end(), {0.3, -0.9 + 0.003 * k, 0.4, 0.8, offset.back(), -0.5});
  }
  const NearSingularities found = nearest_singularities(puma, q, {}, kLanesDevice);
  for (std::size_t i = 0; i < offset.size(); ++i) {
    ASSERT_EQ(found.dependent_joints[i], bits({3, 5}));
    EXPECT_NEAR(found.distance[i], offset[i], 1e-9);
  }
}

/// Joints with a part in the null space; of a redundant arm those of the minimal singular subsets.
std::uint32_t mask_dependent_joints(const Analysis& a) {
  std::uint32_t subsets = 0;
  for (const Interval& interval : a.intervals) subsets |= bits(interval.dependent_joints);
  return a.joints > a.generic_rank && subsets != 0 ? subsets : bits(a.dependent_joints);
}

/// What the exact analysis, which is another program, says of a configuration that a search has converged at.
bool agrees(const Analysis& a, const NearSingularities& found, std::size_t i) {
  const auto joints = static_cast<std::size_t>(a.joints);
  bool same = a.lost_freedoms == found.lost[i] && mask_dependent_joints(a) == found.dependent_joints[i] &&
              static_cast<int>(a.intervals.size()) == found.subsets[i];
  for (const Interval& interval : a.intervals) {
    const std::size_t at = i * joints + static_cast<std::size_t>(interval.first);
    same = same && interval.last == found.subset_last[at] && bits(interval.dependent_joints) == found.subset_joints[at];
  }
  int order = 0;
  double rate = 0;
  for (const JointEscape& e : a.escape) {
    if (e.order == 0 || (order != 0 && (e.order > order || (e.order == order && e.rate <= rate)))) continue;
    order = e.order;
    rate = e.rate;
  }
  return same && order == found.escape_order[i] && (order == 0 || std::abs(rate - found.escape_rate[i]) < kRate);
}

/// Ranks, sets, subsets and escape of what converged. Both programs have thresholds, and at double roots, which
/// searches reach to 1e-8 only, a number may lie between them: one in a hundred may differ.
void check_against_host(const chain::Robot& robot, int samples, double near, int at_most) {
  SCOPED_TRACE(robot.name);
  MeasureOptions options;
  options.near = near;
  const std::vector<double> q = near_rows(robot, random_configurations(robot, samples), options);
  const NearSingularities found = nearest_singularities(robot, q, options, kLanesDevice);
  AnalyzeOptions exact;
  exact.tolerance = 1e-6;  // as the search does
  exact.generic = generic_dims(make_screws(robot, std::vector<double>(static_cast<std::size_t>(robot.joints), 0.1)));
  exact.clearing_sets = false;
  exact.max_set_size = 1;
  int checked = 0, lost = 0, different = 0;
  for (std::size_t i = 0; i < found.search_status.size() && checked < at_most; ++i) {
    lost += found.search_status[i] != SearchStatus::kConverged;
    if (found.search_status[i] != SearchStatus::kConverged) continue;
    ++checked;
    different += !agrees(analyze(robot, row(found.singular_q, i, robot.joints), exact), found, i);
  }
  EXPECT_LE(different, at_most / 100);
  EXPECT_GT(checked, at_most / 2);
  EXPECT_LT(lost, static_cast<int>(found.search_status.size()) / 10 + 1);
}

TEST(NearestSingularities, AgreeWithTheExactAnalysisForAllKindsOfArms) {
  check_against_host(reference_arm("puma_wrist"), 3000, 0.02, 300);
  check_against_host(robot_file("ur5.toml"), 2000, 0.02, 60);
  check_against_host(robot_file("stanford.toml"), 3000, 0.02, 200);
  check_against_host(robot_file("iiwa14.urdf"), 8000, 0.02, 200);
  check_against_host(robot_file("scara.toml"), 1000, 0.05, 40);
  check_against_host(planar_arm(3), 1000, 0.05, 40);
  check_against_host(planar_arm(4), 4000, 0.1, 20);
  check_against_host(nine_joint_arm(), 3000, 0.1, 20);
}

/// Where rank is lost in two conditions on five joints there are few near samples, and fewer singularities.
TEST(NearestSingularities, OfFiveJointsAgreeWithTheExactAnalysis) {
  check_against_host(five_joint_arm(), 4000, 0.05, 20);
}

// SCARA moves with four freedoms: maps of such arms have no kernels, and say so.
TEST(NearestSingularities, AreTheSameOnEveryExecutor) {
  for (const auto& robot : {reference_arm("puma_wrist"), robot_file("iiwa14.urdf"), robot_file("scara.toml")}) {
    SCOPED_TRACE(robot.name);
    const std::vector<double> q = near_rows(robot, random_configurations(robot, 700), {});
    const bool has_kernels = robot.joints >= 6;
    if (!has_kernels && test::gpu_here()) {
      EXPECT_THROW((void)measure(robot, q, {}, Device{Executor::kCuda, 0, 0}), Error);
    }
    const auto devices = has_kernels ? test::other_executors() : test::other_host_executors();
    test::expect_same_on(devices, [&](const Device& device) {
      return test::Answer()
          .add("measures", test::make_answer(measure(robot, q, {}, device)))
          .add("nearest", test::make_answer(nearest_singularities(robot, q, {}, device)));
    });
  }
}

TEST(NearestSingularities, ANumberThatIsNotFiniteSpoilsNoOther) {
  const chain::Robot puma = reference_arm("puma_wrist");
  std::vector<double> q = random_configurations(puma, 37);
  const NearSingularities clean = nearest_singularities(puma, q, {}, kLanesDevice);
  const Measures measured = measure(puma, q, {}, kLanesDevice);
  q[6 * 5 + 5] = NAN;  // the last joint, which turns no screw
  q[6 * 12 + 2] = INFINITY;
  const NearSingularities spoilt = nearest_singularities(puma, q, {}, kLanesDevice);
  const Measures remeasured = measure(puma, q, {}, kLanesDevice);
  for (std::size_t i = 0; i < 37; ++i) {
    if (i == 5 || i == 12) {
      EXPECT_EQ(spoilt.search_status[i], SearchStatus::kNonFinite);
      EXPECT_EQ(spoilt.dependent_joints[i], 0u);
      EXPECT_TRUE(std::isnan(spoilt.singular_q[6 * i]));
      EXPECT_TRUE(std::isnan(remeasured.sigma_min[i]));
      EXPECT_TRUE(std::isnan(remeasured.inverse_condition[i]));
      continue;
    }
    EXPECT_EQ(spoilt.search_status[i], clean.search_status[i]);
    EXPECT_TRUE(same(row(spoilt.singular_q, i, 6), row(clean.singular_q, i, 6))) << i;
    EXPECT_EQ(remeasured.sigma_min[i], measured.sigma_min[i]);
  }
}

}  // namespace
}  // namespace garra::singularity
