// chain::AllSolutions: checks, runs of the operation, and what joint limits leave of its solutions.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "chain/branches/prepared.hpp"
#include "chain/model/tool_poses.hpp"
#include "garra/chain_generate.hpp"
#include "garra/core/error.hpp"

namespace garra::chain {

namespace {

using branches::kLoop;
using branches::kMost;

constexpr double kTurn = 2 * M_PI;

/// A solution with its joints in some turns.
struct Solution {
  Vec<double, kLoop> q;
  double residual, unique, limit_distance, apart;
};

/// What limits and turns make of the solutions of one pose.
class Turns {
 public:
  Turns(const Robot& robot, const AllSolutionsOptions& options) : robot_(robot), options_(options) {}

  void add(const Solution& from, const double* q0) { add_joint(0, from, q0); }
  /// Sorted by the distance from q0, where there is one.
  std::vector<Solution>& sorted(bool by_distance) {
    if (by_distance)
      std::stable_sort(all_.begin(), all_.end(),
                       [](const Solution& a, const Solution& b) { return a.apart < b.apart; });
    return all_;
  }

 private:
  void add_joint(int i, Solution one, const double* q0) {
    if (i == kLoop) return finish(one, q0);
    const Joint& joint = robot_.joint[static_cast<std::size_t>(i)];
    if (joint.prismatic) return add_joint(i + 1, one, q0);
    const double q = one.q[i];
    // The turn next to q0, or the one next to zero.
    const double near = q0 == nullptr ? q : q0[i] + std::remainder(q - q0[i], kTurn);
    const bool endless = std::isinf(joint.lower) || std::isinf(joint.upper);
    if (!options_.limits || endless) {
      one.q[i] = into(joint, near);
      return add_joint(i + 1, one, q0);
    }
    const double lowest = q + kTurn * std::ceil((joint.lower - kSlack - q) / kTurn);
    double chosen = lowest;
    for (double x = lowest; x <= joint.upper + kSlack; x += kTurn) {
      if (options_.windings) {
        one.q[i] = std::clamp(x, joint.lower, joint.upper);
        add_joint(i + 1, one, q0);
      } else if (std::abs(x - near) < std::abs(chosen - near)) {
        chosen = x;
      }
    }
    if (options_.windings || chosen > joint.upper + kSlack) return;
    one.q[i] = std::clamp(chosen, joint.lower, joint.upper);
    add_joint(i + 1, one, q0);
  }

  /// A joint with a limit on one side only: the turn next to q that respects it.
  [[nodiscard]] double into(const Joint& joint, double q) const {
    if (!options_.limits) return q;
    if (q < joint.lower) q += kTurn * std::ceil((joint.lower - q) / kTurn);
    if (q > joint.upper) q -= kTurn * std::ceil((q - joint.upper) / kTurn);
    return q;
  }

  void finish(Solution& one, const double* q0) {
    one.limit_distance = std::numeric_limits<double>::infinity();
    one.apart = 0;
    for (int i = 0; i < kLoop; ++i) {
      const Joint& joint = robot_.joint[static_cast<std::size_t>(i)];
      one.limit_distance = std::min({one.limit_distance, one.q[i] - joint.lower, joint.upper - one.q[i]});
      if (q0 != nullptr) one.apart = std::hypot(one.apart, one.q[i] - q0[i]);
    }
    if (!options_.limits || one.limit_distance >= -kSlack) all_.push_back(one);
  }

