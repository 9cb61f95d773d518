// All solutions of inverse kinematics: the joint values that made a pose are among them, every one leads back to the
// pose, and an arm that is known to have sixteen has sixteen.
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <random>

#include "garra/chain_eval.hpp"
#include "garra/chain_generate.hpp"
#include "garra/core/eigenvalues.hpp"
#include "garra/core/error.hpp"
#include "garra/io/robot.hpp"
#include "on_every_executor.hpp"
#include "places.hpp"

namespace garra::chain {
namespace {

using Array = std::vector<double>;
constexpr double kHalf = M_PI / 2, kDegree = M_PI / 180;

struct Row {
  double a, alpha, d;
};
Robot arm(const std::string& name, const std::vector<Row>& rows, const std::vector<int>& slides = {}) {
  std::vector<DhJoint> joints;
  for (const Row& r : rows) joints.push_back({r.a, r.d, r.alpha, 0, {}});
  for (const int i : slides) joints[static_cast<std::size_t>(i)].link.joint.prismatic = true;
  return from_dh({.name = name}, joints);
}
/// Manseur, Doty, Int. J. Robotics Res. 8(5) (1989): the first arm known to have 16 solutions.
Robot manseur_doty() {
  return arm("Manseur-Doty",
             {{0.3, kHalf, 0}, {1, kDegree, 0}, {0, kHalf, 0.2}, {1.5, kDegree, 0}, {0, kHalf, 0}, {0, kDegree, 0}});
}
Robot puma() { return from_dh({.name = "PUMA 560"}, puma560()); }
Robot ur10e() {
  return arm("UR10e", {{0, kHalf, 0.1807},
                       {-0.6127, 0, 0},
                       {-0.57155, 0, 0},
                       {0, kHalf, 0.17415},
                       {0, -kHalf, 0.11985},
                       {0, 0, 0.11655}});
}
/// Spherical wrist, axes 2 and 3 parallel, axis 1 beside axis 2: most industrial arms.
Robot irb2400() {
  return arm(
      "IRB 2400",
      {{0.1, -kHalf, 0.615}, {0.705, 0, 0}, {0.135, -kHalf, 0}, {0, kHalf, 0.755}, {0, -kHalf, 0}, {0, 0, 0.085}});
}
/// Kinova's DH table of the JACO2 with six joints and a curved wrist.
Robot jaco2() {
  return arm("JACO2", {{0, kHalf, 0.2755},
                       {0.41, M_PI, 0},
                       {0, kHalf, -0.0098},
                       {0, M_PI / 3, -0.24974},
                       {0, M_PI / 3, -0.085},
                       {0, M_PI, -0.2029}});
}
Robot random_arm(unsigned seed, const std::vector<int>& slides = {}) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> u(-1, 1);
  std::vector<Row> rows;
  for (int i = 0; i < 6; ++i) rows.push_back({0.5 * u(random), M_PI * u(random), 0.5 * u(random)});
  return arm("random", rows, slides);
}
/// Three axes that meet, of any twist, at the tool or at the base; the other three are a random arm.
Robot random_wrist(unsigned seed, bool at_base, const std::vector<int>& slides = {}) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> u(-1, 1);
  std::vector<Row> rows;
  for (int i = 0; i < 6; ++i) rows.push_back({0.5 * u(random), M_PI * u(random), 0.5 * u(random)});
  const std::size_t first = at_base ? 0 : 3;
  rows[first].a = rows[first + 1].a = rows[first + 1].d = 0;
  return arm("random wrist", rows, slides);
}
/// The same arm as a measurement would find it: frames off by `size` rad and m.
Robot calibrated(const Robot& nominal, double size) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> u(-size, size);
  std::vector<KernelJoint> joints;
  for (const JointForm<double>& j : nominal.form) {
    const double alpha = std::atan2(j.sin_alpha, j.cos_alpha) + u(random);
    joints.push_back({j.a + u(random),
                      j.b + u(random),
                      j.d + u(random),
                      std::cos(alpha),
                      std::sin(alpha),
                      j.theta + u(random),
                      Pose<double>::identity(),
                      {}});
  }
  return from_kernel_form({.name = nominal.name + ", calibrated", .base = nominal.base, .tool = nominal.tool}, joints);
}

