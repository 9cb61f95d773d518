// Simulates many samples of one serial chain, q'' = H^-1 (tau(t, q, qd) + J' f - C qd - g - D(qd))
// (`garra chain simulate`), with f a force on the tool.
// Takes: a Robot, initial q and qd [n,j], damping, a torque law, and options.
// Gives: q, qd [n,t,j], tip [n,t,3] and energies [n,t] at output times; totals and a
// SimulationStatus per sample. joint_rates(): the rates [n,j] of tool twists [n,6].
// Units and frames: SI, rad; world axes; joints and samples count from 0; arrays are row-major.
// Bad input: wrong sizes and options throw Error. A sample that fails has a SimulationStatus and
// NaN at times not reached.
// Coupled joints (helical ones, too): j counts coordinates, arrays on the host only.
// Not for: contacts of links, flexible joints. kRk4 is unstable at strong damping.
// Docs: docs/theory/chain-simulation.md (methods, errors, limits), docs/howto/gpu-arrays.md.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "garra/batch/device.hpp"
#include "garra/chain.hpp"
#include "garra/chain_eval.hpp"
#include "garra/core/names.hpp"
#include "garra/systems/chain/rates.hpp"
#include "garra/systems/chain/simulate_adaptive.hpp"

namespace garra::chain {

/// Integration method.
enum class Integrator : int {
  kRk4,        ///< order 4, explicit: stable if step <= 2.7 / (largest eigenvalue of H^-1 D)
  kDopri5,     ///< order 5(4), explicit, adaptive steps
  kImplicit1,  ///< order 1, damping implicit: stable at any damping
  kImplicit2,  ///< order 2, damping implicit: stable at any damping
};
[[nodiscard]] constexpr auto names_of(Integrator) { return names("rk4", "dopri5", "implicit1", "implicit"); }
[[nodiscard]] const char* to_string(Integrator method);
[[nodiscard]] Integrator parse_integrator(const std::string& name);

/// "completed", "non_finite", "step_limit", "joint_limit", "invalid_input".
[[nodiscard]] const char* to_string(SimulationStatus status);

/// Torque-speed line of electric motors with their gears: |tau + stall qd / no_load| <= stall. A motor that is driven
/// faster than its no-load speed brakes.
struct MotorInput {
  std::vector<double> stall_torque = {}, no_load_speed = {};  ///< at the rated voltage; empty: none [N m], [rad/s]
  double voltage = 0, rated_voltage = 0;  ///< both numbers grow with voltage / rated_voltage; 0: the rated one [V]
  std::string source = {};                ///< where the numbers stand