  static constexpr double kSlack = 1e-9;  ///< of a limit: a solution at it counts [rad or m]
  const Robot& robot_;
  const AllSolutionsOptions& options_;
  std::vector<Solution> all_;
};

void check_robot(const Robot& robot) {
  require_uncoupled(robot, "all solutions");
  if (robot.joints != kLoop)
    throw Error(
        ExitCode::kUsage,
        "all solutions: the robot \"" + robot.name + "\" has " + std::to_string(robot.joints) + " joints, not 6",
        robot.joints == 7 ? "Fix one joint (fixed = {joint: value}, --fix JOINT=VALUE)."
                          : "inverse_kinematics() takes any number of joints.");
}

/// Rows of the answer that a second elimination may complete.
void complete_rows(const branches::AllSolutionsOp& op, std::span<const double> pose, const Device& device,
                   SolutionRows& rows) {
  std::vector<std::size_t> open;
  std::vector<double> poses;
  for (std::size_t n = 0; n < rows.count.size(); ++n) {
    const auto row = pose.subspan(16 * n, 16);
    if (rows.complete[n] > 0 || !std::all_of(row.begin(), row.end(), [](double x) { return std::isfinite(x); }))
      continue;
    open.push_back(n);
    poses.insert(poses.end(), row.begin(), row.end());
  }
  const SolutionRows again = run_all_solutions(op, poses, device);
  for (std::size_t k = 0; k < open.size(); ++k) {
    const std::size_t n = open[k];
    rows.count[n] = again.count[k], rows.complete[n] = again.complete[k];
    std::copy_n(&again.q[k * kMost * kLoop], kMost * kLoop, &rows.q[n * kMost * kLoop]);
    std::copy_n(&again.residual[k * kMost], kMost, &rows.residual[n * kMost]);
    std::copy_n(&again.unique[k * kMost], kMost, &rows.unique[n * kMost]);
  }
}

void append(const Solution& one, AllSolutionsResult& to) {
  to.q.insert(to.q.end(), one.q.m, one.q.m + kLoop);
  to.residual.push_back(one.residual);
  to.unique.push_back(one.unique);
  to.limit_distance.push_back(one.limit_distance);
}

}  // namespace

AllSolutions::AllSolutions(const Robot& robot) {
  check_robot(robot);
  prepared_ = std::make_unique<const Prepared>(Prepared{robot, prepare_all_solutions(robot)});
}
AllSolutions::AllSolutions(const Robot& robot, const AllSolutions& like) {
  check_robot(robot);
  prepared_ = std::make_unique<const Prepared>(Prepared{robot, prepare_like(robot, like.prepared_->op)});
}
AllSolutions::AllSolutions(AllSolutions&&) noexcept = default;
AllSolutions& AllSolutions::operator=(AllSolutions&&) noexcept = default;
AllSolutions::~AllSolutions() = default;

AllSolutionsResult AllSolutions::solve(std::span<const double> pose, const AllSolutionsOptions& options,
                                       const Device& device) const {
  const std::size_t count = pose.size() / 16;
  const std::span<const double> q0 = options.q0;
  if (pose.size() != 16 * count || (!q0.empty() && q0.size() != count * kLoop))
    throw Error(ExitCode::kUsage, "all solutions: poses are [n,16], q0 [n,joints]");
  if (device.executor == Executor::kCuda)
    throw Error(ExitCode::kNoDevice, "all solutions run on CPU cores only", "Leave out the device.");
  check_tool_poses(pose);
  const branches::AllSolutionsOp& op = prepared_->op;
  branches::AllSolutionsOp first = op;
  if (op.way[0].moved == 0) first.ways = 1;  // most lists are complete then
  SolutionRows rows = run_all_solutions(first, pose, device);
  if (first.ways != op.ways) complete_rows(op, pose, device, rows);
  AllSolutionsResult out;
  out.joints = kLoop;
  out.first.push_back(0);
  const double unit = std::min(1.0, op.way[0].unit);
  for (std::size_t n = 0; n < count; ++n) {
    Turns turns(prepared_->robot, options);
    const double* seed = q0.empty() ? nullptr : &q0[kLoop * n];
    for (std::size_t k = 0; k < static_cast<std::size_t>(rows.count[n]); ++k) {
      Solution one{};
      std::copy_n(&rows.q[(n * kMost + k) * kLoop], kLoop, one.q.m);
      one.residual = rows.residual[n * kMost + k];
      one.unique = unit * rows.unique[n * kMost + k];
      turns.add(one, seed);
    }
    const std::vector<Solution>& sorted = turns.sorted(seed != nullptr);
    for (const Solution& one : sorted) append(one, out);
    out.first.push_back(static_cast<std::int64_t>(out.residual.size()));
    const auto row = pose.subspan(16 * n, 16);
    const bool finite = std::all_of(row.begin(), row.end(), [](double x) { return std::isfinite(x); });
    out.complete.push_back(finite && rows.complete[n] > 0 ? 1 : 0);
    out.status.push_back(!finite ? Status::kInvalidInput : sorted.empty() ? Status::kOutOfReach : Status::kConverged);
  }
  return out;
}

}  // namespace garra::chain
