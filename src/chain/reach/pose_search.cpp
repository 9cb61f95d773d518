// chain::inverse_kinematics: what can be misuse is refused here; searches are started until every pose is reached.
#include <algorithm>
#include <cmath>
#include <limits>

#include "chain/model/tool_poses.hpp"
#include "chain/reach/pose_search_tiles.hpp"
#include "garra/chain_eval.hpp"
#include "garra/core/error.hpp"
#include "garra/core/factor.hpp"
#include "garra/core/philox.hpp"

namespace garra::chain {

namespace {

/// Joints without limits: searches start within half a turn (or half a meter) of 0 and go where they like.
constexpr double kAnywhere = 1e4;

constexpr int kDescents = 32;              ///< of a pose that no search reaches
constexpr int kDescentSteps = 100;         ///< of one descent, at most
constexpr double kLeastGain = 1e-6;        ///< a descent ends where a step lessens the error by no larger share
constexpr std::size_t kPosesAtOnce = 256;  ///< that are approached

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
    if (options_.starts > 1)
      for (std::size_t first = 0; first < open_.size(); first += kPosesAtOnce)
        approach(std::span(open_).subspan(first, std::min(kPosesAtOnce, open_.size() - first)));
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
      const Vec<double, 6> e = missing(&target_[at(n, 12)], &poses.pose[at(i, 16)]);
      if (!offer(n, &q[at(i, joints)], e, arrived[at(i)] > 0 ? options_.tolerance : -1)) open.push_back(n);
    }
    open_.swap(open);
  }

  void follow_leaders(std::vector<double>& q) const {
    for (std::size_t row = 0; followers_.any && row < q.size(); row += static_cast<std::size_t>(robot_.joints))
      follow_in<kMaxJoints>(followers_, &q[row]);
  }

  /// One descent of the pose error. The rotation's part is the rotation vector, whose square has the gradient
  /// -2 J_w' e_w.
  struct Descent {
    std::int64_t n;                ///< of the pose
    std::vector<double> q, trial;  ///< [j] with the least error so far; the next one
    Vec<double, 6> e = Vec<double, 6>::zero();
    Mat<double, 6, kMaxJoints> jac = Mat<double, 6, kMaxJoints>::zero();
    double error = std::numeric_limits<double>::infinity(), damping = 1e-3;
    bool done = false;
  };

  /// Finds the nearest poses of targets that no search reaches: Levenberg-Marquardt steps within the limits, from the
  /// best end of the searches and from other starts.
  void approach(std::span<const std::int64_t> poses) {
    std::vector<Descent> all;
    for (const std::int64_t n : poses)
      for (int start = 0; start < kDescents; ++start) {
        Descent one{n, {}, {}};
        for (int j = 0; j < robot_.joints; ++j)
          one.trial.push_back(start == 0 ? out_.q[at(n, robot_.joints) + static_cast<std::size_t>(j)]
                                         : first_value(start, {}, n, j));
        all.push_back(std::move(one));
      }
    for (int round = 0; round < kDescentSteps && !all.empty(); ++round) {
      std::vector<double> q;
      for (const Descent& one : all) q.insert(q.end(), one.trial.begin(), one.trial.end());
      follow_leaders(q);
      const auto count = static_cast<std::int64_t>(all.size());
      const Results here = evaluate(robot_, StateView(count, q), {Output::kPose, Output::kJacobian}, {}, device_);
      for (std::int64_t i = 0; i < count; ++i)
        visit(all[at(i)], &q[at(i, robot_.joints)], &here.pose[at(i, 16)], &here.jacobian[at(i, 6 * robot_.joints)]);
      std::erase_if(all, [](const Descent& one) { return one.done; });
    }
  }

  /// Takes the trial if it is better, and chooses the next one.
  void visit(Descent& one, const double* q, const double* pose, const double* jac) {
    const int joints = robot_.joints;
    const Vec<double, 6> e = missing(&target_[at(one.n, 12)], pose);
    const double error = norm(e);
    const bool better = error < one.error;
    one.done = better && error > (1 - kLeastGain) * one.error;
    one.damping *= better ? 0.2 : 5;
    if (better) {
      one.q.assign(q, q + joints), one.e = e, one.error = error;
      for (int r = 0; r < 6; ++r)
        for (int j = 0; j < joints; ++j) one.jac(r, j) = r >= 3 && options_.position_only ? 0 : jac[joints * r + j];
      if (followers_.any) lead_columns(followers_, one.jac);
      offer(one.n, q, e, options_.tolerance);
    }
    one.done = one.done || one.damping > 1e6;
    // Joints at an end of their range that the gradient would move out of it stay.
    Mat<double, 6, kMaxJoints> moving = one.jac;
    for (int j = 0; j < joints; ++j) {
      const auto k = static_cast<std::size_t>(j);
      const double along = dot(column(one.jac, j), one.e);
      if ((along < 0 && one.q[k] <= low_[k]) || (along > 0 && one.q[k] >= low_[k] + span_[k]))
        for (int r = 0; r < 6; ++r) moving(r, j) = 0;
    }
    Mat<double, 6, 6> normal = moving * transpose(moving);
    for (int r = 0; r < 6; ++r) normal(r, r) += one.damping;
    const Vec<double, 6> force = solve(factor_ldlt(normal), one.e);
    one.trial = one.q;
    for (int j = 0; j < joints; ++j) {
      const auto k = static_cast<std::size_t>(j);
      one.trial[k] = std::clamp(one.q[k] + dot(column(moving, j), force), low_[k], low_[k] + span_[k]);
    }
  }

  /// Takes joint values of a pose if they are better than those before. Returns whether they reach it.
  bool offer(std::int64_t n, const double* q, const Vec<double, 6>& e, double tolerance) {
    const double position = std::hypot(e[0], e[1], e[2]), rotation = std::hypot(e[3], e[4], e[5]);
    const bool found = std::hypot(position, rotation) <= tolerance;
    if (!found &&
        !(std::hypot(position, rotation) < std::hypot(out_.position_error[at(n)], out_.rotation_error[at(n)])))
      return false;
    std::copy_n(q, robot_.joints, &out_.q[at(n, robot_.joints)]);
    out_.position_error[at(n)] = position;
    out_.rotation_error[at(n)] = rotation;
    out_.success[at(n)] = found ? 1 : 0;
    return found;
  }

  /// From a homogeneous matrix to a target: displacement [m] and rotation vector [rad].
  [[nodiscard]] Vec<double, 6> missing(const double* target, const double* pose) const {
    Pose<double> to, from;
    for (int r = 0; r < 3; ++r) {
      for (int c = 0; c < 3; ++c) to.R(r, c) = target[3 * r + c], from.R(r, c) = pose[4 * r + c];
      to.p[r] = target[9 + r], from.p[r] = pose[4 * r + 3];
    }
    Vec<double, 6> e = pose_error(to, from, options_.position_only);
    if (options_.position_only) return e;
    double trace = 0;
    for (int k = 0; k < 3; ++k) trace += dot(column(from.R, k), column(to.R, k));
    const double sine = std::hypot(e[3], e[4], e[5]), angle = std::atan2(sine, 0.5 * (trace - 1));
    if (sine > 0)
      for (int k = 3; k < 6; ++k) e[k] *= angle / sine;
    else
      e[3] = angle;
    return e;
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
