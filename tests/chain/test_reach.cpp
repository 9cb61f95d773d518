// Inverse kinematics of any chain: published arms and those of data/ reach what forward kinematics says, wrists that
// are aligned to a few digits too, and what is out of reach is said to be so.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "garra/chain_eval.hpp"
#include "garra/core/error.hpp"
#include "garra/io/robot.hpp"
#include "garra/math/rotation.hpp"
#include "places.hpp"

namespace garra::chain {
namespace {

using Array = std::vector<double>;

constexpr double kTolerance = 1e-10;  // of a pose: InverseKinematicsOptions::tolerance
constexpr double kDegree = M_PI / 180, kHalf = M_PI / 2;

struct Row {
  double a, alpha, d, theta, lower, upper;
};
/// Rows of the makers' or, where said, of other published tables; limits in rad, of a slide in m.
Robot arm(const std::string& name, bool modified, const std::vector<Row>& rows, int slide = -1) {
  std::vector<DhJoint> joints;
  for (const Row& r : rows) {
    DhJoint j{r.a, r.d, r.alpha, r.theta, {}};
    j.link.joint.lower = r.lower;
    j.link.joint.upper = r.upper;
    j.link.joint.prismatic = static_cast<int>(joints.size()) == slide;
    joints.push_back(j);
  }
  const RobotData data{.name = name};
  return modified ? from_modified_dh(data, joints) : from_dh(data, joints);
}

Robot universal(const std::string& name, double d1, double a2, double a3, double d4, double d5, double d6) {
  constexpr double kTurn = 2 * M_PI;
  return arm(name, false,
             {{0, kHalf, d1, 0, -kTurn, kTurn},
              {a2, 0, 0, 0, -kTurn, kTurn},
              {a3, 0, 0, 0, -kTurn, kTurn},
              {0, kHalf, d4, 0, -kTurn, kTurn},
              {0, -kHalf, d5, 0, -kTurn, kTurn},
              {0, 0, d6, 0, -kTurn, kTurn}});
}
Robot iiwa(const std::string& name, double d1, double d3, double d5, double d7) {
  const double l = 170 * kDegree, s = 120 * kDegree;
  return arm(name, false,
             {{0, -kHalf, d1, 0, -l, l},
              {0, kHalf, 0, 0, -s, s},
              {0, kHalf, d3, 0, -l, l},
              {0, -kHalf, 0, 0, -s, s},
              {0, -kHalf, d5, 0, -l, l},
              {0, kHalf, 0, 0, -s, s},
              {0, 0, d7, 0, -175 * kDegree, 175 * kDegree}});
}
Robot aligned_wrist(bool with_slide) {
  const auto deg = [](double x) { return x * kDegree; };
  std::vector<Row> rows = {{0, -kHalf, 0.4, 0, deg(-170), deg(170)}, {0.5, 0, 0, 0, deg(-120), deg(30)},
                           {0, -kHalf, 0, 0, deg(10), deg(150)},     {0, kHalf, 0.45, 0, deg(-180), deg(180)},
                           {0, -kHalf, 0, 0, deg(-100), deg(100)},   {0, 0, 0.1, 0, deg(-180), deg(180)}};
  if (with_slide) rows.push_back({0, 0, 0, 0, 0, 0.05});
  return arm("spherical wrist", false, rows, with_slide ? 6 : -1);
}

std::vector<Robot> published_arms() {
  const double turn = 2 * M_PI;
  const auto deg = [](double x) { return x * kDegree; };
  return {
      universal("UR5e", 0.1625, -0.425, -0.3922, 0.1333, 0.0997, 0.0996),
      universal("UR10e", 0.1807, -0.6127, -0.57155, 0.17415, 0.11985, 0.11655),
      arm("Panda", true,
          {{0, 0, 0.333, 0, -2.8973, 2.8973},
           {0, -kHalf, 0, 0, -1.7628, 1.7628},
           {0, kHalf, 0.316, 0, -2.8973, 2.8973},
           {0.0825, kHalf, 0, 0, -3.0718, -0.0698},
           {-0.0825, -kHalf, 0.384, 0, -2.8973, 2.8973},
           {0, kHalf, 0, 0, -0.0175, 3.7525},
           {0.088, kHalf, 0.107, 0, -2.8973, 2.8973}}),
      iiwa("iiwa 7", 0.34, 0.4, 0.4, 0.126),
      iiwa("iiwa 14", 0.36, 0.42, 0.4, 0.126),
      arm("xArm 6", true,
          {{0, 0, 0.267, 0, -turn, turn},
           {0, -kHalf, 0, -1.3849179, -2.059, 2.0944},
           {0.28948866, 0, 0, 1.3849179, -3.927, 0.19198},
           {0.0775, -kHalf, 0.3425, 0, -turn, turn},
           {0, kHalf, 0, 0, -1.69297, M_PI},
           {0.076, -kHalf, 0.097, 0, -turn, turn}}),
      arm("xArm 7", true,
          {{0, 0, 0.267, 0, -turn, turn},
           {0, -kHalf, 0, 0, -2.059, 2.0944},
           {0, kHalf, 0.293, 0, -turn, turn},
           {0.0525, kHalf, 0, 0, -0.19198, 3.927},
           {0.0775, kHalf, 0.3425, 0, -turn, turn},
           {0, kHalf, 0, 0, -1.69297, M_PI},
           {0.076, -kHalf, 0.097, 0, -turn, turn}}),
      arm("Kinova Gen3", false,
          {{0, kHalf, -0.2848, 0, -turn, turn},
           {0, kHalf, -0.0118, M_PI, deg(-128.9), deg(128.9)},
           {0, kHalf, -0.4208, M_PI, -turn, turn},
           {0, kHalf, -0.0128, M_PI, deg(-147.8), deg(147.8)},
           {0, kHalf, -0.3143, M_PI, -turn, turn},
           {0, kHalf, 0, M_PI, deg(-120.3), deg(120.3)},
           {0, M_PI, -0.1674, M_PI, -turn, turn}}),
      // Corke's table, limits of Fu, Gonzalez, Lee (1987).
      arm("PUMA 560", false,
          {{0, kHalf, 0, 0, deg(-160), deg(160)},
           {0.4318, 0, 0, 0, deg(-45), deg(225)},
           {0.0203, -kHalf, 0.15005, 0, deg(-225), deg(45)},
           {0, kHalf, 0.4318, 0, deg(-110), deg(170)},
           {0, -kHalf, 0, 0, deg(-100), deg(100)},
           {0, 0, 0, 0, deg(-266), deg(266)}}),
      arm("Stanford", false,
          {{0, -kHalf, 0.412, 0, deg(-170), deg(170)},
           {0, kHalf, 0.154, 0, deg(-170), deg(170)},
           {0, 0, 0, -kHalf, 0.3048, 1.27},
           {0, -kHalf, 0, 0, deg(-170), deg(170)},
           {0, kHalf, 0, 0, deg(-90), deg(90)},
           {0, 0, 0.263, 0, deg(-170), deg(170)}},
          2),
      aligned_wrist(true),
  };
}

Array to_poses(const Robot& robot, const Array& q) {
  const auto count = static_cast<std::int64_t>(q.size()) / robot.joints;
  return evaluate(robot, StateView(count, q), Output::kPose).pose;
}

/// How many of random poses of the arm have no answer; answers are within the limits and lead to the pose.
int unreached(const Robot& robot, int count) {
  std::mt19937_64 random(11);
  Array q;
  for (int i = 0; i < count; ++i)
    for (const Joint& j : robot.joint) {
      const double low = std::isfinite(j.lower) ? j.lower : -M_PI, high = std::isfinite(j.upper) ? j.upper : M_PI;
      q.push_back(std::uniform_real_distribution<double>(low, high)(random));
    }
  const Array pose = to_poses(robot, q);
  const InverseKinematics found = inverse_kinematics(robot, pose, {});
  const Array there = to_poses(robot, found.q);
  int missed = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    if (found.success[i] == 0) {
      ++missed;
      continue;
    }
    for (std::size_t k = 0; k < 16; ++k) EXPECT_NEAR(there[16 * i + k], pose[16 * i + k], 2 * kTolerance) << robot.name;
    for (std::size_t j = 0; j < robot.joint.size(); ++j) {
      EXPECT_GE(found.q[robot.joint.size() * i + j], robot.joint[j].lower) << robot.name;
      EXPECT_LE(found.q[robot.joint.size() * i + j], robot.joint[j].upper) << robot.name;
    }
  }
  return missed;
}

TEST(Reach, PublishedArmsReachTheirPoses) {
  constexpr int kPoses = 1000;
  for (const Robot& robot : published_arms()) EXPECT_LE(unreached(robot, kPoses), kPoses / 1000) << robot.name;
}

TEST(Reach, ArmsOfDataReachTheirPoses) {
  for (const char* file :
       {"puma560.toml", "iiwa14.urdf", "stanford.toml", "ur5.toml", "scara.toml", "exoskeleton.toml"})
    EXPECT_LE(unreached(io::read_robot(test::source_folder() + "/data/robots/" + file), 1000), 1) << file;
}

/// Poses whose wrist is aligned, turned and moved by what is left of so many digits.
TEST(Reach, AlignedWristsOfAnyDigitsAreReached) {
  const Robot robot = aligned_wrist(false);
  const Array home = to_poses(robot, {0.4, -0.7, 0.9, 0.2, 0, 0.1});
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> any(-1, 1);
  for (int digits = 3; digits <= 16; ++digits) {
    Array pose;
    const double size = std::pow(10.0, -digits);
    for (int i = 0; i < 50; ++i) {
      const Mat3<double> R = rotation_from_rpy({{size * any(random), size * any(random), size * any(random)}});
      for (int r = 0; r < 4; ++r)
        for (int c = 0; c < 4; ++c) {
          double x = home[static_cast<std::size_t>(4 * r + c)] + (r < 3 && c == 3 ? size * any(random) : 0);
          if (r < 3 && c < 3) {
            x = 0;
            for (int k = 0; k < 3; ++k) x += R(r, k) * home[static_cast<std::size_t>(4 * k + c)];
          }
          pose.push_back(x);
        }
    }
    const InverseKinematics found = inverse_kinematics(robot, pose, {});
    const auto reached = std::count(found.success.begin(), found.success.end(), 1);
    EXPECT_EQ(reached, 50) << digits << " digits";
  }
}

/// A plane arm of two links of 1 m whose target is 0.5 m beyond: the nearest pose is the stretched arm.
TEST(Reach, SaysHowFarTheNearestPoseIs) {
  const Robot robot = arm("two links", false, {{1, 0, 0, 0, -3, 3}, {1, 0, 0, 0, -3, 3}});
  const Array beyond = {1, 0, 0, 2.5, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
  const InverseKinematics found = inverse_kinematics(robot, beyond, {});
  EXPECT_EQ(found.success[0], 0);
  EXPECT_NEAR(found.position_error[0], 0.5, 1e-3);
  EXPECT_NEAR(found.rotation_error[0], 0, 1e-2);
}

TEST(Reach, StartsNearAnAnswerStayThere) {
  const Robot robot = published_arms()[0];
  const Array q = {3.5, -1.5, 1.2, -4.0, 1.3, 5.9};
  const InverseKinematics found = inverse_kinematics(robot, to_poses(robot, q), q);
  for (std::size_t j = 0; j < q.size(); ++j) EXPECT_NEAR(found.q[j], q[j], 1e-9);
  EXPECT_EQ(found.success[0], 1);
}

TEST(Reach, RefusesWhatIsNoRotationAndPassesOverNaN) {
  const Robot robot = aligned_wrist(false);
  Array pose = to_poses(robot, {0.4, -0.7, 0.9, 0.2, 0.5, 0.1});
  Array twice = pose;
  twice.insert(twice.end(), pose.begin(), pose.end());
  twice[3] = std::nan("");
  const InverseKinematics found = inverse_kinematics(robot, twice, {});
  EXPECT_TRUE(found.success[0] == 0 && found.success[1] == 1);
  EXPECT_TRUE(std::isnan(found.q[0]) && std::isinf(found.position_error[0]));
  for (const int k : {0, 5, 12}) {
    Array bad = pose;
    bad[static_cast<std::size_t>(k)] = 2;
    try {
      static_cast<void>(inverse_kinematics(robot, bad, {}));
      ADD_FAILURE() << k;
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find("pose 0: its matrix is no rotation"), std::string::npos) << e.what();
    }
  }
}

}  // namespace
}  // namespace garra::chain
