// Evaluates kinematics and dynamics at many states of one serial chain (`garra chain eval`), and
// its inverse kinematics.
// Takes: a Robot; q, qd, qdd, tau [n,j] and wrench [n,6] as the wanted outputs need; poses [n,16]
// for inverse kinematics.
// Gives: one array per output (shapes: Output) and one Status per state; for poses joint values,
// errors and success.
// Units and frames: SI, rad; world axes; wrenches (force; moment) at the tool point; Jacobian rows
// linear first; joints count from 0.
// Bad input: wrong sizes throw Error. evaluate(): a state with numbers that are not finite has
// kInvalidInput and NaN; a singular H has kNoSolution and NaN qdd. inverse_kinematics(): a pose not
// reached has success 0 and the best q.
// Not for: contacts, closed loops, inverse kinematics on a GPU, more than kMaxJoints (16) joints.
// Docs: docs/theory/chain.md, docs/reference/chain-files.md, docs/howto/gpu-arrays.md.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "garra/batch/device.hpp"
#include "garra/batch/resident.hpp"
#include "garra/chain.hpp"
#include "garra/core/status.hpp"

namespace garra::chain {

/// Output of evaluate(), in world axes. The tool point is the origin of the tool frame, or
/// EvalOptions::point.
enum class Output : int {
  kPose,                   ///< [n,4,4]   of the tool
  kLinkPoses,              ///< [n,j,4,4] of the link frames as described
  kJacobian,               ///< [n,6,j]   of the tool point; rows: EvalOptions::form
  kComJacobians,           ///< [n,j,6,j] of each link's center of mass, linear rows first, world axes
  kMassMatrix,             ///< [n,j,j]   H, rotor inertias included
  kCoriolisMatrix,         ///< [n,j,j]   C by Christoffel symbols, so that Hdot - 2 C is skew
  kBias,                   ///< [n,j]     C qd
  kGravity,                ///< [n,j]     g = dU/dq
  kDamping,                ///< [n,j]     b qd
  kInverseDynamics,        ///< [n,j]     tau = H qdd + C qd + b qd + g
  kForwardDynamics,        ///< [n,j]     qdd = H^-1 (tau - C qd - b qd - g)
  kManipulability,         ///< [n]       product of the singular values of the Jacobian
  kSmallestSingularValue,  ///< [n] of the Jacobian, meters and radians mixed
  kKineticEnergy,          ///< [n]       [J]
  kPotentialEnergy,        ///< [n]       [J], relative to all masses at the world origin
  kToolVelocity,           ///< [n,6]     J qd, without forming J
  kJointForce,             ///< [n,j]     J' f, without forming J
};
inline constexpr int kOutputCount = 17;

/// Name of an output as in files and on the command line: "mass_matrix".
[[nodiscard]] const char* to_string(Output output);
/// Output of this name. @throws Error kUsage for an unknown name, listing the outputs.
[[nodiscard]] Output parse_output(const std::string& name);
/// Shape of an output per state. In a chain with coupled joints j is the number of coordinates; the
/// first j of link_poses and com_jacobians is the number of links.
[[nodiscard]] std::vector<int> output_shape(Output output, int joints, int links);
[[nodiscard]] inline std::vector<int> output_shape(Output output, int joints) {
  return output_shape(output, joints, joints);
}
/// Numbers per state of an output.
[[nodiscard]] int output_size(Output output, int joints, int links);
[[nodiscard]] inline int output_size(Output output, int joints) { return output_size(output, joints, joints); }

/// Set of outputs.
class Outputs {
 public:
  Outputs() = default;
  Outputs(Output output) { add(output); }
  Outputs(std::initializer_list<Output> outputs) {
    for (const Output output : outputs) add(output);
  }
  void add(Output output) { bits_ |= bit(output); }
  [[nodiscard]] bool has(Output output) const { return (bits_ & bit(output)) != 0; }
  [[nodiscard]] bool empty() const { return bits_ == 0; }
  [[nodiscard]] static Outputs all();

