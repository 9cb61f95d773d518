// Paths of the tool: branches keep to the path, their bounds hold at samples that the check has not seen, and a path
// through a singularity is not said to pass it.
#include <gtest/gtest.h>

#include <cmath>

#include "garra/chain_eval.hpp"
#include "garra/chain_generate.hpp"
#include "garra/core/error.hpp"
#include "garra/io/robot.hpp"
#include "garra/math/rotation.hpp"
#include "places.hpp"

namespace garra::chain {
namespace {

using Array = std::vector<double>;

Robot built_in(const std::string& file) { return io::read_robot(test::source_folder() + "/data/robots/" + file); }
Robot puma() { return from_dh({.name = "PUMA 560"}, puma560()); }

Array to_poses(const Robot& robot, const Array& q) {
  return evaluate(robot, StateView(static_cast<std::int64_t>(q.size()) / robot.joints, q), Output::kPose).pose;
}

TEST(ArmPath, EveryBranchKeepsToTheStraightPath) {
  const Robot robot = built_in("ur5.toml");
  // A turn about z by 0.6 rad with a shift: the orientation in between is known.
  Array ends = to_poses(robot, {0.3, -1.2, 1.4, -0.7, 1.1, 0.2});
  const double c = std::cos(0.6), s = std::sin(0.6);
  Array last = ends;
  for (std::size_t k = 0; k < 3; ++k) {
    last[k] = c * ends[k] - s * ends[4 + k];
    last[4 + k] = s * ends[k] + c * ends[4 + k];
  }
  last[3] += 0.1, last[7] -= 0.05, last[11] += 0.1;
  ends.insert(ends.end(), last.begin(), last.end());
  const PathCheck found = AllSolutions(robot).check_path({.pose = ends});
  int passing = 0;
  for (const PathBranch& branch : found.branch) {
    passing += branch.passes() ? 1 : 0;
    const Array pose = to_poses(robot, branch.q);
    for (std::size_t k = 0; k < branch.sigma.size(); ++k) {
      const double u = found.s[static_cast<std::size_t>(branch.first) + k];
      for (std::size_t r = 0; r < 3; ++r)
        EXPECT_NEAR(pose[16 * k + 4 * r + 3], (1 - u) * ends[4 * r + 3] + u * last[4 * r + 3], 1e-9);
      for (std::size_t col = 0; col < 3; ++col)
        EXPECT_NEAR(pose[16 * k + col], std::cos(0.6 * u) * ends[col] - std::sin(0.6 * u) * ends[4 + col], 1e-9);
      EXPECT_GE(branch.sigma[k], branch.sigma_bound);
      for (std::size_t i = 0; k > 0 && i < 6; ++i)
        EXPECT_LT(std::abs(branch.q[6 * k + i] - branch.q[6 * (k - 1) + i]), 0.5);
    }
  }
  EXPECT_EQ(passing, 8);
  ASSERT_GE(found.best, 0);
  EXPECT_TRUE(found.undecided.empty());
  // The bound of the best branch holds at 5000 samples of its own.
  const PathBranch& best = found.branch[static_cast<std::size_t>(found.best)];
  const Array q0(best.q.begin(), best.q.begin() + 6);
  const PathCheck dense = AllSolutions(robot).check_path({.pose = ends}, {.samples = 5000, .q0 = q0});
  ASSERT_GE(dense.best, 0);
  for (const double sigma : dense.branch[static_cast<std::size_t>(dense.best)].sigma)
    EXPECT_GE(sigma, best.sigma_bound);
  EXPECT_LE(best.limit_bound, dense.branch[static_cast<std::size_t>(dense.best)].limit_distance);
}

/// The wrist turns through its aligned position half way; with the other elbow and shoulder it does not.
TEST(ArmPath, APathThroughAnAlignedWristDoesNotPass) {
  const Robot robot = puma();
  const Array q = {0.2, 0.3, 0.4, 0.5, 0.3, 0.1, 0.2, 0.3, 0.4, 0.5, -0.3, 0.1};
  const Array ends = to_poses(robot, q);
  const PathCheck found = AllSolutions(robot).check_path({.pose = ends});
  int passing = 0, own = 0;
  for (const PathBranch& branch : found.branch) {
    passing += branch.passes() ? 1 : 0;
    bool starts_here = branch.first == 0;
    for (std::size_t i = 0; i < 6; ++i)
      starts_here = starts_here && std::abs(std::remainder(branch.q[i] - q[i], 2 * M_PI)) < 1e-6;
    if (!starts_here) continue;
    ++own;
    EXPECT_EQ(branch.end, BranchEnd::kSingular);
    EXPECT_NEAR(found.s[branch.sigma.size() - 1], 0.5, 0.06);  // where sigma is near_singular
    EXPECT_NEAR(branch.sigma.back(), 0.02, 1e-3);
  }
  EXPECT_EQ(own, 1);
  EXPECT_EQ(passing, 6);
  EXPECT_EQ(found.branch.size(), 10u);  // two end at the singularity, and two begin behind it
  bool covered = false;
  for (std::size_t k = 0; k < found.undecided.size(); k += 2)
    covered = covered || (found.undecided[k] <= 0.5 && 0.5 <= found.undecided[k + 1]);
  EXPECT_TRUE(covered);
}

/// Singular solutions are one undecided interval, neither thousands of samples nor branches.
TEST(ArmPath, OfAWristThatStaysAlignedHasTheOtherBranches) {
  const Array ends = to_poses(puma(), {0.2, 0.3, 0.4, 0.5, 0, 0.1, 0.4, 0.4, 0.5, 0.5, 0, 0.1});
  for (const double near : {0.02, 1e-3, 1e-6}) {
    const PathCheck found = AllSolutions(puma()).check_path({.pose = ends}, {.near_singular = near});
    int passing = 0;
    for (const PathBranch& branch : found.branch) passing += branch.passes() ? 1 : 0;
    EXPECT_EQ(passing, 6) << near;
    EXPECT_LT(found.s.size(), 10000u) << near;
    EXPECT_LT(found.branch.size(), 20u) << near;
  }
}

TEST(ArmPath, LeavingTheWorkspaceEndsEveryBranch) {
  const Robot robot = puma();
  Array ends = to_poses(robot, {0.2, 0.3, 0.4, 0.5, 0.8, 0.1});
  ends.insert(ends.end(), ends.begin(), ends.begin() + 16);
  ends[16 + 3] += 3;
  const PathCheck found = AllSolutions(robot).check_path({.pose = ends});
  EXPECT_EQ(found.best, -1);
  for (const PathBranch& branch : found.branch) EXPECT_FALSE(branch.passes());
}

TEST(ArmPath, ComparesSpeedsWithLimits) {
  const Robot robot = built_in("ur5.toml");
  const Array q = {0.3, -1.2, 1.4, -0.7, 1.1, 0.2, 0.5, -1.2, 1.4, -0.7, 1.1, 0.2}, ends = to_poses(robot, q);
  const Array slow = {0, 10}, fast = {0, 0.01}, q0(q.begin(), q.begin() + 6);
  const AllSolutions solver(robot);
  const PathCheck easy = solver.check_path({.kind = ToolPath::Kind::kScrew, .pose = ends, .time = slow}, {.q0 = q0});
  ASSERT_GE(easy.best, 0);
  // A screw about the first axis: joint 0 alone turns, by 0.2 rad in 10 s.
  const PathBranch& best = easy.branch[static_cast<std::size_t>(easy.best)];
  EXPECT_NEAR(best.speed_share, 0.02 / robot.joint[0].velocity_limit, 1e-6);
  for (std::size_t k = 0; k < best.sigma.size(); ++k) EXPECT_NEAR(best.q[6 * k], 0.3 + 0.2 * easy.s[k], 1e-8);
  EXPECT_EQ(solver.check_path({.kind = ToolPath::Kind::kScrew, .pose = ends, .time = fast}).best, -1);
}

/// Without bisections there is no proof: branches continue to the next solution, and the intervals are named.
TEST(ArmPath, SaysWhereABranchContinuesWithoutProof) {
  const Robot robot = built_in("ur5.toml");
  const Array q = {0.3, -1.2, 1.4, -0.7, 1.1, 0.2, 0.5, -1.2, 1.4, -0.7, 1.1, 0.2}, ends = to_poses(robot, q);
  const Array q0(q.begin(), q.begin() + 6);
  const PathCheck found = AllSolutions(robot).check_path({.kind = ToolPath::Kind::kScrew, .pose = ends},
                                                         {.samples = 6, .refinements = 0, .q0 = q0});
  ASSERT_GE(found.best, 0);
  const PathBranch& best = found.branch[static_cast<std::size_t>(found.best)];
  EXPECT_TRUE(best.passes());
  EXPECT_EQ(best.sigma_bound, 0);
  EXPECT_TRUE(std::isinf(best.limit_bound));
  EXPECT_EQ(found.undecided, Array({0, 1}));
  for (std::size_t k = 0; k < best.sigma.size(); ++k) EXPECT_NEAR(best.q[6 * k], 0.3 + 0.2 * found.s[k], 1e-8);
}

TEST(ArmPath, RefusesWhatIsNoPath) {
  const AllSolutions solver(puma());
  const Array one = to_poses(puma(), {0.2, 0.3, 0.4, 0.5, 0.8, 0.1});
  Array two = one;
  two.insert(two.end(), one.begin(), one.end());
  const Array times = {1, 1};
  EXPECT_THROW((void)solver.check_path({.pose = one}), Error);
  EXPECT_THROW((void)solver.check_path({.pose = two, .time = times}), Error);
  EXPECT_THROW((void)solver.check_path({.pose = two}, {.samples = 1}), Error);
  two[3] = std::nan("");
  EXPECT_THROW((void)solver.check_path({.pose = two}), Error);
}

}  // namespace
}  // namespace garra::chain
