// The kernels recorded, for any number of joints by one instance.
#include "chain/generate/record.hpp"

#include "chain/branches/ways.hpp"
#include "chain/eval/evaluate_kernel.hpp"
#include "chain/generate/regroup.hpp"
#include "garra/systems/chain/derivatives.hpp"
#include "garra/systems/chain/determinant.hpp"
#include "garra/systems/chain/kernels.hpp"

namespace garra::chain {
namespace {

using symbolic::Graph;
using symbolic::Symbol;

std::string at(const std::string& array, int i) { return array + "[" + std::to_string(i) + "]"; }
std::string at(const std::string& array, int i, int j) {
  return array + "(" + std::to_string(i) + ", " + std::to_string(j) + ")";
}

/// Records the kernels of one robot.
struct Recorder {
  static constexpr int J = kAnyJoints;
  Graph& graph;
  int joints;
  Model<double, J> model, regrouped;  ///< as described; with moments handed down for dynamics
  Angles<Symbol, J> x;                ///< inputs of joints that turn, numbers of those that slide
  std::vector<Target> targets = {};

  // Kinematics needs the links as they are described; only dynamics may move their parameters.
  Recorder(Graph& g, const Robot& robot)
      : graph(g),
        joints(robot.joints),
        model(make_source<SharedModel<J, Joints::kMixed>>(robot).model),
        regrouped(model) {
    regroup(regrouped);
    for (int i = 0; i < joints; ++i) {
      double c, s;
      exact_cos_sin(model.joint[i].theta, c, s);
      // A sliding joint's angle is a number, so it folds; its way is the input.
      const bool slides = model.prismatic[i];
      x.cos[i] = slides ? Symbol(c) : g.input(at("x.cos", i));
      x.sin[i] = slides ? Symbol(s) : g.input(at("x.sin", i));
      // cos^2 + sin^2 = 1 may be folded.
      if (!slides) g.set_unit(x.cos[i], x.sin[i]);
      x.slide[i] = slides ? g.input(at("x.slide", i)) : Symbol(0);
    }
  }

  /// One input per joint: name[0], name[1], ...
  [[nodiscard]] Vec<Symbol, J> inputs(const std::string& name) {
    Vec<Symbol, J> v;
    for (int i = 0; i < joints; ++i) v[i] = graph.input(at(name, i));
    return v;
  }
  void give(const std::string& place, const Symbol& value) { targets.push_back({place, value}); }
  void give(const std::string& place, const Vec<Symbol, J>& v) {
    for (int i = 0; i < joints; ++i) give(at(place, i), v[i]);
  }
  void give(const std::string& place, const Mat<Symbol, 6, J>& jac) {
    for (int j = 0; j < joints; ++j)
      for (int i = 0; i < 6; ++i) give(at(place, i, j), jac(i, j));
  }
  void give(const std::string& place, const Pose<Symbol>& pose) {
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) give(at(place + ".R", i, j), pose.R(i, j));
    for (int i = 0; i < 3; ++i) give(at(place + ".p", i), pose.p[i]);
  }

  [[nodiscard]] Mat<Symbol, 6, J> tool_jacobian() const { return jacobian(model, frames(model, x)); }
  /// Of six joints a determinant, in the way's frame and order; else Gram-Schmidt.
  [[nodiscard]] Symbol volume(int way) const {
    if (joints == 6) return abs(expanded_determinant(model, x, expansion(way)));
    return manipulability(tool_jacobian());
  }

  /// Way 0: composite bodies, eliminated from the tip, where the inertia is constant in many arms. 1: from the base,
  /// 2: articulated bodies.
  [[nodiscard]] Vec<Symbol, J> accelerations(const Vec<Symbol, J>& qd, const Vec<Symbol, J>& tau, int way) const {
    if (way == 1) return forward_dynamics_composite(regrouped, x, qd, tau);
    if (way == 2) return forward_dynamics_articulated(regrouped, x, qd, tau);
    return solve_from_tip(inertia_matrix(regrouped, x), tau - bias_torque(regrouped, x, qd));
  }
  /// H y = b. H of the outermost joints is constant in many arms: eliminated first, its pivots fold to numbers.
  [[nodiscard]] Vec<Symbol, J> solve_from_tip(const Mat<Symbol, J, J>& H, const Vec<Symbol, J>& b) const {
    Mat<Symbol, J, J> from_tip;
    Vec<Symbol, J> right, out;
    for (int i = 0; i < joints; ++i) {
      right[i] = b[joints - 1 - i];
      for (int j = 0; j < joints; ++j) from_tip(i, j) = H(joints - 1 - i, joints - 1 - j);
    }
    const Vec<Symbol, J> y = kernel::solve_definite(from_tip, right);
    for (int i = 0; i < joints; ++i) out[i] = y[joints - 1 - i];
    return out;
  }