Array random_q(const Robot& robot, std::size_t count, unsigned seed = 7) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> u(-1, 1);
  Array q;
  for (std::size_t n = 0; n < count; ++n)
    for (const Joint& j : robot.joint) q.push_back(u(random) * (j.prismatic ? 0.5 : M_PI));
  return q;
}
Array to_poses(const Robot& robot, const Array& q) {
  return evaluate(robot, StateView(static_cast<std::int64_t>(q.size()) / robot.joints, q), Output::kPose).pose;
}

double apart(const Robot& robot, const double* a, const double* b) {
  double most = 0;
  for (std::size_t i = 0; i < 6; ++i)
    most = std::max(most, std::abs(robot.joint[i].prismatic ? a[i] - b[i] : std::remainder(a[i] - b[i], 2 * M_PI)));
  return most;
}

struct Count {
  std::size_t missed = 0, complete = 0, solutions = 0, most = 0;
};
/// Poses of random joint values; each solution leads back to its pose and differs from the others.
Count count_solutions(const Robot& robot, std::size_t count) {
  const Array q = random_q(robot, count), pose = to_poses(robot, q);
  const AllSolutionsResult found = AllSolutions(robot).solve(pose, {.limits = false});
  const Array back = to_poses(robot, found.q);
  Count out{0, 0, found.residual.size(), 0};
  for (std::size_t n = 0; n < count; ++n) {
    bool own = false;
    const auto first = static_cast<std::size_t>(found.first[n]), end = static_cast<std::size_t>(found.first[n + 1]);
    for (std::size_t k = first; k < end; ++k) {
      own = own || apart(robot, &found.q[6 * k], &q[6 * n]) < 1e-5;
      for (std::size_t i = 0; i < 16; ++i) EXPECT_NEAR(back[16 * k + i], pose[16 * n + i], 2e-10) << robot.name;
      for (std::size_t other = first; other < k; ++other)
        EXPECT_GT(apart(robot, &found.q[6 * k], &found.q[6 * other]), 1e-6) << robot.name;
    }
    out.missed += own ? 0 : 1;
    out.complete += found.complete[n];
    out.most = std::max(out.most, end - first);
  }
  return out;
}

TEST(AllSolutions, TheArmOfManseurAndDotyHasSixteen) {
  const Robot robot = manseur_doty();
  const Array pose = {-0.760117, -0.641689, 0.102262, -1.140175, 0.133333, 0, 0.991071, 0,
                      -0.635959, 0.766965,  0.085558, 0,         0,        0, 0,        1};
  const AllSolutionsResult found = AllSolutions(robot).solve(pose);
  EXPECT_EQ(found.residual.size(), 16U);
  EXPECT_EQ(found.complete[0], 1);
  for (const double radius : found.unique) EXPECT_GT(radius, 0);
}

TEST(AllSolutions, ContainTheJointValuesThatMadeThePose) {
  constexpr std::size_t kPoses = 1000;
  for (const Robot& robot :
       {manseur_doty(), random_arm(1), random_arm(2), random_arm(3), puma(), ur10e(), irb2400(), jaco2(),
        random_arm(4, {1}), random_arm(5, {3}), random_wrist(1, false), random_wrist(2, false, {2}),
        random_wrist(3, false, {0}), random_wrist(4, true), random_wrist(5, true, {3})}) {
    const Count count = count_solutions(robot, kPoses);
    EXPECT_EQ(count.missed, 0U) << robot.name;
    EXPECT_LE(count.most, 16U);
    // The equations of this arm are dependent: candidates come from links that are a little off.
    if (robot.name != "JACO2") {
      EXPECT_GT(count.complete, kPoses * 98 / 100) << robot.name;
    }
  }
}

