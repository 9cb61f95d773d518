// Joint speeds that a motion of the tool takes, against the joints' speed limits.
#include <algorithm>
#include <cmath>

#include "garra/core/philox.hpp"
#include "garra/math/screw_algebra.hpp"
#include "singularity/exact/parts.hpp"

namespace garra::singularity {

namespace {

constexpr double kTolerance = 1e-10;  ///< singular values up to this part of the largest are zero
constexpr std::uint64_t kSeed = 1;    // fixed: the same answer in every call

/// The tool point's Jacobian, its linear rows divided by L. Without turns: these three rows only.
Matrix tool_jacobian(const chain::Robot& robot, const std::vector<double>& q, bool turns, double length) {
  const Vec3<double> tool = tool_point(robot, q);
  Matrix J(turns ? 6 : 3, static_cast<Eigen::Index>(q.size()));
  for (Eigen::Index j = 0; const Screw<double>& screw : make_screws(robot, q).screw) {
    const Screw<double> s = about(tool, screw);
    for (int r = 0; r < J.rows(); ++r) J(r, j) = r < 3 ? s.v[r] / length : s.w[r - 3];
    ++j;
  }
  return J;
}

/// Speed limits of the coordinates.
std::vector<double> speed_limits(const chain::Robot& robot) {
  std::vector<double> out;
  for (const int i : chain::coordinates(robot)) out.push_back(chain::coordinate_limits(robot, i).velocity_limit);
  return out;
}

/// Joint speeds count in units of their limits if all joints have one.
std::vector<double> units(const chain::Robot& robot) {
  std::vector<double> out = speed_limits(robot);
  if (!std::all_of(out.begin(), out.end(), [](double x) { return std::isfinite(x) && x > 0; }))
    std::fill(out.begin(), out.end(), 1.0);
  return out;
}

/// Largest rank of the three linear rows, at five random configurations.
int generic_directions(const chain::Robot& robot) {
  int most = 0;
  for (std::uint64_t k = 0; k < 5; ++k) {
    std::vector<double> q(chain::coordinates(robot).size() + 1);
    for (std::size_t j = 0; j + 1 < q.size(); j += 2)
      uniform_pair<double>(kSeed, SampleIndex<double>::consecutive(k), static_cast<std::uint32_t>(j), q[j], q[j + 1]);
    q.pop_back();
    for (double& x : q) x = 2 * M_PI * x - M_PI;
    most = std::max(most, numerical_rank(tool_jacobian(robot, q, false, 1), kTolerance));
  }
  return most;
}

}  // namespace

ToolSpeed tool_speed(const chain::Robot& robot, const std::vector<double>& q) {
  const ScrewSet screws = make_screws(robot, q);
  const double length = natural_scaling(screws).length;
  ToolSpeed out;
  out.orientation_kept = generic_rank(screws) == 6;
  const std::vector<double> unit = units(robot), limits = speed_limits(robot);
  Matrix J = tool_jacobian(robot, q, out.orientation_kept, length);
  out.directions = out.orientation_kept ? 3 : generic_directions(robot);
  if (numerical_rank(J, kTolerance) < (out.orientation_kept ? 6 : out.directions) || out.directions == 0) return out;
  for (Eigen::Index j = 0; j < J.cols(); ++j) J.col(j) *= unit[static_cast<std::size_t>(j)];
  out.possible = true;
  std::vector<Vec3<double>> per_speed(q.size(), Vec3<double>::zero());  // of joint j: rate = per_speed . v
  for (int k = 0; k < 3; ++k) {
    Eigen::VectorXd v = Eigen::VectorXd::Zero(J.rows());
    v[k] = 1 / length;
    const Eigen::VectorXd rates = least_solution(J, v, kTolerance);
    for (std::size_t j = 0; j < q.size(); ++j) per_speed[j][k] = unit[j] * rates[static_cast<Eigen::Index>(j)];
  }
  double worst = -1;
  for (std::size_t j = 0; j < q.size(); ++j) {
    const double speed = norm(per_speed[j]), limit = limits[j];
    out.joint_speed.push_back(speed);
    out.direction.push_back(speed > 0 ? (1 / speed) * per_speed[j] : Vec3<double>::zero());
    if (std::isfinite(limit) && speed > 0) out.speed = std::min(out.speed, limit / speed);
  }
  // The joint that reaches its limit first; without limits the fastest.
  for (std::size_t j = 0; j < q.size(); ++j) {
    const double limit = limits[j];
    const double use = std::isinf(out.speed)  ? out.joint_speed[j]
                       : std::isfinite(limit) ? out.joint_speed[j] / limit
                                              : -1;
    if (use > worst) worst = use, out.joint = static_cast<int>(j);
  }
  return out;
}

}  // namespace garra::singularity
