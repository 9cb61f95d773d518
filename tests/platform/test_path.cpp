// Paths of a platform: their motion against differences of their poses, and what happens at their ends.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "garra/platform_study.hpp"

namespace {

using garra::Error;
using garra::Mat3;
using garra::Vec3;
using namespace garra::platform;

constexpr double kRounding = 1e-12;
/// Central differences over 1 / 20000 of a second of motions of about 1 m/s: h^2 / 6 times the third derivative.
constexpr double kDifference = 2e-6;

Path two_poses(Path::Kind kind, Path::Law law) {
  Path path;
  path.kind = kind;
  path.law = law;
  path.duration = 1;
  path.instants = 20001;
  const double half = M_PI / 8;  // 45 deg about (0.6, 0, 0.8)
  path.pose.position = {0.1, -0.2, 1.15, 0.3, 0.1, 1.55};
  path.pose.quaternion = {1, 0, 0, 0, std::cos(half), 0.6 * std::sin(half), 0, 0.8 * std::sin(half)};
  return path;
}

Path four_poses(Path::Kind kind, Path::Law law) {
  Path path = two_poses(kind, law);
  path.pose.position = {0, 0, 1.2, 0.2, 0.1, 1.3, 0.1, -0.2, 1.5, -0.1, 0, 1.4};
  path.pose.quaternion = {1, 0, 0, 0, 0.98, 0.1, 0, 0.1, 2, 0, 0.5, 0, -0.9, 0.1, 0.2, 0.3};
  path.time = {0.5, 0.7, 1.2, 1.5};
  return path;
}

Mat3<double> rotation_at(const PathPoints& x, std::size_t k) {
  const double* p = x.pose.quaternion.data() + 4 * k;
  return rotation_matrix<double>({{p[0], p[1], p[2], p[3]}});
}

/// The largest difference of velocities and accelerations from central differences, away from jumps of the law.
void expect_motion_of_poses(const Path& path) {
  const PathPoints x = sample_path(path);
  const double h = x.time[1] - x.time[0];
  for (std::size_t k = 101; k + 1 < x.time.size(); k += 997) {
    const Mat3<double> dR = rotation_at(x, k + 1) - rotation_at(x, k - 1);
    const Mat3<double> spin = dR * transpose(rotation_at(x, k));
    const double w[3] = {spin(2, 1) - spin(1, 2), spin(0, 2) - spin(2, 0), spin(1, 0) - spin(0, 1)};
    for (std::size_t c = 0; c < 3; ++c) {
      const double v = (x.pose.position[3 * (k + 1) + c] - x.pose.position[3 * (k - 1) + c]) / (2 * h);
      EXPECT_NEAR(x.velocity[6 * k + c], v, kDifference) << "instant " << k;
      EXPECT_NEAR(x.velocity[6 * k + 3 + c], w[c] / (4 * h), kDifference) << "instant " << k;
    }
    for (std::size_t c = 0; c < 6; ++c) {
      const double a = (x.velocity[6 * (k + 1) + c] - x.velocity[6 * (k - 1) + c]) / (2 * h);
      EXPECT_NEAR(x.acceleration[6 * k + c], a, 50 * kDifference) << "instant " << k;
    }
  }
}

TEST(PlatformPath, MovesAsItsPosesDo) {
  for (const auto law : {Path::Law::kQuintic, Path::Law::kTrapezoid, Path::Law::kUniform}) {
    expect_motion_of_poses(two_poses(Path::Kind::kStraight, law));
    expect_motion_of_poses(two_poses(Path::Kind::kScrew, law));
    expect_motion_of_poses(four_poses(Path::Kind::kSpline, law));
    expect_motion_of_poses(four_poses(Path::Kind::kSampled, law));
  }
}

TEST(PlatformPath, GoesFromTheFirstToTheLastPose) {
  for (const auto kind : {Path::Kind::kStraight, Path::Kind::kScrew, Path::Kind::kSpline}) {
    const Path path =
        kind == Path::Kind::kSpline ? four_poses(kind, Path::Law::kQuintic) : two_poses(kind, Path::Law::kQuintic);
    const PathPoints x = sample_path(path);
    const std::size_t last = x.time.size() - 1, poses = path.pose.position.size() / 3;
    const double* q = path.pose.quaternion.data() + 4 * (poses - 1);
    const Mat3<double> want = rotation_matrix(normalized<double>({{q[0], q[1], q[2], q[3]}}));
    for (std::size_t c = 0; c < 3; ++c) {
      EXPECT_NEAR(x.pose.position[c], path.pose.position[c], kRounding);
      EXPECT_NEAR(x.pose.position[3 * last + c], path.pose.position[3 * (poses - 1) + c], kRounding);
    }
    for (int k = 0; k < 9; ++k) EXPECT_NEAR(rotation_at(x, last)[k], want[k], kRounding);
    EXPECT_DOUBLE_EQ(x.time.back(), path.duration);
  }
}

TEST(PlatformPath, IsAtRestAtBothEndsOfAQuinticLaw) {
  for (const auto kind : {Path::Kind::kStraight, Path::Kind::kScrew, Path::Kind::kSpline}) {
    Path path = four_poses(kind, Path::Law::kQuintic);
    path.instants = 11;
    const PathPoints x = sample_path(path);
    for (std::size_t c = 0; c < 6; ++c) {
      for (const std::size_t k : {std::size_t{0}, std::size_t{10}}) {
        EXPECT_NEAR(x.velocity[6 * k + c], 0, kRounding);
        EXPECT_NEAR(x.acceleration[6 * k + c], 0, kRounding);
      }
    }
  }
}

TEST(PlatformPath, PassesSampledPosesAtTheirTimes) {
  Path path = four_poses(Path::Kind::kSampled, Path::Law::kQuintic);
  path.instants = 11;  // every 0.1 s from 0.5 s on: poses at instants 0, 2, 7, 10
  const PathPoints x = sample_path(path);
  const std::size_t at[] = {0, 2, 7, 10};
  for (std::size_t k = 0; k < 4; ++k)
    for (std::size_t c = 0; c < 3; ++c)
      EXPECT_NEAR(x.pose.position[3 * at[k] + c], path.pose.position[3 * k + c], kRounding);
}

TEST(PlatformPath, KeepsItsAxisAndPitchOnAScrew) {
  Path path = two_poses(Path::Kind::kScrew, Path::Law::kUniform);
  path.instants = 9;
  const PathPoints x = sample_path(path);
  for (std::size_t k = 0; k < 9; ++k) {
    const double *t = x.velocity.data() + 6 * k, *first = x.velocity.data();
    for (std::size_t c = 3; c < 6; ++c) EXPECT_NEAR(t[c], first[c], kRounding);
    // A point of the axis keeps its velocity: v + w x (q - r) with q fixed, here the first instant's C.
    const Vec3<double> w{{t[3], t[4], t[5]}};
    Vec3<double> to_first;
    for (int c = 0; c < 3; ++c)
      to_first[c] = x.pose.position[static_cast<std::size_t>(c)] - x.pose.position[3 * k + static_cast<std::size_t>(c)];
    const Vec3<double> there = garra::cross(w, to_first);
    for (int c = 0; c < 3; ++c) EXPECT_NEAR(t[c] + there[c], first[c], kRounding);
  }
}

TEST(PlatformPath, SaysWhatIsWrongWithIt) {
  const auto refused = [](const char* part, const auto& spoil) {
    Path path = four_poses(Path::Kind::kSampled, Path::Law::kUniform);
    spoil(path);
    try {
      static_cast<void>(sample_path(path));
      ADD_FAILURE() << "accepted: " << part;
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
    }
  };
  refused("two poses", [](Path& p) { p.pose = {{0, 0, 1}, {1, 0, 0, 0}}; });
  refused("not of the same number", [](Path& p) { p.pose.quaternion.pop_back(); });
  refused("not finite", [](Path& p) { p.pose.position[4] = NAN; });
  refused("pose 1 is zero", [](Path& p) { std::fill_n(p.pose.quaternion.begin() + 4, 4, 0.0); });
  refused("two instants", [](Path& p) { p.instants = 1; });
  refused("duration", [](Path& p) { p.kind = Path::Kind::kSpline, p.duration = 0; });
  refused("ascend", [](Path& p) { p.time[2] = p.time[1]; });
  refused("time for each", [](Path& p) { p.time.pop_back(); });
}

}  // namespace