  [[nodiscard]] double drive() const { return voltage > 0 && rated_voltage > 0 ? voltage / rated_voltage : 1; }
};

/// Joint torque input. A vector holds one number per joint, or one for all joints. An empty vector
/// means 0; an empty amplitude means 1 for feedback laws and kSampled.
struct TorqueInput {
  TorqueKind kind = TorqueKind::kConstant;
  std::vector<double> amplitude = {};              ///< [N m or N]; factor of a feedback law
  double start = 0, end = 0;                       ///< step, ramp: 0 before start, amplitude after start, end [s]
  std::vector<double> frequency = {}, phase = {};  ///< of a sine [Hz, rad]
  std::vector<double> points = {};                 ///< [k,j] torques at 0, interval, ...: linear, then constant
  double interval = 0;                             ///< [s]
  std::vector<double> set_point = {}, kp = {}, kd = {};
  bool compensate_gravity = false;  ///< kPd only; computed torque always does
  std::vector<double> limit = {};   ///< largest |tau| [N m or N]; empty: none
  MotorInput motor = {};
  std::vector<std::string> expression = {};  ///< kExpression, per joint or one for all: compile_formula()
};

/// Force on the tool point, the same for all samples.
struct ToolForceInput {
  ToolForceKind kind = ToolForceKind::kNone;
  Vec3<double> force = {{0, 0, 0}}, moment = {{0, 0, 0}};  ///< kConstant: world axes [N], about the tool point [N m]
  std::vector<double> points = {};                         ///< kSampled [k,6] at 0, interval, ...: (force; moment)
  double interval = 0;                                     ///< [s]
  Vec3<double> place = {{0, 0, 0}};   ///< a point of the wall; the anchor of the spring, world axes [m]
  Vec3<double> normal = {{0, 0, 1}};  ///< of the wall, out of it; any length but 0
  double stiffness = 0, damping = 0;  ///< [N/m], [N s/m]
  double play = 0;                    ///< of the spring: no force within this distance [m]
};
[[nodiscard]] constexpr auto names_of(ToolForceKind) { return names("none", "constant", "sampled", "wall", "spring"); }

/// Dry friction per joint, or one number for all: -level(qd) qd / sqrt(qd^2 + smooth^2), where the level falls from
/// `breakaway` to `coulomb` as exp(-(qd / stribeck)^2). Viscous damping is Samples::damping.
struct FrictionInput {
  std::vector<double> coulomb = {};    ///< [N m or N]; empty: 0
  std::vector<double> breakaway = {};  ///< [N m or N]; empty: `coulomb`
  std::vector<double> stribeck = {};   ///< [rad/s or m/s]; empty: 0.1
  std::vector<double> smooth = {};     ///< [rad/s or m/s]; empty: 1e-3
};

/// Compiles a formula of a joint's torque: numbers, pi, t, q0, q1, ..., qd0, ..., + - * / ^ (integer powers), sin, cos,
/// exp, sqrt, abs, step (1 where its argument is >= 0), min, max.
/// @return steps of formula.hpp without their end.
/// @throws Error kUsage that names the place.
[[nodiscard]] std::vector<double> compile_formula(const std::string& text, int joints);
[[nodiscard]] constexpr auto names_of(TorqueKind) {
  return names("constant", "step", "ramp", "sine", "sampled", "pd", "computed", "expression");
}
[[nodiscard]] const char* to_string(TorqueKind kind);
[[nodiscard]] TorqueKind parse_torque_kind(const std::string& name);

/// Treatment of joint position limits.
enum class LimitRule : int {
  kIgnore,  ///< joints turn freely
  kFinish,  ///< the sample ends with the status joint_limit
  kStop,    ///< inelastic stops at Joint::lower and Joint::upper
};
[[nodiscard]] constexpr auto names_of(LimitRule) { return names("ignore", "finish", "stop"); }

/// Options of simulate().
struct SimulateOptions {
  Integrator method = Integrator::kImplicit2;
  double step = 1e-3;                   ///< of the methods with fixed steps; shortened to meet outputs and jumps [s]
  double duration = 1;                  ///< [s]
  std::vector<double> times = {};       ///< output times, ascending in [0, duration]; empty: only the end [s]
  Tolerance tolerance = {1e-8, 1e-10};  ///< kDopri5: relative, absolute (of q and of qd)
  double first_step = 0, max_step = 0;  ///< kDopri5; 0: chosen, unlimited [s]
  int max_steps = 100000;               ///< kDopri5: accepted and rejected steps
  LimitRule limits = LimitRule::kIgnore;
  double limit_tolerance = 1e-4;  ///< kDopri5: largest overshoot of a limit [rad or m]
  /// Settled: |qd| <= settle_speed and |q - settle_at| <= settle_band for every joint. settle_at
  /// empty: the set point of a feedback law; without feedback only the speed counts.
  double settle_speed = 1e-2;
  std::vector<double> settle_at = {};
  double settle_band = 1e-2;
  ToolForceInput tool = {};
  FrictionInput friction = {};
};

/// Initial states of a batch. q and qd: [n,j]. damping and amplitude: [n,j], [j] for all samples,
/// or empty for the values of the robot and the input. `parameters` change the chain per sample as
/// in evaluate(); controllers use the unchanged chain.
struct Samples {
  std::int64_t count = 0;
  std::vector<double> q, qd = {}, damping = {}, amplitude = {};
  std::vector<Parameter> parameters = {};
};

/// Trajectories at the output times (NaN if not reached), and totals per sample. SI units.
struct Trajectories {
  int joints = 0;
  std::int64_t count = 0;
  std::vector<double> times;               ///< [t]
  std::vector<double> q, qd;               ///< [n,t,j]
  std::vector<double> tip;                 ///< [n,t,3]
  std::vector<double> kinetic, potential;  ///< [n,t]
  std::vector<double> dissipated, work;    ///< energy since the start [n,t]: damping; torques [J]
  std::vector<double> stop_loss;           ///< energy lost at stops [n,t] [J]
  std::vector<double> balance;  ///< energy - first energy + dissipated + stop_loss - work: the integration error [J]

