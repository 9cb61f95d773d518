// Kinematics and dynamics of many states of one serial chain, and joint values for many poses, from plain arrays: the
// entry for C++ users and for `garra chain eval`. The formulas: docs/theory/chain.md; the files:
// docs/reference/chain-files.md.
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

/// What evaluate() can compute. World axes; the tool point is the origin of the tool frame, or EvalOptions::point.
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
  kSmallestSingularValue,  ///< [n] of the Jacobian, metres and radians mixed
  kKineticEnergy,          ///< [n]
  kPotentialEnergy,        ///< [n]       0 where every center of mass is at the world's origin
  kToolVelocity,           ///< [n,6]     J qd, without forming J
  kJointForce,             ///< [n,j]     J' f, without forming J
};
inline constexpr int kOutputCount = 17;

/// Name of an output as in files and on the command line: "mass_matrix".
[[nodiscard]] const char* to_string(Output output);
/// Throws Error(kUsage) naming the outputs there are.
[[nodiscard]] Output parse_output(const std::string& name);
/// Its shape behind the first axis, which counts the states. Of a chain with coupled joints j counts its coordinates,
/// but for the first j of link_poses and com_jacobians, which counts its links.
[[nodiscard]] std::vector<int> shape_of(Output output, int joints, int links);
[[nodiscard]] inline std::vector<int> shape_of(Output output, int joints) { return shape_of(output, joints, joints); }
/// Numbers per state.
[[nodiscard]] int size_of(Output output, int joints, int links);
[[nodiscard]] inline int size_of(Output output, int joints) { return size_of(output, joints, joints); }

/// A set of outputs.
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

/// A number of the chain that differs from state to state: tolerance studies.
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
  kSize,  ///< factor of a similar body: a, d and all lengths of the link s, its mass s^3, its inertia s^5; of the last
          ///< joint also where the tool is. Armature, damping and base stay
};
inline constexpr int kQuantityCount = 11;
[[nodiscard]] const char* to_string(Quantity quantity);
[[nodiscard]] Quantity parse_quantity(const std::string& name);

enum class Change : int {
  kAdd,    ///< number + value; not for kMass of a link without mass, not for kSize
  kScale,  ///< number * value; not for the angles and the center of mass
};

/// One column of per-state numbers; several of one joint act in their order.
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

/// The same where the caller has them: nothing is copied. Valid as long as these arrays are.
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

/// What an output reads besides q.
struct Needs {
  bool qd = false, qdd = false, tau = false, wrench = false;
};
[[nodiscard]] Needs needs(Output output);

enum class JacobianForm : int {
  kLinearFirst,   ///< velocity of the tool point, then angular velocity
  kAngularFirst,  ///< angular velocity, then velocity of the tool point
  kScrews,        ///< the joints' screws about the world's origin: direction; moment. World axes, `point` unused
};

struct EvalOptions {
  JacobianForm form = JacobianForm::kLinearFirst;  ///< of kJacobian
  bool body_axes = false;            ///< kJacobian, kToolVelocity: in the axes of the tool, not of the world
  Vec3<double> point = {{0, 0, 0}};  ///< the tool point in the tool frame [m]
};

/// Arrays of the outputs that were asked for; the others are empty.
struct Results {
  int joints = 0;  ///< coordinates, where joints are coupled
  int links = 0;
  std::int64_t count = 0;
  std::vector<double> pose, link_poses, jacobian, com_jacobians, mass_matrix, coriolis_matrix, bias, gravity, damping,
      tau, qdd, manipulability, smallest_singular_value, kinetic_energy, potential_energy, tool_velocity, joint_force;
  /// converged; invalid_input: a number of this state is not finite, its outputs are NaN; no_solution: H is singular,
  /// qdd is NaN (only where kForwardDynamics is asked for)
  std::vector<Status> status;

  [[nodiscard]] std::vector<double>& operator[](Output output);
  [[nodiscard]] const std::vector<double>& operator[](Output output) const;
};

/// How and where.
struct EvalPlace {
  EvalOptions options = {};
  Device device = {};
};

