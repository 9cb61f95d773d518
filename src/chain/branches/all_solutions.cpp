// chain::AllSolutions: checks, runs of the operation, what arms of fewer joints and joint limits leave of its
// solutions.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/row_tiles.hpp"
#include "chain/branches/families.hpp"
#include "chain/model/tool_poses.hpp"
#include "garra/batch/parallel.hpp"
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

constexpr std::size_t kBlock = 256;            ///< poses that a thread solves at a time: their rows stay in the cache
constexpr std::size_t kDeviceBlock = 1 << 16;  ///< poses on a GPU at a time
constexpr double kEnough = 1e-12;  ///< pose error of solutions without proofs that are not polished further [m and rad]

/// Where what has no kernel runs.
Device on_host(const Device& device) {
  return device.executor == Executor::kCuda ? Device{Executor::kLanes, device.threads, 0} : device;
}

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// What limits and turns make of the solutions of one pose.
class Turns {
 public:
  Turns(const std::vector<Joint>& joints, const AllSolutionsOptions& options) : options_(options) {
    for (std::size_t i = 0; i < rows::kSide; ++i) {
      lower_[i] = i < joints.size() ? joints[i].lower : -std::numeric_limits<double>::infinity();
      upper_[i] = i < joints.size() ? joints[i].upper : std::numeric_limits<double>::infinity();
    }
    for (const Joint& joint : joints) joint_.push_back({joint.lower, joint.upper, joint.prismatic});
  }

  /// Appends what is left of a solution: nothing, itself in the turn next to q0 (or to zero), or all its windings.
  void add(TurnedSolution one, const double* q0, std::vector<TurnedSolution>& to) const {
    if (options_.windings && options_.limits) return add_windings(0, one, q0, to);
    if (choose_turns(one, q0) && measure(one, q0)) to.push_back(one);
  }
  /// Whether a solution stays as it is without q0 and windings, and its distance from the limits.
  [[nodiscard]] bool leave(const Solution& one, double& limit_distance) const {
    rows::Row q;
    rows::load(one.q.m, q);
    const rows::Row below = q - lower_, above = upper_ - q;
    limit_distance = rows::find_least(below < above ? below : above);
    return !options_.limits || limit_distance >= 0;
  }
  /// Whether the limits leave anything of a solution.
  [[nodiscard]] bool allow(TurnedSolution one) const { return choose_turns(one, nullptr) && measure(one, nullptr); }

 private:
  struct Range {
    double lower, upper;
    bool prismatic;
  };
  /// Turns of q within the limits: q + first, ..., q + last; none if first > last.
  struct Span {
    double first, last;
  };
  [[nodiscard]] static Span turns_within(const Range& joint, double q) {
    return {kTurn * std::ceil((joint.lower - kSlack - q) / kTurn),
            kTurn * std::floor((joint.upper + kSlack - q) / kTurn)};
  }

  /// The turn of joint i next to q0.
  [[nodiscard]] static double next_to(const double* q0, std::size_t i, double q) {
    return q0 == nullptr ? q : q0[i] + std::remainder(q - q0[i], kTurn);
  }

  /// False: no turn of a joint is within its limits.
  bool choose_turns(TurnedSolution& one, const double* q0) const {
    for (std::size_t i = 0; i < joint_.size(); ++i) {
      const Range& joint = joint_[i];
      if (joint.prismatic) continue;
      double& q = one.q[static_cast<int>(i)];
      const double near = next_to(q0, i, q);
      if (!options_.limits || is_endless(joint)) {
        q = into(joint, near);
        continue;
      }
      const Span turns = turns_within(joint, q);
      if (turns.first > turns.last) return false;
      const double next = near == q ? 0 : kTurn * std::round((near - q) / kTurn);
      q = std::clamp(q + std::clamp(next, turns.first, turns.last), joint.lower, joint.upper);
    }
    return true;
  }