  std::vector<double> end_time, end_q, end_qd;  ///< [n], [n,j]: last state reached
  std::vector<double> peak_speed, peak_torque;  ///< [n,j] largest |qd| at step ends, |tau| at step starts
  std::vector<double> settling_time;            ///< [n] infinite if the end is not settled [s]
  std::vector<double> end_dissipated, end_work, end_stop_loss, end_balance,
      worst_balance;                          ///< [n]; worst: of all outputs
  std::vector<std::int64_t> steps, rejected;  ///< [n]
  std::vector<SimulationStatus> status;       ///< [n]
};

/// Simulates every sample.
/// @param samples q, qd [n,j] in rad or m, per s; damping and amplitude.
/// @param torque input, constant or feedback.
/// @param options method, step, duration and output times.
/// @return trajectories and one SimulationStatus per sample. A bad sample does not affect others.
/// @throws Error kUsage for options and torques, kInvalidFile for array sizes, kNoDevice if the
///         device cannot run.
[[nodiscard]] Trajectories simulate(const Robot& robot, const Samples& samples, const TorqueInput& torque,
                                    const SimulateOptions& options = {}, const Device& device = {});

// Samples in GPU memory (docs/howto/gpu-arrays.md). Results have the bits of simulate().

/// Samples in GPU memory, as Samples. Null: at rest, the robot's damping, the input's amplitude.
struct DeviceSamples {
  std::int64_t count = 0;
  DeviceArray<const double> q;               ///< [count][j]
  DeviceArray<const double> qd = {};         ///< [count][j]
  DeviceArray<const double> damping = {};    ///< [count][j]
  DeviceArray<const double> amplitude = {};  ///< [count][j]
  std::vector<DeviceParameter> parameters = {};
};

/// Trajectories in GPU memory, as Trajectories. Null arrays are not stored.
struct DeviceTrajectories {
  DeviceArray<double> q = {}, qd = {};                                           ///< [count][t * j]
  DeviceArray<double> tip = {};                                                  ///< [count][t * 3]
  DeviceArray<double> kinetic = {}, potential = {};                              ///< [count][t]
  DeviceArray<double> dissipated = {}, work = {}, stop_loss = {}, balance = {};  ///< [count][t]