 private:
  static std::uint32_t bit(Output output) { return std::uint32_t{1} << static_cast<int>(output); }
  std::uint32_t bits_ = 0;
};

/// Quantity of the chain that may differ from state to state, for tolerance studies.
enum class Quantity : int {
  kA,      ///< length of the kernel form (model.hpp), as `garra check` prints it [m]
  kD,      ///< offset of the kernel form [m]
  kAlpha,  ///< twist of the kernel form [rad]
  kTheta,  ///< constant of the joint variable [rad]
  kMass,   ///< of the link; center of mass stays, the inertia follows in proportion [kg]
  kComX,   ///< center of mass in the described link frame; the inertia about it stays [m]
  kComY,
  kComZ,
  kArmature,  ///< rotor inertia [kg m^2]
  kDamping,   ///< viscous [N m s/rad or N s/m]
  kSize,  ///< scale s of a geometrically similar link: lengths (a, b, d, center of mass) by s, mass by s^3, inertia by
          ///< s^5. Last joint: also the tool's position. Armature, damping and base stay
};
inline constexpr int kQuantityCount = 11;
[[nodiscard]] const char* to_string(Quantity quantity);
[[nodiscard]] Quantity parse_quantity(const std::string& name);

/// Operation that applies a value to a quantity.
enum class Change : int {
  kAdd,    ///< number + value; not for kMass of a link without mass, not for kSize
  kScale,  ///< number * value; not for the angles and the center of mass
};

/// One column of per-state values. Several columns of one joint act in their order.
struct Parameter {
  int joint = 0;  ///< from 0
  Quantity quantity = Quantity::kMass;
  Change change = Change::kScale;
  std::vector<double> value;  ///< [n]
};
inline constexpr int kMaxParameters = 64;

/// `count` states, row-major. Arrays that no wanted output needs may stay empty (needs()).
struct States {
  std::int64_t count = 0;
  std::vector<double> q;            ///< [n,j] rad or m
  std::vector<double> qd = {};      ///< [n,j]
  std::vector<double> qdd = {};     ///< [n,j] for kInverseDynamics
  std::vector<double> tau = {};     ///< [n,j] for kForwardDynamics
  std::vector<double> wrench = {};  ///< [n,6] on the tool point, force first, world axes: for kJointForce
  std::vector<Parameter> parameters = {};
};

/// View of the caller's arrays, with the shapes of States. Nothing is copied; the arrays must
/// outlive the view.
struct StateView {
  using Array = std::span<const double>;
  std::int64_t count = 0;
  Array q, qd, qdd, tau, wrench;
  std::span<const Parameter> parameters;

  StateView() = default;
  StateView(std::int64_t n, Array q_, Array qd_ = {}, Array qdd_ = {}, Array tau_ = {}, Array wrench_ = {},
            std::span<const Parameter> p = {})
      : count(n), q(q_), qd(qd_), qdd(qdd_), tau(tau_), wrench(wrench_), parameters(p) {}
  StateView(const States& s) : StateView(s.count, s.q, s.qd, s.qdd, s.tau, s.wrench, s.parameters) {}
};

/// Inputs that an output reads besides q.
struct Needs {
  bool qd = false, qdd = false, tau = false, wrench = false;
};
[[nodiscard]] Needs needs(Output output);

/// Row order and reference of the Jacobian.
enum class JacobianForm : int {
  kLinearFirst,   ///< velocity of the tool point, then angular velocity
  kAngularFirst,  ///< angular velocity, then velocity of the tool point
  kScrews,        ///< the joints' screws about the world's origin: direction; moment. World axes, `point` unused
};

/// Options of evaluate().
struct EvalOptions {
  JacobianForm form = JacobianForm::kLinearFirst;  ///< of kJacobian
  bool body_axes = false;            ///< kJacobian, kToolVelocity: in the axes of the tool, not of the world
  Vec3<double> point = {{0, 0, 0}};  ///< the tool point in the tool frame [m]
};

/// Results of evaluate(), one array per output. Outputs that are not wanted are empty.
struct Results {
  int joints = 0;  ///< number of joints, or of coordinates if joints are coupled
  int links = 0;
  std::int64_t count = 0;
  std::vector<double> pose, link_poses, jacobian, com_jacobians, mass_matrix, coriolis_matrix, bias, gravity, damping,
      tau, qdd, manipulability, smallest_singular_value, kinetic_energy, potential_energy, tool_velocity, joint_force;
  /// kConverged; kInvalidInput: a number of the state is not finite, outputs are NaN; kNoSolution:
  /// H is singular, qdd is NaN (only with kForwardDynamics)
  std::vector<Status> status;

