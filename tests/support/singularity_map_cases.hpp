// Arms and maps that several tests of singularity maps share.
#pragma once

#include <cstring>
#include <random>

#include "garra/io/robot.hpp"
#include "places.hpp"
#include "singularity/map/layout.hpp"
#include "singularity_cases.hpp"

namespace garra::singularity::map_test {

inline const Device kScalarDevice{Executor::kScalar, 1, 0};
inline const Device kLanesDevice{Executor::kLanes, 1, 0};

inline chain::Robot robot_file(const std::string& name) {
  return io::read_robot(test::source_folder() + "/data/robots/" + name);
}
inline chain::Robot reference_arm(const std::string& id) { return reference::robot_of(reference::case_of(id)); }

/// From rows of a, d, alpha.
inline chain::Robot arm_of_rows(const std::string& name, const std::vector<std::array<double, 3>>& rows) {
  std::vector<chain::DhJoint> joints;
  for (const auto& r : rows) joints.push_back({r[0], r[1], r[2], 0, {}});
  return chain::from_dh({.name = name}, joints);
}
inline chain::Robot planar_arm(int joints) {
  return arm_of_rows("planar", std::vector<std::array<double, 3>>(static_cast<std::size_t>(joints), {0.4, 0, 0}));
}
/// Five joints: a PUMA without its forearm's roll.
inline chain::Robot five_joint_arm() {
  constexpr double kRight = M_PI / 2;
  return arm_of_rows("five", {{0, 0.4, kRight}, {0.4, 0, 0}, {0.35, 0, 0}, {0, 0, kRight}, {0, 0.1, 0}});
}
/// Nine joints: a PUMA-like arm on a wheel and a lift.
inline chain::Robot nine_joint_arm() {
  constexpr double kRight = M_PI / 2;
  return arm_of_rows("nine", {{0.1, 0.2, kRight},
                              {0, 0.3, -kRight},
                              {0.1, 0.3, kRight},
                              {0.4, 0, 0},
                              {0.02, 0.15, -kRight},
                              {0, 0.4, kRight},
                              {0, 0, -kRight},
                              {0.05, 0.1, kRight},
                              {0, 0.1, 0}});
}

inline std::vector<double> random_configurations(const chain::Robot& robot, int count, unsigned seed = 1) {
  std::mt19937_64 gen(seed);
  std::uniform_real_distribution<double> angle(-M_PI, M_PI);
  std::vector<double> q;
  for (int i = 0; i < count; ++i)
    for (int j = 0; j < robot.joints; ++j)
      q.push_back(angle(gen) * (robot.joint[static_cast<std::size_t>(j)].prismatic ? 0.2 : 1));
  return q;
}

/// All joints uniform over a turn (or +-0.5 m).
inline MapScenario read_scenario_document(const chain::Robot& robot) {
  MapScenario s;
  s.robot = robot;
  for (const auto& joint : robot.joint) {
    const double reach = joint.prismatic ? 0.5 : M_PI;
    s.joint.push_back({JointSource::Kind::kUniform, -reach, reach, 1});
  }
  s.plan.keep = "near";
  s.voxels = 16;
  return s;
}

/// Bit for bit, NaN included.
inline bool same(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}

inline std::vector<double> row(const std::vector<double>& rows, std::size_t i, int joints) {
  const auto n = static_cast<std::ptrdiff_t>(joints), at = static_cast<std::ptrdiff_t>(i) * n;
  return {rows.begin() + at, rows.begin() + at + n};
}

/// Rows with sigma_g <= near sigma_1.
inline std::vector<double> near_rows(const chain::Robot& robot, const std::vector<double>& q, const MeasureOptions& o) {
  const Measures m = measure(robot, q, o, kLanesDevice);
  std::vector<double> out;
  for (std::size_t i = 0; i < m.inverse_condition.size(); ++i) {
    if (!(m.inverse_condition[i] <= o.near)) continue;
    const std::vector<double> one = row(q, i, robot.joints);
    out.insert(out.end(), one.begin(), one.end());
  }
  return out;
}

}  // namespace garra::singularity::map_test