  /// Both triangles from one.
  void give_inertia(const Mat<Symbol, J, J>& H) {
    for (int i = 0; i < joints; ++i)
      // One triangle is recorded, the other one is the same results again.
      for (int j = 0; j <= i; ++j) {
        give(at("out", i, j), H(i, j));
        if (j < i) give(at("out", j, i), H(i, j));
      }
  }
  void give_derivatives(const TorqueDerivatives<Symbol, J>& of) {
    for (int i = 0; i < joints; ++i)
      for (int j = 0; j < joints; ++j) {
        give(at("out.by_q", i, j), of.by_q(i, j));
        give(at("out.by_qd", i, j), of.by_qd(i, j));
        give(at("out.by_qdd", i, j), of.by_qdd(i, j));
      }
  }
  /// Those of the torque at the same acceleration, times -1/H.
  void give_acceleration_derivatives(const Vec<Symbol, J>& qd, const Vec<Symbol, J>& tau) {
    const Mat<Symbol, J, J> H = inertia_matrix(regrouped, x);
    const Vec<Symbol, J> qdd = solve_from_tip(H, tau - bias_torque(regrouped, x, qd));
    TorqueDerivatives<Symbol, J> of;
    torque_derivatives(regrouped, x, qd, qdd, of);
    Mat<Symbol, J, J> inverse;
    for (int j = 0; j < joints; ++j) {
      const Vec<Symbol, J> column = solve_from_tip(H, basis(j));
      for (int i = 0; i <= j; ++i) inverse(i, j) = inverse(j, i) = column[i];
    }
    const Mat<Symbol, J, J> by_q = -(inverse * of.by_q), by_qd = -(inverse * of.by_qd);
    give("out.qdd", qdd);
    for (int i = 0; i < joints; ++i)
      for (int j = 0; j < joints; ++j) {
        give(at("out.by_q", i, j), by_q(i, j));
        give(at("out.by_qd", i, j), by_qd(i, j));
        give(at("out.by_tau", i, j), inverse(i, j));
      }
  }
  [[nodiscard]] Vec<Symbol, J> basis(int j) const {
    Vec<Symbol, J> out;
    for (int i = 0; i < joints; ++i) out[i] = Symbol(i == j ? 1 : 0);
    return out;
  }
  void give_frames(const Frames<Symbol, J>& k) {
    for (int i = 0; i < joints; ++i) give(at("out.frame", i), k.frame[i]);
    give("out.tool", k.tool);
  }

