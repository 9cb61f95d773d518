#include "chain/branches/ways.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "garra/chain_eval.hpp"
#include "garra/core/error.hpp"
#include "garra/core/philox.hpp"
#include "garra/math/rotation.hpp"

namespace garra::chain {

namespace {

using branches::AllSolutionsOp;
using branches::kLoop;
using branches::kMost;
using branches::Roles;
using branches::Way;

constexpr int kTries = 64;          ///< random poses by which eliminations are compared
constexpr std::uint64_t kSeed = 1;  ///< of these poses and of the changes of links

std::size_t at(int i, int width = 1) { return static_cast<std::size_t>(i) * static_cast<std::size_t>(width); }

/// In [-1, 1], by number.
double random_number(std::uint64_t index, std::uint32_t draw) {
  double u[2];
  uniform_pair<double>(kSeed, SampleIndex<double>::consecutive(index), draw, u[0], u[1]);
  return 2 * u[0] - 1;
}

/// X_{i-1,i} at q_i = 0.
Pose<double> link_pose(const JointForm<double>& j) {
  const double c = std::cos(j.theta), s = std::sin(j.theta);
  const Mat3<double> tilt = {{1, 0, 0, 0, j.cos_alpha, -j.sin_alpha, 0, j.sin_alpha, j.cos_alpha}};
  return {tilt * Mat3<double>{{c, -s, 0, s, c, 0, 0, 0, 1}}, tilt * vec3(j.a, j.b, j.d)};
}

/// Mean length of links and tool [m]; 1 of an arm without lengths.
double find_unit(const Robot& robot) {
  double sum = norm(robot.tool.p);
  for (const JointForm<double>& j : robot.form) sum += norm(link_pose(j).p);
  return sum > 0 ? sum / (robot.joints + 1) : 1;
}

/// Joints behind the tool that undo what a task leaves free.
std::vector<GeneralJoint> free_joints(ToolTask task) {
  const Vec3<double> x = {{1, 0, 0}}, y = {{0, 1, 0}}, z = {{0, 0, 1}};
  GeneralJoint first{.axis = x}, second{.axis = y}, third{.axis = z};
  switch (task) {
    case ToolTask::kPointAxis:
      return {third};
    case ToolTask::kPoint:
      // Not aligned with the orientation that the pose happens to have.
      first.placement.R = rotation_from_rpy(vec3(0.4, 0.9, -0.7));
      return {first, second, third};
    case ToolTask::kPlanar:
      third.link.joint.prismatic = true;
      return {first, second, third};
    case ToolTask::kPose:
      break;
  }
  return {};
}

Way make_way(const Robot& robot, const Roles& roles, double moved) {
  Way way{{}, robot.tool, find_unit(robot), moved, roles};
  way.tool.p = (1 / way.unit) * way.tool.p;
  for (int i = 0; i < kLoop; ++i) {
    Pose<double> link = link_pose(robot.form[at(i)]);
    if (i == 0) link = robot.base * link;
    link.p = (1 / way.unit) * link.p;
    if (moved > 0) {
      Vec3<double> turn, shift;
      for (int k = 0; k < 3; ++k) {
        turn[k] = moved * random_number(at(i), static_cast<std::uint32_t>(k));
        shift[k] = moved * random_number(at(i), static_cast<std::uint32_t>(3 + k));
      }
      link.R = link.R * rotation_from_rpy(turn);
      link.p = link.p + shift;
    }
    way.link[i] = link;
    way.theta[i] = {std::sin(robot.form[at(i)].theta), std::cos(robot.form[at(i)].theta)};
  }
  return way;
}

/// Where the axis of a joint behind `link` meets the z axis in front of it: height, and distance along the joint's
/// axis.
struct Crossing {
  double height, along;
  bool meets;
};
Crossing cross_z(const Pose<double>& link) {
  const Vec3<double> u = column(link.R, 2), p = link.p;
  const double across = u[0] * u[0] + u[1] * u[1];
  if (across < 1e-12) return {0, 0, false};
  const double t = -(p[0] * u[0] + p[1] * u[1]) / across;
  return {p[2] + t * u[2], t, std::hypot(p[0] + t * u[0], p[1] + t * u[1]) < 1e-12};
}

/// Whether an axis crosses the one before at a right angle, where d = 0.
bool is_right(const JointForm<double>& joint) { return joint.cos_alpha == 0 && std::hypot(joint.a, joint.b) < 1e-16; }

/// The closed form for a spherical wrist or shoulder, where the arm has one.
bool find_spherical_way(const Robot& robot, Way& way) {
  for (const int start : {0, 3}) {
    way = make_way(robot, {start, false}, 0);
    const auto link = [&](int role) { return way.link[way.roles.joint(role)]; };
    const auto slides = [&](int role) { return robot.joint[at(way.roles.joint(role))].prismatic; };
    if (slides(3) || slides(4) || slides(5) || slides(1)) continue;
    const Crossing five = cross_z(link(4)), six = cross_z(link(5));
    if (!five.meets || !six.meets || std::abs(six.height - five.along) > 1e-12) continue;
    const Mat3<double> R = link(1).R;
    const Vec3<double> p = link(1).p;
    const bool slide = slides(0);
    const Vec3<double> a = slide ? vec3(R(0, 0), R(0, 1), R(0, 2)) : transpose_times(R, p);
    const Vec3<double> b = slide ? vec3(R(1, 0), R(1, 1), R(1, 2)) : vec3(R(2, 0), R(2, 1), R(2, 2));
    way.method = branches::Method::kSpherical;
    way.point = {five.height, six.along};
    const JointForm<double>&fifth = robot.form[at(way.roles.joint(4))], &sixth = robot.form[at(way.roles.joint(5))];
    way.point.flips = is_right(fifth) && is_right(sixth) && std::abs(fifth.d) < 1e-16;
    if (std::abs(a[0] * b[1] - a[1] * b[0]) < 1e-9)
      way.point.placing = branches::Placing::kRankOne;
    else if (std::abs(link(2).R(2, 2)) > 1 - 1e-15 && !slides(0) && !slides(2))
      way.point.placing = branches::Placing::kLevel;
    return true;
  }
  return false;
}

/// The closed form for three parallel axes next to two that meet, where the arm has them.
bool find_parallel_way(const Robot& robot, Way& way) {
  if (std::any_of(robot.joint.begin(), robot.joint.end(), [](const Joint& j) { return j.prismatic; })) return false;
  for (const bool reversed : {false, true})
    for (int start = 0; start < kLoop; ++start) {
      way = make_way(robot, {start, reversed}, 0);
      // The link in front of role r, where no target is in it.
      const auto has_target = [&](int role) { return (start + role) % kLoop == 0; };
      const auto link = [&](int role) {
        const int k = (start + role) % kLoop;
        return reversed ? inverse(way.link[kLoop - k]) : way.link[k];
      };
      const auto parallel = [&](int role) { return !has_target(role) && std::abs(link(role).R(2, 2)) > 1 - 1e-15; };
      if (!parallel(1) || !parallel(2) || has_target(4)) continue;
      const Crossing five = cross_z(link(4));
      if (!five.meets) continue;
      way.method = branches::Method::kParallel;
      way.point = {five.height, five.along};
      return true;
    }
  return false;
}

int count_slides(const Robot& robot) {
  const auto slides = [](const Joint& j) { return j.prismatic; };
  return static_cast<int>(std::count_if(robot.joint.begin(), robot.joint.end(), slides));
}

/// Of two slides: an equation in each joint that turns.
bool make_two_slides(const Robot& robot, AllSolutionsOp& op) {
  if (count_slides(robot) != 2) return false;
  op.ways = 0;
  for (int start = 0; start < kLoop; ++start) {
    if (robot.joint[at(start)].prismatic) continue;
    op.way[op.ways] = make_way(robot, {start}, 0);
    op.way[op.ways++].method = branches::Method::kTwoSlides;
  }
  return true;
}

AllSolutionsOp make_op(const Robot& robot) {
  AllSolutionsOp op{};
  op.model = make_model<kLoop>(robot);
  op.rule.bend = bend_bound(robot, find_unit(robot));
  return op;
}

/// Ways of passing the loop in which no sliding joint has role 3 or 6.
std::vector<Roles> possible_roles(const Robot& robot) {
  std::vector<Roles> all;
  for (const bool reversed : {false, true})
    for (int start = 0; start < kLoop; ++start) {
      const Roles roles{start, reversed};
      if (!robot.joint[at(roles.joint(2))].prismatic && !robot.joint[at(roles.joint(5))].prismatic)
        all.push_back(roles);
    }
  return all;
}

struct Tries {
  std::vector<double> q, pose;
};
Tries random_tries(const Robot& robot) {
  Tries out;
  const double unit = find_unit(robot);
  for (int n = 0; n < kTries; ++n)
    for (int i = 0; i < kLoop; ++i) {
      const Joint& joint = robot.joint[at(i)];
      const double u = random_number(at(n), static_cast<std::uint32_t>(8 + i));
      const bool limited = std::isfinite(joint.lower) && std::isfinite(joint.upper);
      const double slide = limited ? 0.5 * (joint.lower + joint.upper + u * (joint.upper - joint.lower)) : unit * u;
      out.q.push_back(joint.prismatic ? slide : M_PI * u);
    }
  out.pose = evaluate(robot, StateView(kTries, out.q), Output::kPose, {}, {Executor::kLanes, 1, 0}).pose;
  return out;
}

/// How good one or two ways are: tries whose own joint values are among the solutions, solutions, and complete lists.
struct Score {
  int found = 0;
  double solutions = 0, complete = 0;
  [[nodiscard]] bool better_than(const Score& other) const {
    return std::tuple(found, std::round(solutions), complete) >
           std::tuple(other.found, std::round(other.solutions), other.complete);
  }
};

Score score(const Robot& robot, const AllSolutionsOp& op, const Tries& tries) {
  SolutionRows rows;
  run_all_solutions(op, tries.pose, {Executor::kLanes, 1, 0}, rows);
  Score out;
  for (int n = 0; n < kTries; ++n) {
    out.solutions += static_cast<double>(rows.count(at(n)));
    out.complete += rows.complete[at(n)];
    for (const Solution& one : rows.of(at(n))) {
      double apart = 0;
      for (int i = 0; i < kLoop; ++i) {
        const double by = one.q[i] - tries.q[at(n, kLoop) + at(i)];
        apart = std::max(apart, std::abs(robot.joint[at(i)].prismatic ? by : std::remainder(by, 2 * M_PI)));
      }
      if (apart < 1e-5) {
        ++out.found;
        break;
      }
    }
  }
  return out;
}

}  // namespace

bool find_closed_way(const Robot& robot, Way& way) {
  if (count_slides(robot) != 3) return find_spherical_way(robot, way) || find_parallel_way(robot, way);
  way = make_way(robot, {}, 0);
  way.method = branches::Method::kSliding;
  return true;
}

int task_coordinates(ToolTask task) { return kLoop - static_cast<int>(free_joints(task).size()); }

Robot extend_to_six(const Robot& robot, ToolTask task) {
  std::vector<GeneralJoint> joints;
  for (int i = 0; i < robot.joints; ++i)
    joints.push_back({.placement = link_pose(robot.form[at(i)]), .link = {.joint = robot.joint[at(i)]}});
  const double unit = find_unit(robot);
  for (int i = robot.joints; i < task_coordinates(task); ++i) {
    Vec3<double> turn, shift;
    for (int k = 0; k < 3; ++k) {
      turn[k] = 3 * random_number(at(i), static_cast<std::uint32_t>(k));
      shift[k] = unit * random_number(at(i), static_cast<std::uint32_t>(3 + k));
    }
    const Pose<double> place{rotation_from_rpy(turn), shift};
    joints.push_back({.placement = place, .after = inverse(place)});
  }
  for (const GeneralJoint& one : free_joints(task)) joints.push_back(one);
  joints[at(robot.joints)].placement = robot.tool * joints[at(robot.joints)].placement;
  return from_joints({.name = robot.name, .base = robot.base}, joints);
}

AllSolutionsOp prepare_all_solutions(const Robot& robot) {
  const std::vector<Roles> roles = possible_roles(robot);
  const Tries tries = random_tries(robot);
  AllSolutionsOp op = make_op(robot), best = op;
  op.ways = best.ways = 1;
  if (find_closed_way(robot, op.way[0]) && score(robot, op, tries).found == kTries) return op;
  if (make_two_slides(robot, op) && score(robot, op, tries).found >= kTries - 1) return op;
  op.ways = 1;
  Score most{-1};
  for (const double moved : {0.0, 1e-4, 1e-5}) {
    for (const Roles& one : roles) {
      op.way[0] = make_way(robot, one, moved);
      const Score now = score(robot, op, tries);
      if (now.better_than(most)) most = now, best = op;
    }
    // A general arm: its own equations find everything.
    if (most.found == kTries && most.complete > 0.5 * kTries) break;
  }
  if (most.found < kTries / 2)
    throw Error(
        ExitCode::kUsage, "all solutions: the equations of this arm cannot be eliminated",
        "Fix a joint that only turns the tool about an axis which the task leaves free (fixed = {joint: value}). "
        "inverse_kinematics() finds one solution for poses of any arm.");
  const double first = best.way[0].moved;
  const std::vector<double> sizes = first > 0 ? std::vector<double>{1e-4, 1e-5} : std::vector<double>{0};
  for (int next = 1; next < branches::kMostWays; ++next) {
    op = best;
    op.ways = next + 1;
    most = {-1};
    for (const double moved : sizes)
      for (const Roles& one : roles) {
        bool used = false;
        for (int k = 0; k < next; ++k) {
          const Way& other = op.way[k];
          used = used || (std::tuple(other.roles.start, other.roles.reversed, other.moved) ==
                          std::tuple(one.start, one.reversed, moved));
        }
        if (used) continue;
        op.way[next] = make_way(robot, one, moved);
        const Score now = score(robot, op, tries);
        if (now.better_than(most)) most = now, best = op;
      }
    if (first == 0 && (most.complete > 0.95 * kTries || next == 1)) break;
  }
  // Pairs of roots that are nearly double: other links part them, and each side gives a candidate.
  for (const double moved : {1e-4, 1e-3})
    if (first == 0) best.way[best.ways++] = make_way(robot, best.way[0].roles, moved);
  return best;
}

// That of the turn is the square of sum |dq|. That of the position is the Frobenius norm of bounds of d2p / dq_i dq_k,
// i <= k: r_k, which bounds the distance of the tool from axis k; 1 if k slides; 0 if i slides.
double bend_bound(const Robot& robot, double unit) {
  double reach = norm(robot.tool.p) / unit, squares = 0, turns = 0;
  for (int k = kLoop - 1; k >= 0; --k) {
    const bool slides = robot.joint[at(k)].prismatic;
    if (slides) reach += 1;
    const double most = slides ? 1 : reach;
    for (int i = 0; i <= k; ++i)
      if (!robot.joint[at(i)].prismatic) squares += (i == k ? 1 : 2) * most * most;
    turns += slides ? 0 : 1;
    reach += norm(link_pose(robot.form[at(k)]).p) / unit;
  }
  return std::hypot(std::sqrt(squares), turns);
}

AllSolutionsOp prepare_like(const Robot& robot, const AllSolutionsOp& other, double factor) {
  AllSolutionsOp op = make_op(robot);
  op.ways = other.ways;
  const branches::Method method = other.way[0].method;
  if (method == branches::Method::kTwoSlides && make_two_slides(robot, op)) return op;
  if (method != branches::Method::kElimination && find_closed_way(robot, op.way[0])) return op;
  for (int k = 0; k < op.ways; ++k) op.way[k] = make_way(robot, other.way[k].roles, factor * other.way[k].moved);
  return op;
}

}  // namespace garra::chain