  [[gnu::cold]] void add_windings(std::size_t i, TurnedSolution one, const double* q0,
                                  std::vector<TurnedSolution>& to) const {
    if (i == joint_.size()) {
      if (measure(one, q0)) to.push_back(one);
      return;
    }
    const Range& joint = joint_[i];
    const double q = one.q[static_cast<int>(i)];
    if (joint.prismatic || is_endless(joint)) {
      if (!joint.prismatic) one.q[static_cast<int>(i)] = into(joint, next_to(q0, i, q));
      return add_windings(i + 1, one, q0, to);
    }
    const Span turns = turns_within(joint, q);
    if (turns.last - turns.first > kTurn * kMostTurns || to.size() > kMostWindings)
      throw Error(ExitCode::kUsage, "all solutions: the limits of the joints are too wide for windings",
                  "Narrow them, or leave windings out.");
    for (double turn = turns.first; turn <= turns.last; turn += kTurn) {
      one.q[static_cast<int>(i)] = std::clamp(q + turn, joint.lower, joint.upper);
      add_windings(i + 1, one, q0, to);
    }
  }

  [[nodiscard]] static bool is_endless(const Range& joint) {
    return std::isinf(joint.lower) || std::isinf(joint.upper);
  }
  /// A joint with a limit on one side only: the turn next to q that respects it.
  [[nodiscard]] double into(const Range& joint, double q) const {
    if (!options_.limits) return q;
    if (q < joint.lower) q += kTurn * std::ceil((joint.lower - q) / kTurn);
    if (q > joint.upper) q -= kTurn * std::ceil((q - joint.upper) / kTurn);
    return q;
  }

  /// Distances from the limits and from q0; false: outside of limits that count.
  bool measure(TurnedSolution& one, const double* q0) const {
    one.limit_distance = std::numeric_limits<double>::infinity();
    one.apart = 0;
    for (std::size_t i = 0; i < joint_.size(); ++i) {
      const double q = one.q[static_cast<int>(i)];
      one.limit_distance = std::min(one.limit_distance, std::min(q - joint_[i].lower, joint_[i].upper - q));
      if (q0 != nullptr) one.apart = std::hypot(one.apart, q - q0[i]);
    }
    return !options_.limits || one.limit_distance >= -kSlack;
  }

  static constexpr double kSlack = 1e-9;                 ///< of a limit: a solution at it counts [rad or m]
  static constexpr int kMostTurns = 100;                 ///< of a joint
  static constexpr std::size_t kMostWindings = 1 << 22;  ///< of the solutions of some poses
  std::vector<Range> joint_;
  rows::Row lower_, upper_;  ///< of joint_, and infinite
  const AllSolutionsOptions& options_;
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
  std::size_t k = 0;
  rows::Row sum = {}, some;  // 0 or NaN
  for (; k + rows::kSide <= row.size(); k += rows::kSide) {
    rows::load(&row[k], some);
    sum += some - some;
  }
  double rest = 0;
  for (const double x : row.subspan(k)) rest += x - x;
  return rest == 0 && rows::find_least(sum == 0 ? sum : rows::Row{} - 1) == 0;
}

/// Rows of the answer that other eliminations may complete. `odd`: only those with an odd number of solutions, of which
/// one is missing: complex solutions come in pairs.
[[gnu::cold]] void complete_rows(const branches::AllSolutionsOp& op, std::span<const double> pose, bool odd,
                                 const Device& device, SolutionRows& rows) {
  std::vector<std::size_t> open;
  std::vector<double> poses;
  for (std::size_t n = 0; n < rows.end.size(); ++n) {
    const auto row = pose.subspan(16 * n, 16);
    if (rows.complete[n] > 0 || (odd && rows.count(n) % 2 == 0) || !are_finite(row)) continue;
    open.push_back(n);
    poses.insert(poses.end(), row.begin(), row.end());
  }
  if (open.empty()) return;
  SolutionRows again;
  run_all_solutions(op, poses, device, again);
  for (std::size_t k = 0; k < open.size(); ++k) {
    const std::size_t n = open[k];
    if (again.count(k) < rows.count(n)) continue;
    std::copy_n(&again.all[again.begin[k]], again.count(k), &rows.all[rows.begin[n]]);
    rows.end[n] = rows.begin[n] + again.count(k), rows.complete[n] = again.complete[k];
  }
}