  void kinematics(Operation operation, int way) {
    if (operation == Operation::kToolPose) give("out", frames(model, x).tool);
    if (operation == Operation::kFrames) give_frames(frames(model, x));
    if (operation == Operation::kJacobian) give("out", tool_jacobian());
    if (operation == Operation::kManipulability) give("out", volume(way));
    if (operation == Operation::kJacobianManipulability) {
      give("out.jacobian", tool_jacobian());
      give("out.manipulability", volume(way));
    }
  }
  void dynamics(Operation operation, int way) {
    // Its angle acts on nothing, so any will do.
    if (is_last_symmetric(regrouped)) x.cos[joints - 1] = 1, x.sin[joints - 1] = 0;
    if (operation == Operation::kGravityTorque) give("out", gravity_torque(regrouped, x));
    if (operation == Operation::kInertiaMatrix) give_inertia(inertia_matrix(regrouped, x));
    if (operation == Operation::kGravityTorque || operation == Operation::kInertiaMatrix) return;
    const auto qd = inputs("qd");
    if (operation == Operation::kInverseDynamics) give("out", inverse_dynamics(regrouped, x, qd, inputs("qdd")));
    if (operation == Operation::kBiasTorque) give("out", bias_torque(regrouped, x, qd));
    if (operation == Operation::kCoriolisTorque) give("out", coriolis_torque(regrouped, x, qd));
    if (operation == Operation::kForwardDynamics) give("out", accelerations(qd, inputs("tau"), way));
    if (operation == Operation::kInverseDynamicsDerivatives) {
      TorqueDerivatives<Symbol, J> of;
      torque_derivatives(regrouped, x, qd, inputs("qdd"), of);
      give_derivatives(of);
    }
    if (operation == Operation::kForwardDynamicsDerivatives) give_acceleration_derivatives(qd, inputs("tau"));
    if (operation == Operation::kEnergy) {
      const Energy<Symbol> e = energy(regrouped, x, qd);
      give("out.kinetic", e.kinetic);
      give("out.potential", e.potential);
    }
  }
};

/// Closed form whose candidates have no test for real roots of a quartic equation.
bool find_recorded_way(const Robot& robot, branches::Way& way) {
  if (robot.joints != branches::kLoop || !robot.coupled.empty() || !find_closed_way(robot, way)) return false;
  return way.method == branches::Method::kParallel || way.method == branches::Method::kSliding ||
         (way.method == branches::Method::kSpherical && way.point.placing != branches::Placing::kQuartic);
}

std::vector<Target> record_inverse_kinematics(Graph& graph, const Robot& robot) {
  branches::Way way;
  if (!find_recorded_way(robot, way)) throw Error(ExitCode::kInternal, "no closed form");
  Pose<Symbol> target;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) target.R(i, j) = graph.input(at("pose.R", i, j));
    target.p[i] = graph.input(at("pose.p", i));
  }
  bool slides[branches::kLoop];
  for (int i = 0; i < branches::kLoop; ++i) slides[i] = robot.joint[static_cast<std::size_t>(i)].prismatic;
  branches::Loop<Symbol> loop;
  branches::kernel::fill_loop(way, slides, target, loop);
  branches::ClosedCandidates<Symbol> found;
  branches::kernel::find_closed(loop, way, found, true);
  std::vector<Target> out;
  for (int k = 0; k < branches::kClosed; ++k) {
    out.push_back({at("out.exists", k), found.exists[k]});
    for (int role = 0; role < branches::kLoop; ++role) {
      const int i = way.roles.joint(role);
      const branches::kernel::JointValue<Symbol>& z = found.z[k][role];
      const Symbol sign(way.roles.reversed ? -1 : 1);
      const std::string row = "[" + std::to_string(k) + "]";
      if (slides[i]) {
        out.push_back({at("out.q" + row, i), sign * Symbol(way.unit) * z.slide});
      } else {
        out.push_back({at("c" + row, i), z.cos});
        out.push_back({at("s" + row, i), sign * z.sin});
      }
    }
  }
  return out;
}

}  // namespace

int find_weightless_joint(const Robot& robot) {
  constexpr double kRounding = 1e-12;  // of a pivot that is 0 but for rounding, by the moment of inertia
  const JointsInUse all(robot.joints);
  Model<double, kAnyJoints> model = make_source<SharedModel<kAnyJoints, Joints::kMixed>>(robot).model;
  regroup(model);
  Vec<double, kAnyJoints> q;
  for (int i = 0; i < robot.joints; ++i) q[i] = 0.7 + 0.4 * i;  // no special posture
  const Mat<double, kAnyJoints, kAnyJoints> H = inertia_matrix(model, angles(model, q));
  Mat<double, kAnyJoints, kAnyJoints> left = H;
  for (int k = robot.joints - 1; k >= 0; --k) {
    if (!(left(k, k) > kRounding * H(k, k))) return k;
    for (int i = 0; i < k; ++i)
      for (int j = 0; j < k; ++j) left(i, j) -= left(i, k) * left(k, j) / left(k, k);
  }
  return -1;
}

bool has_operation(const Robot& robot, Operation operation) {
  if (operation == Operation::kForwardDynamics || operation == Operation::kForwardDynamicsDerivatives)
    return find_weightless_joint(robot) < 0;
  branches::Way way;
  return operation != Operation::kInverseKinematics || find_recorded_way(robot, way);
}

int ways(Operation operation, int joints) {
  // Three eliminations, Recorder::accelerations().
  if (operation == Operation::kForwardDynamics) return 3;
  const bool has_volume = operation == Operation::kManipulability || operation == Operation::kJacobianManipulability;
  return has_volume && joints == 6 ? kExpansions : 1;
}

std::vector<Target> record(Graph& graph, const Robot& robot, Operation operation, int way) {
  const JointsInUse all(robot.joints);
  if (operation == Operation::kInverseKinematics) return record_inverse_kinematics(graph, robot);
  Recorder run(graph, robot);
  if (operation <= Operation::kJacobianManipulability)
    run.kinematics(operation, way);
  else
    run.dynamics(operation, way);
  return run.targets;
}

}  // namespace garra::chain