/// Closed forms take the sines and cosines of candidates for the residual, not those of the rounded joint values.
TEST(AllSolutions, ResidualsAreThoseOfTheJointValuesToRounding) {
  constexpr double kRounding = 4e-15;  // of six angles below pi, at most two meters from the tool
  std::vector<DhJoint> turned;
  for (const auto& [a, alpha, d] :
       {Row{0.1, -kHalf, 0.6}, {0.7, 0, 0}, {0.1, -kHalf, 0}, {0, kHalf, 0.8}, {0, -kHalf, 0}, {}})
    turned.push_back({a, d, alpha, 0.4 * static_cast<double>(turned.size()) - 1, {}});
  const Robot offset = from_dh({.name = "turned"}, turned);
  for (const Robot& robot : {puma(), ur10e(), irb2400(), offset, random_wrist(3, false), random_wrist(4, true)}) {
    using Matrix4 = Eigen::Matrix<double, 4, 4, Eigen::RowMajor>;
    const Array pose = to_poses(robot, random_q(robot, 500));
    const AllSolutionsResult found = AllSolutions(robot).solve(pose, {.limits = false});
    const Array back = to_poses(robot, found.q);
    for (std::size_t n = 0; n < 500; ++n)
      for (auto k = static_cast<std::size_t>(found.first[n]); k < static_cast<std::size_t>(found.first[n + 1]); ++k) {
        const Eigen::Map<const Matrix4> aim(&pose[16 * n]), tool(&back[16 * k]);
        const Eigen::Matrix3d turn = aim.block<3, 3>(0, 0) * tool.block<3, 3>(0, 0).transpose();
        const double sine = (turn - turn.transpose()).norm() / std::sqrt(8);
        EXPECT_NEAR(found.residual[k], std::hypot((aim - tool).block<3, 1>(0, 3).norm(), sine), kRounding)
            << robot.name;
      }
  }
}

/// With the wrist aligned joints 4 and 6 turn about one axis: there are infinitely many solutions.
TEST(AllSolutions, AnAlignedWristHasARepresentativeWithoutProof) {
  const Robot robot = puma();
  const Array q = {0.3, -0.5, 0.8, 0.2, 0, 0.1}, pose = to_poses(robot, q);
  const AllSolutionsResult found = AllSolutions(robot).solve(pose);
  EXPECT_EQ(found.complete[0], 0);
  bool same_arm = false;
  for (std::size_t k = 0; k < found.residual.size(); ++k) {
    const double* a = &found.q[6 * k];
    const bool aligned = std::abs(std::remainder(a[4], M_PI)) < 1e-6;
    if (aligned) {
      EXPECT_EQ(found.unique[k], 0);
    }
    same_arm = same_arm || (std::abs(a[0] - q[0]) + std::abs(a[1] - q[1]) + std::abs(a[2] - q[2]) < 1e-6 &&
                            std::abs(std::remainder(a[3] + a[5] - q[3] - q[5], 2 * M_PI)) < 1e-6);
  }
  EXPECT_TRUE(same_arm);
  EXPECT_LE(found.residual.size(), 7U);
}

TEST(AllSolutions, CalibratedArmsAreAsComplete) {
  for (const double size : {1e-3, 1e-4, 1e-5})
    for (const Robot& nominal : {puma(), ur10e(), irb2400(), jaco2()}) {
      const Count count = count_solutions(calibrated(nominal, size), 500);
      EXPECT_EQ(count.missed, 0U) << nominal.name << ' ' << size;
    }
}

/// A list that is said to be complete has as many solutions as the same pose has in another order of elimination.
TEST(AllSolutions, CompleteListsAgreeWithThoseOfTheReversedArm) {
  const Robot robot = random_arm(2);
  // The arm from its tool to its base: joint 5 first, each turning the other way about its own axis.
  std::vector<GeneralJoint> joints;
  for (std::size_t i = 6; i-- > 0;) {
    const JointForm<double>& j = robot.form[i];
    const Mat3<double> tilt = {{1, 0, 0, 0, j.cos_alpha, -j.sin_alpha, 0, j.sin_alpha, j.cos_alpha}};
    const Pose<double> link{tilt, tilt * vec3(j.a, j.b, j.d)};
    joints.push_back({.placement = Pose<double>::identity(), .axis = {{0, 0, -1}}, .after = inverse(link), .link = {}});
  }
  const Robot reversed =
      from_joints({.name = "reversed", .base = inverse(robot.tool), .tool = inverse(robot.base)}, joints);
  const Array q = random_q(robot, 300), pose = to_poses(robot, q);
  Array inverses;
  for (std::size_t n = 0; n < 300; ++n) {
    const double* p = &pose[16 * n];
    const Pose<double> X =
        inverse(Pose<double>{{{p[0], p[1], p[2], p[4], p[5], p[6], p[8], p[9], p[10]}}, {{p[3], p[7], p[11]}}});
    for (int r = 0; r < 3; ++r)
      for (int c = 0; c < 4; ++c) inverses.push_back(c < 3 ? X.R(r, c) : X.p[r]);
    for (int c = 0; c < 4; ++c) inverses.push_back(c == 3);
  }
  const AllSolutionsResult a = AllSolutions(robot).solve(pose), b = AllSolutions(reversed).solve(inverses);
  for (std::size_t n = 0; n < 300; ++n)
    if (a.complete[n] && b.complete[n]) {
      EXPECT_EQ(a.first[n + 1] - a.first[n], b.first[n + 1] - b.first[n]);
    }
  EXPECT_GT(std::count(a.complete.begin(), a.complete.end(), 1), 290);
}