  DeviceArray<double> end_time = {};                                               ///< [count]
  DeviceArray<double> end_q = {}, end_qd = {}, peak_speed = {}, peak_torque = {};  ///< [count][j]
  DeviceArray<double> settling_time = {};                                          ///< [count]
  DeviceArray<double> end_dissipated = {}, end_work = {}, end_stop_loss = {};      ///< [count]
  DeviceArray<double> end_balance = {}, worst_balance = {};                        ///< [count]
  DeviceArray<std::int32_t> steps = {}, rejected = {};                             ///< [count]
  DeviceArray<SimulationStatus> status = {};                                       ///< [count]
};

/// Queues simulate() on GPU arrays.
/// @throws Error for options, a null pointer of q or of a parameter, a small workspace, or a CUDA
///         error.
void simulate(const Robot& robot, const DeviceSamples& samples, const TorqueInput& torque,
              const SimulateOptions& options, const DeviceTrajectories& to, const DeviceCall& call);
/// @return bytes of workspace for this call. Runs nothing.
[[nodiscard]] std::size_t workspace_bytes(const Robot& robot, const DeviceSamples& samples, const TorqueInput& torque,
                                          const SimulateOptions& options, const DeviceTrajectories& to, int device = 0);

// Joint rates: the inverse velocity analysis of states, without motion over time (docs/theory/chain.md, "Joint rates").

[[nodiscard]] constexpr auto names_of(EulerAngles) { return names("euler-zyx", "euler-zyz"); }

/// Options and device of joint_rates().
struct RatePlace {
  RateOptions rates = {};
  EvalOptions jacobian = {};  ///< rows, axes and point of the twist
  Device device = {};
};

/// Joint rates of a batch.
struct JointRates {
  int joints = 0;                ///< or coordinates, if joints are coupled
  std::vector<double> qd;        ///< [n,j] rad/s or m/s
  std::vector<double> damping;   ///< [n] lambda; 0: undamped
  std::vector<double> residual;  ///< [n,6] J qd - twist
  std::vector<Status> status;    ///< [n]
};

/// Rates of least weighted norm whose twist is the given one, damped near a singularity.
/// @param q joint values [n,j] in rad or m. @param twist [n,6] in m/s and rad/s.
/// @throws Error kInvalidFile for sizes, kUsage for options, kNoDevice if the device cannot run.
[[nodiscard]] JointRates joint_rates(const Robot& robot, std::span<const double> q, std::span<const double> twist,
                                     const RatePlace& place = {});

/// Joint values and twists in GPU memory.
struct DeviceTwists {
  std::int64_t count = 0;
  DeviceArray<const double> q, twist;  ///< [count][j], [count][6]
};
/// Joint rates in GPU memory, as JointRates.
struct DeviceRates {
  DeviceArray<double> qd = {}, damping = {}, residual = {};  ///< [count][j], [count], [count][6]
  DeviceArray<Status> status = {};                           ///< [count]
};
/// Queues joint_rates() on GPU arrays; `place.device` is not read.
/// @throws Error for options, coupled joints, a small workspace, or a CUDA error.
void joint_rates(const Robot& robot, const DeviceTwists& in, const RatePlace& place, const DeviceRates& to,
                 const DeviceCall& call);
/// @return bytes of workspace for this call. Runs nothing.
[[nodiscard]] std::size_t workspace_bytes(const Robot& robot, const DeviceTwists& in, const RatePlace& place,
                                          const DeviceRates& to, int device = 0);

/// First derivatives of inverse or forward dynamics; entry (i, j) is that of component i by variable j.
struct DynamicsDerivatives {
  int joints = 0;
  std::vector<double> by_q, by_qd;  ///< [n,j,j] of tau or qdd
  std::vector<double> by_input;     ///< [n,j,j] of tau by qdd: the mass matrix; of qdd by tau: its inverse
  std::vector<double> qdd;          ///< [n,j] forward dynamics only
  std::vector<Status> status;       ///< [n] as of evaluate(); outputs are NaN unless it is kConverged
};

/// Derivatives of tau(q, qd, qdd) = H qdd + C qd + b qd + g (docs/theory/chain.md, "Derivatives").
/// @param states q, qd, qdd [n,j].
/// @throws Error kInvalidFile for sizes, kNoDevice if the device cannot run.
[[nodiscard]] DynamicsDerivatives inverse_dynamics_derivatives(const Robot& robot, const StateView& states,
                                                               const Device& device = {});
/// Derivatives of qdd(q, qd, tau). @param states q, qd, tau [n,j]. @throws Error as above.
[[nodiscard]] DynamicsDerivatives forward_dynamics_derivatives(const Robot& robot, const StateView& states,
                                                               const Device& device = {});

/// Jacobians [n,6,j] of the tool point whose rows 3-5 give the rates of Euler angles, world axes; these rows are NaN in
/// gimbal lock, the whole Jacobian where q is not finite.
/// @throws Error as joint_rates().
[[nodiscard]] std::vector<double> analytic_jacobian(const Robot& robot, std::span<const double> q, EulerAngles sequence,
                                                    const EvalPlace& place = {});

}  // namespace garra::chain
