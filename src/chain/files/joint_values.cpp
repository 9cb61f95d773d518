// Joint values far outside their limits, in words.
#include "garra/io/joint_values.hpp"

#include <cmath>
#include <cstdio>

namespace garra::io {

namespace {

constexpr double kFar = 1, kTurns = 4 * M_PI;  ///< beyond limits, and without limits [rad]

/// By how much q is outside of its limits.
double outside(const chain::Joint& joint, double q) { return std::fmax(joint.lower - q, q - joint.upper); }

bool is_far(const chain::Joint& joint, double q) {
  if (!std::isfinite(joint.lower) || !std::isfinite(joint.upper)) return !joint.prismatic && std::abs(q) > kTurns;
  return outside(joint, q) > (joint.prismatic ? joint.upper - joint.lower : kFar);
}

std::string sentence(const chain::Joint& joint, std::size_t i, double q, bool has_unit) {
  char text[160];
  const char* unit = joint.prismatic ? "m" : "rad";
  std::snprintf(text, sizeof text, " is at %.6g %s, far outside its limits ", q, unit);
  std::string out = "joint " + std::to_string(i) + (joint.name.empty() ? "" : " (" + joint.name + ")") + text;
  std::snprintf(text, sizeof text, "%.6g to %.6g %s", joint.lower, joint.upper, unit);
  out += std::isfinite(joint.lower + joint.upper) ? text : "of two turns";
  const double meant = q * (joint.prismatic ? 1e-3 : M_PI / 180);
  if (has_unit || is_far(joint, meant)) return out;
  std::snprintf(text, sizeof text, ". Without a unit it is in %s: %.6g %s would be %.6g %s",
                joint.prismatic ? "meters" : "radians", q, joint.prismatic ? "mm" : "deg", meant, unit);
  return out + text;
}

}  // namespace

std::vector<std::string> far_outside_limits(const chain::Robot& robot, const std::vector<double>& q,
                                            const std::vector<bool>& has_unit) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < q.size() && i < robot.joint.size(); ++i)
    if (is_far(robot.joint[i], q[i]))
      out.push_back(sentence(robot.joint[i], i, q[i], i < has_unit.size() && has_unit[i]));
  return out;
}

}  // namespace garra::io