  [[nodiscard]] std::vector<double>& operator[](Output output);
  [[nodiscard]] const std::vector<double>& operator[](Output output) const;
};

/// Options and device of an evaluation.
struct EvalPlace {
  EvalOptions options = {};
  Device device = {};
};

/// Evaluates every state. With coupled joints (Robot::coupled), states and results are those of
/// coordinates(robot); parameters are those of joints.
/// @param states q [n,j] in rad or m and the inputs that the outputs need (needs()); wrench [n,6]
///         (force; moment).
/// @param wanted outputs to compute.
/// @return one array per output (shapes: Output) and one Status per state. A bad state does not
///         affect others.
/// @throws Error kInvalidFile for sizes, missing arrays and parameters, kUsage for the robot,
///         kNoDevice if the device cannot run.
[[nodiscard]] Results evaluate(const Robot& robot, const StateView& states, const Outputs& wanted,
                               const EvalOptions& options = {}, const Device& device = {});
/// Same, into `out`, whose memory is reused: for successive batches of about the same size.
void evaluate(const Robot& robot, const StateView& states, const Outputs& wanted, const EvalPlace& place, Results& out);

// States in GPU memory, without copies to the host (docs/howto/gpu-arrays.md). Results have the
// bits of evaluate().

/// Parameter in GPU memory, as Parameter.
struct DeviceParameter {
  int joint = 0;  ///< from 0
  Quantity quantity = Quantity::kMass;
  Change change = Change::kScale;
  DeviceArray<const double> value = {};  ///< [count][1]
};

/// States in GPU memory, as States. Arrays that no wanted output needs may be null.
struct DeviceStates {
  std::int64_t count = 0;
  DeviceArray<const double> q;            ///< [count][j]
  DeviceArray<const double> qd = {};      ///< [count][j]
  DeviceArray<const double> qdd = {};     ///< [count][j]
  DeviceArray<const double> tau = {};     ///< [count][j]
  DeviceArray<const double> wrench = {};  ///< [count][6]
  std::vector<DeviceParameter> parameters = {};
};

/// Results in GPU memory, as Results. Null arrays are not computed.
struct DeviceResults {
  std::array<DeviceArray<double>, kOutputCount> output = {};  ///< of each Output [count][output_size()]
  DeviceArray<Status> status = {};

  [[nodiscard]] DeviceArray<double>& operator[](Output one) { return output[static_cast<std::size_t>(one)]; }
  [[nodiscard]] const DeviceArray<double>& operator[](Output one) const {
    return output[static_cast<std::size_t>(one)];
  }
};

/// Options and call of an evaluation on GPU arrays.
struct DevicePlace {
  EvalOptions options = {};
  DeviceCall call = {};
};

/// Queues evaluate() on GPU arrays.
/// @throws Error for a null array that a wanted output needs, a small workspace, or a CUDA error.
void evaluate(const Robot& robot, const DeviceStates& states, const DevicePlace& place, const DeviceResults& to);
/// @return bytes of workspace for this call. Runs nothing.
[[nodiscard]] std::size_t workspace_bytes(const Robot& robot, const DeviceStates& states, const DevicePlace& place,
                                          const DeviceResults& to);

// Inverse kinematics: joint values for poses of the tool, within the joint limits.

/// Options of inverse_kinematics().
struct InverseKinematicsOptions {
  double tolerance = 1e-10;    ///< success: norm of the pose error <= tolerance [m and rad]
  int steps = 48;              ///< largest number of steps of a search
  int starts = 40;             ///< largest number of searches per pose; all but the first start at random
  std::uint64_t seed = 1;      ///< of the random starts, uniform within the limits; without limits +-pi or +-0.5 m
  bool position_only = false;  ///< the orientation is free; rotation_error is 0
};

/// Result of the first successful search of each pose, or of the search with the smallest error.
struct InverseKinematics {
  std::vector<double> q;                               ///< [n,j] of coordinates(), within the limits [rad or m]
  std::vector<double> position_error, rotation_error;  ///< [n] pose error [m], [rad]
  std::vector<std::uint8_t> success;                   ///< [n]
  std::vector<std::int32_t> steps;                     ///< [n] steps of all searches
};

/// Finds joint values for poses of the tool, on the CPU.
/// @param pose homogeneous matrices of the tool in the world [n,16], row-major.
/// @param q0 initial guess of the first searches [n,j] in rad or m; empty: the middle of the
///         limits, or without limits 0.
/// @return joint values and pose errors. A pose with NaN: q is NaN and the errors are infinite.
/// @throws Error kUsage for sizes or a matrix that is no rotation (with its index), kNoDevice for a
///         GPU.
[[nodiscard]] InverseKinematics inverse_kinematics(const Robot& robot, std::span<const double> pose,
                                                   std::span<const double> q0,
                                                   const InverseKinematicsOptions& options = {},
                                                   const Device& device = {});

}  // namespace garra::chain
