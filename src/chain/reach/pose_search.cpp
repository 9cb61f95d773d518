// chain::inverse_kinematics: what can be misuse is refused here; searches are started until every pose is reached.
#include <algorithm>
#include <cmath>
#include <limits>

#include "chain/model/tool_poses.hpp"
#include "chain/reach/pose_search_tiles.hpp"
#include "garra/chain_eval.hpp"
#include "garra/core/error.hpp"
#include "garra/core/philox.hpp"

namespace garra::chain {

namespace {

/// Joints without limits: searches start within half a turn (or half a meter) of 0 and go where they like.
constexpr double kAnywhere = 1e4;

std::size_t at(std::int64_t i, int width = 1) { return static_cast<std::size_t>(i) * static_cast<std::size_t>(width); }

/// The searches of one call.
class Searches {
 public:
  Searches(const Robot& robot, std::span<const double> pose, const InverseKinematicsOptions& options,
           const Device& device)
      : robot_(robot),
        followers_(find_followers(robot)),
        options_(options),
        device_(device),
        count_(static_cast<std::int64_t>(pose.size() / 16)) {
    robot_.coupled.clear();  // searches move all joints
    for (int i = 0; i < robot.joints; ++i) {
      const Joint j = joint_range(robot, i);
      low_.push_back(std::isfinite(j.lower) ? j.lower : std::isfinite(j.upper) ? j.upper - kAnywhere : -kAnywhere);
      span_.push_back((std::isfinite(j.upper) ? j.upper : low_.back() + 2 * kAnywhere) - low_.back());
    }
    const double nan = std::nan(""), far = std::numeric_limits<double>::infinity();
    out_.q.assign(at(count_, robot.joints), nan);
    out_.position_error.assign(at(count_), far);
    out_.rotation_error.assign(at(count_), far);
    out_.success.assign(at(count_), 0);
    out_.steps.assign(at(count_), 0);
    for (std::int64_t n = 0; n < count_; ++n) {
      const auto row = pose.subspan(at(n, 16), 16);
      if (std::all_of(row.begin(), row.end(), [](double x) { return std::isfinite(x); })) open_.push_back(n);
      for (const int k : {0, 1, 2, 4, 5, 6, 8, 9, 10, 3, 7, 11}) target_.push_back(row[static_cast<std::size_t>(k)]);
    }
  }

  InverseKinematics run(std::span<const double> q0) {
    if (!q0.empty())
      std::erase_if(open_, [&](std::int64_t n) {
        const auto row = q0.subspan(at(n, robot_.joints), static_cast<std::size_t>(robot_.joints));
        return !std::all_of(row.begin(), row.end(), [](double x) { return std::isfinite(x); });
      });
    for (int start = 0; start < options_.starts && !open_.empty(); ++start) search(start, q0);
    return std::move(out_);
  }

 private:
  /// Limits of a joint; one that follows another has those of its leader, which know of it.
  [[nodiscard]] Joint joint_range(const Robot& robot, int i) const {
    if (followers_.leader[i] == i) return coordinate_limits(robot, i);
    return {"", robot.joint[static_cast<std::size_t>(i)].prismatic};
  }
  [[nodiscard]] bool leads(std::size_t i) const {
    for (int k = 0; followers_.any && k < robot_.joints; ++k)
      if (followers_.leader[k] == static_cast<int>(i) && k != followers_.leader[k]) return true;
    return false;
  }

  /// Where search number `start` of pose n begins.
  [[nodiscard]] double first_value(int start, std::span<const double> q0, std::int64_t n, int j) const {
    const auto k = static_cast<std::size_t>(j);
    if (start == 0 && !q0.empty()) return q0[at(n, robot_.joints) + k];
    const bool endless = span_[k] >= kAnywhere;
    const double half = endless ? (robot_.joint[k].prismatic ? 0.5 : M_PI) : 0.5 * span_[k];
    const double middle = endless ? std::clamp(0.0, low_[k], low_[k] + span_[k]) : low_[k] + half;
    double u[2] = {0.5, 0.5};
    if (start > 0)
      uniform_pair<double>(options_.seed, SampleIndex<double>::consecutive(static_cast<std::uint64_t>(n)),
                           static_cast<std::uint32_t>(kMaxJoints * start + j / 2), u[0], u[1]);
    return middle + (2 * u[j % 2] - 1) * half;
  }

  void search(int start, std::span<const double> q0) {
    const int joints = robot_.joints;
    const auto count = static_cast<std::int64_t>(open_.size());
    std::vector<double> target, q, arrived(at(count)), steps(at(count));
    for (const std::int64_t n : open_) {
      target.insert(target.end(), &target_[at(n, 12)], &target_[at(n, 12)] + 12);
      for (int j = 0; j < joints; ++j) q.push_back(first_value(start, q0, n, j));
    }
    const ReachJob job{
        robot_,
        {.position_only = options_.position_only, .steps = options_.steps, .tolerance = options_.tolerance},
        {joints, low_.data(), span_.data(), followers_.any ? &followers_ : nullptr},
        count,
        target.data(),
        q.data(),
        arrived.data(),
        steps.data(),
        device_};
    if (joints <= 6 && !followers_.any)
      reach_on_cpu<6>(job);
    else if (joints == 7 && !followers_.any)
      reach_on_cpu<7>(job);
    else
      reach_on_cpu<kMaxJoints>(job);
    // Where the caller says where to start, joints without limits stay in the turn that they are in.
    if (start > 0 || q0.empty()) wrap(q);
    keep(q, arrived, steps);
  }