TEST(AllSolutions, RespectLimitsTurnsAndSeeds) {
  Robot robot = ur10e();
  for (Joint& j : robot.joint) j.lower = -2 * M_PI, j.upper = 2 * M_PI;
  const AllSolutions solver(robot);
  const Array q = {0.3, -1.2, 1.4, -0.7, 1.1, 5.9}, pose = to_poses(robot, q);
  const AllSolutionsResult once = solver.solve(pose), turns = solver.solve(pose, {.windings = true});
  // Every joint but those at 0 has two turns within +-360 degrees.
  EXPECT_EQ(turns.residual.size(), 64 * once.residual.size());
  const AllSolutionsResult near = solver.solve(pose, {.q0 = q});
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(near.q[i], q[i], 1e-9);
  robot.joint[0].upper = 0.2;
  robot.joint[0].lower = 0.1;
  const AllSolutionsResult none = AllSolutions(robot).solve(pose);
  EXPECT_EQ(none.residual.size(), 0U);
  EXPECT_EQ(none.status[0], Status::kOutOfReach);
  const AllSolutionsResult outside = AllSolutions(robot).solve(pose, {.limits = false});
  EXPECT_EQ(outside.residual.size(), 8U);
  EXPECT_LT(outside.limit_distance[0], 0);
}

TEST(AllSolutions, AFixedJointLeavesAnArmOfSix) {
  const Robot iiwa = io::read_robot(test::source_folder() + "/data/robots/iiwa14.urdf");
  const Array q = random_q(iiwa, 1);
  const Robot six = lock_joint(iiwa, 2, q[2]);
  const Array pose = to_poses(iiwa, q), rest = {q[0], q[1], q[3], q[4], q[5], q[6]}, same = to_poses(six, rest);
  for (std::size_t k = 0; k < 16; ++k) EXPECT_NEAR(pose[k], same[k], 1e-14);
  // Gravity's torques and masses too: what the fixed joint carried counts to the link before.
  const Array torque = evaluate(iiwa, StateView(1, q), Output::kGravity).gravity,
              less = evaluate(six, StateView(1, rest), Output::kGravity).gravity;
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(less[i], torque[i < 2 ? i : i + 1], 1e-12);
  const AllSolutionsResult found = AllSolutions(six).solve(pose, {.limits = false});
  bool own = false;
  for (std::size_t k = 0; k < found.residual.size(); ++k) own = own || apart(six, &found.q[6 * k], rest.data()) < 1e-6;
  EXPECT_TRUE(own);
}

TEST(AllSolutions, RefuseWhatTheyCannotSolve) {
  EXPECT_THROW((void)AllSolutions(io::read_robot(test::source_folder() + "/data/robots/iiwa14.urdf")), Error);
  EXPECT_THROW((void)AllSolutions(ur10e(), ToolTask::kPointAxis), Error);
  EXPECT_THROW(
      (void)AllSolutions(
          arm("gantry", {{0, kHalf, 0}, {0, kHalf, 0}, {0, 0, 0}, {0, kHalf, 0}, {0, kHalf, 0}, {0, 0, 0}}, {0, 1, 2})),
      Error);
  const AllSolutions solver(random_arm(1));
  EXPECT_THROW((void)solver.solve(Array(15, 0.0)), Error);
  EXPECT_THROW((void)solver.solve(Array(16, 0.0)), Error);
}

/// Stretched and folded elbows, shoulders over the base and aligned wrists: roots meet, and candidates are equal.
TEST(AllSolutions, AreDistinctWhereRootsMeet) {
  for (const Robot& robot : {puma(), ur10e(), irb2400()}) {
    std::mt19937_64 random(11);
    Array q(6 * 400);
    for (double& x : q) x = kHalf / 2 * std::round(std::uniform_real_distribution<double>(-4, 4)(random));
    const Array pose = to_poses(robot, q);
    const AllSolutionsResult found = AllSolutions(robot).solve(pose, {.limits = false, .proofs = false});
    std::int64_t fewer = 0;
    for (std::size_t n = 0; n < 400; ++n) {
      fewer += found.first[n + 1] - found.first[n] < 8;
      for (std::int64_t k = found.first[n]; k < found.first[n + 1]; ++k)
        for (std::int64_t other = found.first[n]; other < k; ++other)
          EXPECT_GT(
              apart(robot, &found.q[6 * static_cast<std::size_t>(k)], &found.q[6 * static_cast<std::size_t>(other)]),
              1e-6)
              << robot.name << " pose " << n;
    }
    EXPECT_GT(fewer, 40) << robot.name;
  }
}