/// Evaluates every state. Where joints are coupled (Robot::coupled), states and results are those of
/// coordinates(robot), j their number; parameters are those of joints. A bad state is a status, never an exception, and
/// touches no other. Throws Error where arrays are missing or have wrong sizes, or the device cannot run.
[[nodiscard]] Results evaluate(const Robot& robot, const StateView& states, const Outputs& wanted,
                               const EvalOptions& options = {}, const Device& device = {});
/// The same into `out`, whose memory is used again: for batches of about the same size, one after another.
void evaluate(const Robot& robot, const StateView& states, const Outputs& wanted, const EvalPlace& place, Results& out);

// States that are on the GPU already: nothing is copied to the host and back (docs/howto/gpu-arrays.md). The numbers
// are those of evaluate() above, to the bit.

/// As Parameter.
struct DeviceParameter {
  int joint = 0;  ///< from 0
  Quantity quantity = Quantity::kMass;
  Change change = Change::kScale;
  DeviceArray<const double> value = {};  ///< [count][1]
};

/// As States. Arrays that no wanted output needs may be null.
struct DeviceStates {
  std::int64_t count = 0;
  DeviceArray<const double> q;            ///< [count][j]
  DeviceArray<const double> qd = {};      ///< [count][j]
  DeviceArray<const double> qdd = {};     ///< [count][j]
  DeviceArray<const double> tau = {};     ///< [count][j]
  DeviceArray<const double> wrench = {};  ///< [count][6]
  std::vector<DeviceParameter> parameters = {};
};

/// As Results. What is null is not wanted, and not computed.
struct DeviceResults {
  std::array<DeviceArray<double>, kOutputCount> output = {};  ///< of each Output [count][size_of()]
  DeviceArray<Status> status = {};

  [[nodiscard]] DeviceArray<double>& operator[](Output one) { return output[static_cast<std::size_t>(one)]; }
  [[nodiscard]] const DeviceArray<double>& operator[](Output one) const {
    return output[static_cast<std::size_t>(one)];
  }
};

/// How and where.
struct DevicePlace {
  EvalOptions options = {};
  DeviceCall call = {};
};

/// The same on arrays of the device. Throws Error where an array that a wanted output needs is null, the workspace is
/// too small, or CUDA refuses.
void evaluate(const Robot& robot, const DeviceStates& states, const DevicePlace& place, const DeviceResults& to);
/// Bytes of workspace that this call takes. Runs nothing.
[[nodiscard]] std::size_t workspace_bytes(const Robot& robot, const DeviceStates& states, const DevicePlace& place,
                                          const DeviceResults& to);

// Inverse kinematics: joint values for poses of the tool, within the joint limits.

struct InverseKinematicsOptions {
  double tol = 1e-10;          ///< success: length of what is missing <= tol [m and rad]
  int steps = 48;              ///< of each search, at most
  int starts = 40;             ///< searches for each pose, at most; all but the first start at random
  std::uint64_t seed = 1;      ///< of these
  bool position_only = false;  ///< the tool may turn as it likes; rotation_error is 0
};

/// Of the best search for each pose: the first that arrives, else the one that ends nearest.
struct InverseKinematics {
  std::vector<double> q;                               ///< [n,j] of coordinates(), within the limits [rad or m]
  std::vector<double> position_error, rotation_error;  ///< [n] what is missing to the pose [m], [rad]
  std::vector<std::uint8_t> success;                   ///< [n]
  std::vector<std::int32_t> steps;                     ///< [n] of all its searches
};

/// `pose`: [n,16], homogeneous matrices of the tool in the world; `q0`: [n,j], where first searches start; empty: in
/// the middle of the limits. Throws Error(kUsage) naming the pose whose matrix is no rotation. A pose with a NaN has no
/// answer: q is NaN, errors are infinite.
[[nodiscard]] InverseKinematics inverse_kinematics(const Robot& robot, std::span<const double> pose,
                                                   std::span<const double> q0,
                                                   const InverseKinematicsOptions& options = {},
                                                   const Device& device = {});

}  // namespace garra::chain