  /// Joints that turn without limits into half a turn about 0.
  void wrap(std::vector<double>& q) const {
    const auto n = static_cast<std::size_t>(robot_.joints);
    for (std::size_t i = 0; i < q.size(); ++i) {
      const Joint& j = robot_.joint[i % n];
      if (!j.prismatic && std::isinf(j.lower) && std::isinf(j.upper) && !leads(i % n))
        q[i] = std::remainder(q[i], 2 * M_PI);
    }
  }

  /// What is better than before; poses that are not reached stay open.
  void keep(std::vector<double>& q, const std::vector<double>& arrived, const std::vector<double>& steps) {
    const int joints = robot_.joints;
    const auto count = static_cast<std::int64_t>(open_.size());
    for (std::int64_t i = 0; i < count; ++i)
      for (int j = 0; j < joints; ++j) {
        const auto k = static_cast<std::size_t>(j);
        double& x = q[at(i, joints) + k];
        x = std::clamp(x, low_[k], low_[k] + span_[k]);
      }
    follow_leaders(q);
    const Results poses = evaluate(robot_, StateView(count, q), Output::kPose, {}, device_);
    std::vector<std::int64_t> open;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t n = open_[at(i)];
      out_.steps[at(n)] += static_cast<std::int32_t>(steps[at(i)]);
      const auto [position, rotation] = missing(&target_[at(n, 12)], &poses.pose[at(i, 16)]);
      const bool found = arrived[at(i)] > 0 && std::hypot(position, rotation) <= options_.tolerance;
      if (!found) open.push_back(n);
      if (!found &&
          !(std::hypot(position, rotation) < std::hypot(out_.position_error[at(n)], out_.rotation_error[at(n)])))
        continue;
      std::copy_n(&q[at(i, joints)], joints, &out_.q[at(n, joints)]);
      out_.position_error[at(n)] = position;
      out_.rotation_error[at(n)] = rotation;
      out_.success[at(n)] = found ? 1 : 0;
    }
    open_.swap(open);
  }

  void follow_leaders(std::vector<double>& q) const {
    for (std::size_t row = 0; followers_.any && row < q.size(); row += static_cast<std::size_t>(robot_.joints))
      follow_in<kMaxJoints>(followers_, &q[row]);
  }

  struct Miss {
    double position, rotation;
  };
  /// From a homogeneous matrix to a target.
  [[nodiscard]] Miss missing(const double* target, const double* pose) const {
    Pose<double> to, from;
    for (int r = 0; r < 3; ++r) {
      for (int c = 0; c < 3; ++c) to.R(r, c) = target[3 * r + c], from.R(r, c) = pose[4 * r + c];
      to.p[r] = target[9 + r], from.p[r] = pose[4 * r + 3];
    }
    const Vec<double, 6> e = pose_error(to, from, false);
    double trace = 0;
    for (int k = 0; k < 3; ++k) trace += dot(column(from.R, k), column(to.R, k));
    if (options_.position_only) return {std::hypot(e[0], e[1], e[2]), 0};
    return {std::hypot(e[0], e[1], e[2]), std::atan2(std::hypot(e[3], e[4], e[5]), 0.5 * (trace - 1))};
  }

  Robot robot_;
  Followers followers_;
  const InverseKinematicsOptions& options_;
  Device device_;
  std::int64_t count_;
  std::vector<double> low_, span_, target_;
  std::vector<std::int64_t> open_;  ///< poses without an answer yet
  InverseKinematics out_;
};

}  // namespace

InverseKinematics inverse_kinematics(const Robot& robot, std::span<const double> pose, std::span<const double> q0,
                                     const InverseKinematicsOptions& options, const Device& device) {
  const std::size_t count = pose.size() / 16;
  const std::vector<int> own = coordinates(robot);
  if (pose.size() != 16 * count || (!q0.empty() && q0.size() != count * own.size()))
    throw Error(ExitCode::kUsage, "poses are [n,16], starts [n,joints]");
  if (device.executor == Executor::kCuda)
    throw Error(ExitCode::kNoDevice, "inverse kinematics runs on CPU cores only", "Leave out the device.");
  check_tool_poses(pose);
  if (robot.coupled.empty()) return Searches(robot, pose, options, device).run(q0);
  // Searches know all joints, and set followers by their leaders.
  const auto joints = static_cast<std::size_t>(robot.joints);
  std::vector<double> from(q0.empty() ? 0 : count * joints), to(count * own.size());
  for (std::size_t i = 0; i < q0.size(); ++i)
    from[i / own.size() * joints + static_cast<std::size_t>(own[i % own.size()])] = q0[i];
  InverseKinematics found = Searches(robot, pose, options, device).run(from);
  for (std::size_t i = 0; i < to.size(); ++i)
    to[i] = found.q[i / own.size() * joints + static_cast<std::size_t>(own[i % own.size()])];
  found.q = std::move(to);
  return found;
}

}  // namespace garra::chain
