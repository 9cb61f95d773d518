// chain::AllSolutions: checks, runs of the operation, what arms of fewer joints and joint limits leave of its
// solutions.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "chain/branches/families.hpp"
#include "chain/model/tool_poses.hpp"
#include "garra/chain_eval.hpp"
#include "garra/core/error.hpp"

namespace garra::chain {

namespace {

using branches::kLoop;
using branches::kMost;

constexpr double kTurn = 2 * M_PI;
constexpr double kOtherSize = 3;    ///< of the changes of links, for poses with an odd number of solutions
constexpr double kNearZero = 1e-3;  ///< a held joint that is farther from 0 shows that the arm does not reach the pose
constexpr double kSame = 1e-6;      ///< two solutions are one if no joint differs by more [rad or m]
constexpr double kSearchStep = 0.25;  ///< of the joint that leads another [rad]

constexpr double kEnough = 1e-12;  ///< pose error of solutions without proofs that are not polished further [m and rad]

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// What limits and turns make of the solutions of one pose.
class Turns {
 public:
  Turns(const std::vector<Joint>& joint, const AllSolutionsOptions& options) : joint_(joint), options_(options) {}

  void add(const Solution& from, const double* q0) { add_joint(0, from, q0); }
  /// Whether the limits leave anything of a solution.
  [[nodiscard]] static bool allow(const std::vector<Joint>& joint, const AllSolutionsOptions& options,
                                  const Solution& one) {
    Turns turns(joint, options);
    turns.add(one, nullptr);
    return !turns.all_.empty();
  }
  /// Sorted by the distance from q0, where there is one.
  std::vector<Solution>& sorted(bool by_distance) {
    if (by_distance)
      std::stable_sort(all_.begin(), all_.end(),
                       [](const Solution& a, const Solution& b) { return a.apart < b.apart; });
    return all_;
  }

 private:
  void add_joint(int i, Solution one, const double* q0) {
    if (at(i) == joint_.size()) return finish(one, q0);
    const Joint& joint = joint_[at(i)];
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
    for (int i = 0; at(i) < joint_.size(); ++i) {
      const Joint& joint = joint_[at(i)];
      one.limit_distance = std::min({one.limit_distance, one.q[i] - joint.lower, joint.upper - one.q[i]});
      if (q0 != nullptr) one.apart = std::hypot(one.apart, one.q[i] - q0[i]);
    }
    if (!options_.limits || one.limit_distance >= -kSlack) all_.push_back(one);
  }