/// Of an arm without slides the radius is a constant over |J^-1|, with lengths over their mean; no other solution is
/// within.
TEST(AllSolutions, RadiiAreInverseToTheInverseJacobian) {
  using Matrix6 = Eigen::Matrix<double, 6, 6, Eigen::RowMajor>;
  for (const Robot& robot : {puma(), ur10e(), random_arm(2)}) {
    const Array pose = to_poses(robot, random_q(robot, 200));
    const AllSolutionsResult found = AllSolutions(robot).solve(pose, {.limits = false});
    const auto count = static_cast<std::int64_t>(found.residual.size());
    const Array jac = evaluate(robot, StateView(count, found.q), Output::kJacobian).jacobian;
    double unit = norm(robot.tool.p) / 7, least = 1e300, most = 0;
    for (const JointForm<double>& j : robot.form) unit += norm(vec3(j.a, j.b, j.d)) / 7;
    for (std::size_t k = 0; k < found.residual.size(); ++k) {
      if (found.unique[k] < 1e-4) continue;  // the rounding of the Jacobian shows
      Matrix6 J = Eigen::Map<const Matrix6>(&jac[36 * k]);
      J.topRows<3>() /= unit;
      const double product = found.unique[k] * J.inverse().norm();
      least = std::min(least, product), most = std::max(most, product);
    }
    EXPECT_GT(least, 0.1 * std::min(1.0, unit)) << robot.name;
    for (std::size_t n = 0; n < 200; ++n)
      for (auto k = static_cast<std::size_t>(found.first[n]); k < static_cast<std::size_t>(found.first[n + 1]); ++k)
        for (auto other = static_cast<std::size_t>(found.first[n]); other < k; ++other)
          EXPECT_GT(std::sqrt(6) * apart(robot, &found.q[6 * k], &found.q[6 * other]),
                    std::max(found.unique[k], found.unique[other]));
    EXPECT_LT(most / least, 1 + 1e-6) << robot.name;
  }
}

void expect_same_bits(const Robot& robot, const AllSolutionsOptions& options) {
  const AllSolutions solver(robot);
  const Array q = random_q(robot, 21);
  for (const std::size_t count : {0, 1, 7, 8, 9, 21}) {
    Array pose = to_poses(robot, Array(q.begin(), q.begin() + static_cast<std::ptrdiff_t>(6 * count)));
    if (count > 3) pose[16 * 3 + 1] = std::nan("");
    const AllSolutionsResult expected = solver.solve(pose, options, test::kReference);
    for (const Device& device : test::other_executors()) {
      const AllSolutionsResult found = solver.solve(pose, options, device);
      EXPECT_EQ(found.first, expected.first);
      EXPECT_EQ(found.q, expected.q);
      EXPECT_EQ(found.residual, expected.residual);
      EXPECT_EQ(found.unique, expected.unique);
      EXPECT_EQ(found.limit_distance, expected.limit_distance);
      EXPECT_EQ(found.complete, expected.complete);
    }
    if (count > 3) {
      EXPECT_EQ(expected.status[3], Status::kInvalidInput);
    }
  }
}
TEST(AllSolutions, EveryExecutorGivesTheSameBits) {
  for (const bool proofs : {true, false}) {
    const AllSolutionsOptions options{.limits = false, .proofs = proofs};
    for (const std::vector<int>& slides : {std::vector<int>{}, {1, 3}, {0, 2, 4}})
      expect_same_bits(random_arm(2, slides), options);
    for (const Robot& robot :
         {puma(), ur10e(), random_wrist(1, false), random_wrist(2, false, {2}), random_wrist(5, true, {3})})
      expect_same_bits(robot, options);
  }
  Robot narrow = ur10e();
  for (Joint& j : narrow.joint) j.lower = -2, j.upper = 2.5;
  expect_same_bits(narrow, {});
}

}  // namespace
}  // namespace garra::chain