/// Poses with the yaw angle alone, from the x axis' direction.
[[gnu::cold]] std::vector<double> level_poses(std::span<const double> from) {
  std::vector<double> pose(from.begin(), from.end());
  for (double* X = pose.data(); X != pose.data() + pose.size(); X += 16) {
    const double n = std::hypot(X[0], X[4]), c = n > 0 ? X[0] / n : 1, s = n > 0 ? X[4] / n : 0;
    X[0] = X[5] = c, X[4] = s, X[1] = -s;
    X[2] = X[6] = X[8] = X[9] = 0;
    X[10] = 1;
  }
  return pose;
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
[[gnu::cold]] void hold_joints(const AllSolutions::Prepared& p, std::span<const double> pose,
                               const branches::SolutionRule& rule, const Device& device, SolutionRows& rows) {
  std::vector<std::size_t> row;
  std::vector<double> poses;
  std::vector<Solution> held;
  const int held_end = task_coordinates(p.task), first = static_cast<int>(p.joints());
  for (std::size_t n = 0; n < rows.end.size(); ++n) {
    for (const Solution& one : rows.of(n)) {
      if (std::any_of(one.q.m + first, one.q.m + held_end, [](double x) { return std::abs(x) > kNearZero; })) continue;
      // Yaw, pitch and roll describe an orientation twice: the x axis is ahead with cos(pitch) > 0.
      if (p.task == ToolTask::kPlanar && std::cos(one.q[4]) < 0) continue;
      row.push_back(n);
      poses.insert(poses.end(), &pose[16 * n], &pose[16 * n] + 16);
      held.push_back(one);
    }
    rows.end[n] = rows.begin[n];
  }
  branches::HoldOp op{p.op.model, rule, p.op.way[0].unit, p.task == ToolTask::kPoint};
  op.rule.held_from = first, op.rule.held_end = held_end;
  run_hold(op, poses, on_host(device), held);
  for (std::size_t m = 0; m < row.size(); ++m) {
    Solution& one = held[m];
    const auto known = rows.of(row[m]);
    if (!(one.residual <= op.rule.tolerance) || std::any_of(known.begin(), known.end(), [&](const Solution& other) {
          return are_same(p.moves, one.q.m, other.q.m);
        }))
      continue;
    one.unique = unique_of_arm(one.unique, p.joints(), p.task);
    rows.all[rows.end[row[m]]++] = one;
  }
}

/// Of an uncoupled arm.
void solve_uncoupled(const AllSolutions::Prepared& p, std::span<const double> pose, bool proofs, const Device& device,
                     SolutionRows& rows) {
  branches::AllSolutionsOp op = p.op;
  op.rule.proofs = proofs;
  if (!proofs) op.rule.enough = kEnough;
  branches::AllSolutionsOp first = op;
  if (op.way[0].moved == 0) first.ways = 1;  // most lists are complete then
  run_all_solutions(first, pose, device, rows);
  if (first.ways != op.ways) complete_rows(op, pose, false, device, rows);
  if (!op.is_closed()) complete_rows(p.again, pose, true, device, rows);
  if (p.joints() < kLoop) hold_joints(p, pose, op.rule, device, rows);
}

/// Of an arm in which one joint follows another: searches of the coupled arm start at the solutions with the leader at
/// values within its limits, where the follower is still free.
[[gnu::cold]] void solve_coupled(const AllSolutions::Prepared& p, std::span<const double> pose, bool limits,
                                 const Device& device, SolutionRows& rows) {
  const Coupling& pair = p.robot.coupled.front();
  std::vector<std::size_t> row;
  std::vector<double> poses, q0;
  SolutionRows some;
  for (std::size_t h = 0; h < p.leader.size(); ++h) {
    run_all_solutions(p.held[h], pose, device, some);
    for (std::size_t n = 0; n < some.end.size(); ++n)
      for (const Solution& one : some.of(n)) {
        row.push_back(n);
        poses.insert(poses.end(), &pose[16 * n], &pose[16 * n] + 16);
        const double* from = one.q.m;
        for (int i = 0; i < p.robot.joints; ++i) {
          const double value = i == pair.leader ? p.leader[h] : *from++;
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
  const InverseKinematics found = inverse_kinematics(loose, poses, q0, {.starts = 1}, on_host(device));
  std::vector<std::vector<Solution>> of(pose.size() / 16);
  for (std::size_t m = 0; m < row.size(); ++m) {
    if (found.success[m] == 0) continue;
    Solution one{};
    std::copy_n(&found.q[m * p.joints()], p.joints(), one.q.m);
    one.residual = std::hypot(found.position_error[m], found.rotation_error[m]);
    const bool known = std::any_of(of[row[m]].begin(), of[row[m]].end(),
                                   [&](const Solution& other) { return are_same(p.moves, one.q.m, other.q.m); });
    if (!known) of[row[m]].push_back(one);
  }
  rows = {};
  for (const std::vector<Solution>& found_here : of) {
    rows.begin.push_back(rows.all.size());
    rows.all.insert(rows.all.end(), found_here.begin(), found_here.end());
    rows.end.push_back(rows.all.size());
  }
  rows.complete.assign(of.size(), 0);
}

/// Appends solutions to a result, in which it makes room for many at a time.
class Writer {
 public:
  Writer(const AllSolutions::Prepared& p, std::size_t room, AllSolutionsResult& to)
      : joints_(p.joints()),
        unit_(p.leader.empty() ? std::min(1.0, p.op.way[0].unit) : 1),
        count_(to.residual.size()),
        to_(to) {
    resize(count_ + room);
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer() {
    resize(count_);  // to less: nothing is allocated
    to_.q.resize(count_ * joints_);
  }

  void add(const Solution& one, double limit_distance, bool family) {
    if (count_ == room_) resize(2 * count_ + 16);
    rows::Row row;
    rows::load(one.q.m, row);
    rows::store(row, q_ + count_ * joints_);  // the next solution overwrites what is too much
    residual_[count_] = one.residual;
    unique_[count_] = unit_ * one.unique;
    limit_distance_[count_] = limit_distance;
    family_[count_++] = family ? 1 : 0;
  }
  [[nodiscard]] std::size_t count() const { return count_; }

 private:
  void resize(std::size_t room) {
    to_.q.resize(room * joints_ + rows::kSide);
    for (std::vector<double>* column : {&to_.residual, &to_.unique, &to_.limit_distance}) column->resize(room);
    to_.family.resize(room);
    room_ = room, q_ = to_.q.data(), residual_ = to_.residual.data(), unique_ = to_.unique.data();
    limit_distance_ = to_.limit_distance.data(), family_ = to_.family.data();
  }

  std::size_t joints_;
  double unit_;  ///< of the radii of uniqueness
  std::size_t count_, room_ = 0;
  double *q_ = nullptr, *residual_ = nullptr, *unique_ = nullptr, *limit_distance_ = nullptr;
  std::uint8_t* family_ = nullptr;
  AllSolutionsResult& to_;
};

/// Appends the answer for some poses.
void solve_block(const AllSolutions::Prepared& p, std::span<const double> pose, const AllSolutionsOptions& options,
                 const Device& device, SolutionRows& rows, AllSolutionsResult& out) {
  std::vector<double> task_pose;
  if (p.task == ToolTask::kPlanar) task_pose = level_poses(pose);
  if (p.leader.empty())
    solve_uncoupled(p, task_pose.empty() ? pose : task_pose, options.proofs, device, rows);
  else
    solve_coupled(p, pose, options.limits, device, rows);
  const bool whole_arm = p.joints() == kLoop && p.leader.empty() && p.task == ToolTask::kPose;
  const bool plain = options.q0.empty() && !options.windings;
  const Turns turns(p.moves, options);
  const auto unproven = [](const Solution& one) { return one.unique == 0; };
  Writer to(p, rows.all.size(), out);
  std::vector<TurnedSolution> list, turned;
  for (std::size_t n = 0; n < rows.end.size(); ++n) {
    const std::span<const double> target = pose.subspan(16 * n, 16);
    const double* seed = options.q0.empty() ? nullptr : &options.q0[p.joints() * n];
    const bool finite = are_finite(target) && (seed == nullptr || are_finite({seed, p.joints()}));
    const std::span<const Solution> found = finite ? rows.of(n) : std::span<const Solution>();
    const bool families = whole_arm && options.proofs && std::any_of(found.begin(), found.end(), unproven);
    const std::size_t before = to.count();
    list.clear(), turned.clear();
    const auto add_turned = [&] {
      for (const TurnedSolution& one : turned) to.add(one, one.limit_distance, one.family);
      turned.clear();
    };
    for (const Solution& one : found) {
      double distance;
      if (!plain || families) {
        list.push_back({one});
      } else if (turns.leave(one, distance)) {
        to.add(one, distance, false);
      } else {
        turns.add({one}, nullptr, turned);
        add_turned();
      }
    }
    if (families) {
      std::erase_if(list, [&](const TurnedSolution& one) { return !turns.allow(one); });
      keep_families(p, target, seed, list);
    }
    for (const TurnedSolution& one : list) turns.add(one, seed, turned);
    if (seed != nullptr)
      std::stable_sort(turned.begin(), turned.end(),
                       [](const TurnedSolution& a, const TurnedSolution& b) { return a.apart < b.apart; });
    add_turned();
    out.first.push_back(static_cast<std::int64_t>(to.count()));
    out.complete.push_back(finite && rows.complete[n] > 0 ? 1 : 0);
    out.status.push_back(!finite                ? Status::kInvalidInput
                         : to.count() == before ? Status::kOutOfReach
                                                : Status::kConverged);
  }
}

/// Appends one result to another.
[[gnu::cold]] void append(const AllSolutionsResult& from, AllSolutionsResult& to) {
  const auto add = [](const auto& column, auto& all) { all.insert(all.end(), column.begin(), column.end()); };
  for (std::size_t n = 1; n < from.first.size(); ++n)
    to.first.push_back(from.first[n] + static_cast<std::int64_t>(to.residual.size()));
  add(from.q, to.q), add(from.residual, to.residual), add(from.unique, to.unique);
  add(from.limit_distance, to.limit_distance), add(from.family, to.family);
  add(from.complete, to.complete), add(from.status, to.status);
}

/// Errors of the nearest poses, where there is no solution.
[[gnu::cold]] void find_distances(const Robot& robot, std::span<const double> pose, const Device& device,
                                  AllSolutionsResult& to) {
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
[[gnu::cold]] void prepare_leader(const Robot& robot, AllSolutions::Prepared& to) {
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

[[gnu::cold]] AllSolutions::Prepared prepare(const Robot& robot, ToolTask task, const AllSolutions::Prepared* like) {
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
  const std::size_t count = pose.size() / 16, j = p.joints();
  if (pose.size() != 16 * count || (!options.q0.empty() && options.q0.size() != count * j))
    throw Error(ExitCode::kUsage, "all solutions: poses are [n,16], q0 [n,joints]");
  check_tool_poses(pose);
  const bool on_gpu = device.executor == Executor::kCuda;
  const int threads = on_gpu ? 1 : solve_threads(device);
  const std::size_t block = on_gpu ? kDeviceBlock : kBlock,
                    size = threads == 1 ? std::max<std::size_t>(count, 1) : block;
  std::vector<AllSolutionsResult> parts((count + size - 1) / size);
  batch::for_blocks(
      threads, {static_cast<std::int64_t>(parts.size()), 1}, [] { return SolutionRows{}; },
      [&](SolutionRows& rows, std::int64_t part, std::int64_t) {
        const std::size_t begin = static_cast<std::size_t>(part) * size, end = std::min(begin + size, count);
        AllSolutionsResult& to = parts[static_cast<std::size_t>(part)];
        to.first.push_back(0);
        to.q.reserve(branches::kClosed * j * (end - begin) + rows::kSide);
        for (std::size_t n = begin; n < end; n += block) {
          const std::size_t some = std::min(block, end - n);
          AllSolutionsOptions mine = options;
          if (!options.q0.empty()) mine.q0 = options.q0.subspan(n * j, some * j);
          solve_block(p, pose.subspan(16 * n, 16 * some), mine, on_gpu ? device : Device{device.executor, 1, 0}, rows,
                      to);
        }
      });
  AllSolutionsResult out;
  if (parts.size() == 1)
    out = std::move(parts.front());
  else
    out.first.push_back(0);
  for (const AllSolutionsResult& part : parts)
    if (parts.size() > 1) append(part, out);
  out.joints = static_cast<int>(j);
  out.distance.assign(count, 0);
  if (p.task == ToolTask::kPose && j < kLoop) find_distances(p.robot, pose, on_host(device), out);
  return out;
}

}  // namespace garra::chain