  static constexpr double kSlack = 1e-9;  ///< of a limit: a solution at it counts [rad or m]
  const std::vector<Joint>& joint_;
  const AllSolutionsOptions& options_;
  std::vector<Solution> all_;
};

void check_joints(const Robot& robot, std::size_t joints, ToolTask task) {
  const auto most = static_cast<std::size_t>(task_coordinates(task));
  if (joints <= most) return;
  const auto n = std::to_string(most);
  throw Error(ExitCode::kUsage,
              "all solutions: the robot \"" + robot.name + "\" has " + std::to_string(joints) + " joints, not " + n,
              "Fix " + std::to_string(joints - most) + " (fixed = {joint: value}, --fix JOINT=VALUE).");
}

bool are_finite(std::span<const double> row) {
  return std::all_of(row.begin(), row.end(), [](double x) { return std::isfinite(x); });
}

/// Rows of the answer that other eliminations may complete. `odd`: only those with an odd number of solutions, of which
/// one is missing: complex solutions come in pairs.
void complete_rows(const branches::AllSolutionsOp& op, std::span<const double> pose, bool odd, const Device& device,
                   SolutionRows& rows) {
  std::vector<std::size_t> open;
  std::vector<double> poses;
  for (std::size_t n = 0; n < rows.count.size(); ++n) {
    const auto row = pose.subspan(16 * n, 16);
    if (rows.complete[n] > 0 || (odd && std::fmod(rows.count[n], 2) == 0) || !are_finite(row)) continue;
    open.push_back(n);
    poses.insert(poses.end(), row.begin(), row.end());
  }
  const SolutionRows again = run_all_solutions(op, poses, device);
  for (std::size_t k = 0; k < open.size(); ++k) {
    const std::size_t n = open[k];
    if (again.count[k] < rows.count[n]) continue;
    rows.count[n] = again.count[k], rows.complete[n] = again.complete[k];
    std::copy_n(&again.q[k * kMost * kLoop], kMost * kLoop, &rows.q[n * kMost * kLoop]);
    std::copy_n(&again.residual[k * kMost], kMost, &rows.residual[n * kMost]);
    std::copy_n(&again.unique[k * kMost], kMost, &rows.unique[n * kMost]);
  }
}

/// Poses with the yaw angle alone, from the x axis' direction.
void level_poses(std::vector<double>& pose) {
  for (double* X = pose.data(); X != pose.data() + pose.size(); X += 16) {
    const double n = std::hypot(X[0], X[4]), c = n > 0 ? X[0] / n : 1, s = n > 0 ? X[4] / n : 0;
    X[0] = X[5] = c, X[4] = s, X[1] = -s;
    X[2] = X[6] = X[8] = X[9] = 0;
    X[10] = 1;
  }
}

/// No other solution of the arm's joints alone within this: the joints that the task leaves free move by at most
/// sqrt(2) times the turn of the tool (three axes, up to 0.5 rad), and the tool turns by at most sqrt(n) |dq|.
double unique_of_arm(double unique, std::size_t joints, ToolTask task) {
  const auto n = static_cast<double>(joints);
  switch (task) {
    case ToolTask::kPose:
      return unique;
    case ToolTask::kPointAxis:
      return unique / std::sqrt(1 + n);
    case ToolTask::kPoint:
      return std::min(unique / std::sqrt(1 + 2 * n), 0.5 / std::sqrt(n));
    case ToolTask::kPlanar:
      break;
  }
  return 0;
}

/// Whether no joint differs by more than kSame, whole turns aside.
bool are_same(const std::vector<Joint>& joint, const double* a, const double* b) {
  for (std::size_t i = 0; i < joint.size(); ++i)
    if (std::abs(joint[i].prismatic ? a[i] - b[i] : std::remainder(a[i] - b[i], kTurn)) > kSame) return false;
  return true;
}

/// Keeps the solutions in which the held joints are at 0, each of the arm's joint values once.
void hold_joints(const AllSolutions::Prepared& p, std::span<const double> pose, const branches::SolutionRule& rule,
                 const Device& device, SolutionRows& rows) {
  std::vector<std::size_t> row;
  std::vector<double> poses, q;
  const int held_end = task_coordinates(p.task), first = static_cast<int>(p.joints());
  for (std::size_t n = 0; n < rows.count.size(); ++n) {
    for (std::size_t k = 0; k < static_cast<std::size_t>(rows.count[n]); ++k) {
      const double* values = &rows.q[(n * kMost + k) * kLoop];
      if (std::any_of(values + first, values + held_end, [](double x) { return std::abs(x) > kNearZero; })) continue;
      // Yaw, pitch and roll describe an orientation twice: the x axis is ahead with cos(pitch) > 0.
      if (p.task == ToolTask::kPlanar && std::cos(values[4]) < 0) continue;
      row.push_back(n);
      poses.insert(poses.end(), &pose[16 * n], &pose[16 * n] + 16);
      q.insert(q.end(), values, values + kLoop);
    }
    rows.count[n] = 0;
  }
  branches::HoldOp op{p.op.model, rule, p.op.way[0].unit, p.task == ToolTask::kPoint};
  op.rule.held_from = first, op.rule.held_end = held_end;
  const SolutionRows found = run_hold(op, poses, q, device);
  for (std::size_t m = 0; m < row.size(); ++m) {
    const std::size_t n = row[m];
    const auto count = static_cast<std::size_t>(rows.count[n]);
    const double* values = &found.q[kLoop * m];
    bool is_new = found.residual[m] <= op.rule.tolerance;
    for (std::size_t k = 0; k < count; ++k)
      is_new = is_new && !are_same(p.moves, values, &rows.q[(n * kMost + k) * kLoop]);
    if (!is_new) continue;
    std::copy_n(values, kLoop, &rows.q[(n * kMost + count) * kLoop]);
    rows.residual[n * kMost + count] = found.residual[m];
    rows.unique[n * kMost + count] = unique_of_arm(found.unique[m], p.joints(), p.task);
    rows.count[n] += 1;
  }
}

/// Solutions of each pose, by number.
using Lists = std::vector<std::vector<Solution>>;

/// Of an uncoupled arm.
Lists solve_uncoupled(const AllSolutions::Prepared& p, std::span<const double> pose, bool proofs, const Device& device,
                      std::vector<double>& complete) {
  branches::AllSolutionsOp op = p.op;
  op.rule.proofs = proofs;
  if (!proofs) op.rule.enough = kEnough;
  branches::AllSolutionsOp first = op;
  if (op.way[0].moved == 0) first.ways = 1;  // most lists are complete then
  SolutionRows rows = run_all_solutions(first, pose, device);
  if (first.ways != op.ways) complete_rows(op, pose, false, device, rows);
  complete_rows(p.again, pose, true, device, rows);
  if (p.joints() < kLoop) hold_joints(p, pose, op.rule, device, rows);
  const double unit = std::min(1.0, op.way[0].unit);
  Lists out(rows.count.size());
  for (std::size_t n = 0; n < out.size(); ++n)
    for (std::size_t k = n * kMost; k < n * kMost + static_cast<std::size_t>(rows.count[n]); ++k) {
      Solution& one = out[n].emplace_back();
      std::copy_n(&rows.q[k * kLoop], kLoop, one.q.m);
      one.residual = rows.residual[k];
      one.unique = unit * rows.unique[k];
    }
  complete = std::move(rows.complete);
  return out;
}

/// Of an arm in which one joint follows another: searches of the coupled arm start at the solutions with the leader at
/// values within its limits, where the follower is still free.
Lists solve_coupled(const AllSolutions::Prepared& p, std::span<const double> pose, bool limits, const Device& device) {
  const Coupling& pair = p.robot.coupled.front();
  std::vector<std::size_t> row;
  std::vector<double> poses, q0;
  for (std::size_t h = 0; h < p.leader.size(); ++h) {
    const SolutionRows some = run_all_solutions(p.held[h], pose, device);
    for (std::size_t n = 0; n < some.count.size(); ++n)
      for (std::size_t k = 0; k < static_cast<std::size_t>(some.count[n]); ++k) {
        row.push_back(n);
        poses.insert(poses.end(), &pose[16 * n], &pose[16 * n] + 16);
        std::size_t from = (n * kMost + k) * kLoop;
        for (int i = 0; i < p.robot.joints; ++i) {
          const double value = i == pair.leader ? p.leader[h] : some.q[from++];
          if (i != pair.joint) q0.push_back(value);
        }
      }
  }
  Robot loose = p.robot;
  for (int i = 0; i < loose.joints; ++i) {
    Joint& joint = loose.joint[at(i)];
    if (i != pair.leader && (!limits || !joint.prismatic)) joint.lower = -kNoLimit, joint.upper = kNoLimit;
    if (i == pair.leader) joint = coordinate_limits(p.robot, i);
  }
  const InverseKinematics found = inverse_kinematics(loose, poses, q0, {.starts = 1}, device);
  Lists out(pose.size() / 16);
  for (std::size_t m = 0; m < row.size(); ++m) {
    if (found.success[m] == 0) continue;
    Solution one{};
    std::copy_n(&found.q[m * p.joints()], p.joints(), one.q.m);
    one.residual = std::hypot(found.position_error[m], found.rotation_error[m]);
    const bool known = std::any_of(out[row[m]].begin(), out[row[m]].end(),
                                   [&](const Solution& other) { return are_same(p.moves, one.q.m, other.q.m); });
    if (!known) out[row[m]].push_back(one);
  }
  return out;
}

void append(const Solution& one, AllSolutionsResult& to) {
  to.q.insert(to.q.end(), one.q.m, one.q.m + to.joints);
  to.residual.push_back(one.residual);
  to.unique.push_back(one.unique);
  to.limit_distance.push_back(one.limit_distance);
  to.family.push_back(one.family ? 1 : 0);
}

/// Errors of the nearest poses, where there is no solution.
void find_distances(const Robot& robot, std::span<const double> pose, const Device& device, AllSolutionsResult& to) {
  std::vector<std::size_t> row;
  std::vector<double> poses;
  for (std::size_t n = 0; n < to.status.size(); ++n)
    if (to.status[n] == Status::kOutOfReach) {
      row.push_back(n);
      poses.insert(poses.end(), &pose[16 * n], &pose[16 * n] + 16);
    }
  const InverseKinematics nearest = inverse_kinematics(robot, poses, {}, {}, device);
  for (std::size_t k = 0; k < row.size(); ++k)
    to.distance[row[k]] = std::hypot(nearest.position_error[k], nearest.rotation_error[k]);
}

Robot to_six(const Robot& robot, ToolTask task) { return robot.joints == kLoop ? robot : extend_to_six(robot, task); }

/// The joint that leads another takes values within its limits.
void prepare_leader(const Robot& robot, AllSolutions::Prepared& to) {
  const Coupling& pair = robot.coupled.front();
  if (robot.coupled.size() > 1) require_uncoupled(robot, "all solutions of more than one helical joint");
  const Joint range = coordinate_limits(robot, pair.leader);
  const double span = range.upper - range.lower;
  if (!std::isfinite(span))
    throw Error(ExitCode::kUsage, "all solutions: joint \"" + range.name + "\" leads another and has no limits",
                "It is searched within its limits.");
  Robot loose = robot;
  loose.coupled.clear();
  const double turn = span * (range.prismatic ? std::max(1.0, std::abs(pair.ratio)) : 1);
  const int steps = std::clamp(static_cast<int>(std::ceil(turn / kSearchStep)), 16, 512);
  for (int k = 0; k <= steps; ++k) {
    to.leader.push_back(range.lower + span * k / steps);
    const Robot arm = to_six(lock_joint(loose, pair.leader, to.leader.back()), ToolTask::kPose);
    to.held.push_back(k == 0 ? prepare_all_solutions(arm) : prepare_like(arm, to.held.front(), 1));
  }
  for (const int i : coordinates(robot)) {
    to.moves.push_back(coordinate_limits(robot, i));
    to.moves.back().prismatic = to.moves.back().prismatic || i == pair.leader;  // its turns differ
  }
}

AllSolutions::Prepared prepare(const Robot& robot, ToolTask task, const AllSolutions::Prepared* like) {
  AllSolutions::Prepared out{robot, task, {}, {}, {}, {}, {}};
  check_joints(robot, coordinates(robot).size(), task);
  if (!robot.coupled.empty()) {
    if (task != ToolTask::kPose) require_uncoupled(robot, "all solutions of a part of the pose");
    prepare_leader(robot, out);
    return out;
  }
  out.moves = robot.joint;
  const Robot six = to_six(robot, task);
  out.op = like == nullptr ? prepare_all_solutions(six) : prepare_like(six, like->op, 1);
  out.again = prepare_like(six, out.op, kOtherSize);
  return out;
}

}  // namespace

AllSolutions::AllSolutions(const Robot& robot, ToolTask task)
    : prepared_(std::make_unique<const Prepared>(prepare(robot, task, nullptr))) {}
AllSolutions::AllSolutions(const Robot& robot, const AllSolutions& like)
    : prepared_(std::make_unique<const Prepared>(prepare(robot, like.prepared_->task, like.prepared_.get()))) {}
AllSolutions::AllSolutions(AllSolutions&&) noexcept = default;
AllSolutions& AllSolutions::operator=(AllSolutions&&) noexcept = default;
AllSolutions::~AllSolutions() = default;

AllSolutionsResult AllSolutions::solve(std::span<const double> pose, const AllSolutionsOptions& options,
                                       const Device& device) const {
  const Prepared& p = *prepared_;
  const std::size_t count = pose.size() / 16;
  const std::span<const double> q0 = options.q0;
  if (pose.size() != 16 * count || (!q0.empty() && q0.size() != count * p.joints()))
    throw Error(ExitCode::kUsage, "all solutions: poses are [n,16], q0 [n,joints]");
  if (device.executor == Executor::kCuda)
    throw Error(ExitCode::kNoDevice, "all solutions run on CPU cores only", "Leave out the device.");
  check_tool_poses(pose);
  std::vector<double> task_pose(pose.begin(), pose.end());
  if (p.task == ToolTask::kPlanar) level_poses(task_pose);
  AllSolutionsResult out;
  std::vector<double> complete(count, 0);
  Lists lists = p.leader.empty() ? solve_uncoupled(p, task_pose, options.proofs, device, complete)
                                 : solve_coupled(p, pose, options.limits, device);
  const bool whole_arm = p.joints() == kLoop && p.leader.empty() && p.task == ToolTask::kPose;
  out.joints = static_cast<int>(p.joints());
  out.first.push_back(0);
  out.distance.assign(count, 0);
  for (std::size_t n = 0; n < count; ++n) {
    Turns turns(p.moves, options);
    const double* seed = q0.empty() ? nullptr : &q0[p.joints() * n];
    const bool finite =
        are_finite(pose.subspan(16 * n, 16)) && (seed == nullptr || are_finite(q0.subspan(p.joints() * n, p.joints())));
    if (!finite) lists[n].clear();
    const auto unproven = [](const Solution& one) { return one.unique == 0; };
    if (whole_arm && options.proofs && std::any_of(lists[n].begin(), lists[n].end(), unproven)) {
      std::erase_if(lists[n], [&](const Solution& one) { return !Turns::allow(p.moves, options, one); });
      keep_families(p, pose.subspan(16 * n, 16), seed, lists[n]);
    }
    for (const Solution& one : lists[n]) turns.add(one, seed);
    const std::vector<Solution>& sorted = turns.sorted(seed != nullptr);
    for (const Solution& one : sorted) append(one, out);
    out.first.push_back(static_cast<std::int64_t>(out.residual.size()));
    out.complete.push_back(finite && complete[n] > 0 ? 1 : 0);
    out.status.push_back(!finite ? Status::kInvalidInput : sorted.empty() ? Status::kOutOfReach : Status::kConverged);
  }
  if (p.task == ToolTask::kPose && p.joints() < kLoop) find_distances(p.robot, pose, device, out);
  return out;
}

}  // namespace garra::chain
