// Simulates many platforms under actuator forces, friction and a constant wrench.
// Takes: platforms with masses; initial poses, velocities and wrenches [n,6]; actuator forces [6]
// or [n,6], over time [k,6] or [n,k,6].
// Gives: poses, velocities, lengths and energies at output times [n,t], totals, and one
// MotionStatus per sample.
// Units and frames: SI, rad; base axes; twists (v, w) and wrenches (force; moment) at C;
// quaternions scalar first; samples count from 0.
// Bad input: wrong sizes, options and missing masses throw Error(kUsage). A sample that fails has a
// MotionStatus and NaN at times not reached.
// Not for: bending of legs and impacts; with watch_limits a sample ends at a limit.
// Docs: docs/theory/platform-dynamics.md, docs/howto/gpu-arrays.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "garra/batch/device.hpp"
#include "garra/platform.hpp"
#include "garra/platform_dynamics.hpp"

namespace garra::platform {

/// Integration method.
enum class Integrator : int {
  kRk4,     ///< order 4
  kRk8,     ///< order 8, Dormand and Prince's twelve stages with fixed steps
  kHybrid,  ///< the paper's: Form::kFull, Baumgarte's stabilization between corrections by coordinate partitioning; RK4
};
/// "rk4", "rk8", "hybrid"
[[nodiscard]] const char* to_string(Integrator method);
[[nodiscard]] Integrator parse_platform_integrator(const std::string& name);

/// End of a trajectory.
enum class MotionStatus : int {
  kCompleted = 0,
  kStrokeLimit,      ///< a leg reached the end of its stroke (with watch_limits)
  kConeLimit,        ///< a joint reached its cone (with watch_limits)
  kCollision,        ///< two legs touched (with watch_limits)
  kSingular,         ///< scaled sigma_min of the length Jacobian fell below its limit
  kLostConstraints,  ///< kHybrid: the correction did not converge
  kNonFinite,
  kInvalidInput,
};
inline constexpr int kMotionStatuses = 8;
/// "completed", "stroke_limit", "cone_limit", "collision", "singular", "lost_constraints",
/// "non_finite", "invalid_input"
[[nodiscard]] const char* to_string(MotionStatus status);

/// Actuator forces over time (constant, or linear between samples and constant after the last), and
/// actuator friction.
struct ForceInput {
  std::vector<double> force;    ///< [6] or [n,6]; with an interval: [k,6] or [n,k,6] [N]
  double interval = 0;          ///< between samples [s]; 0: constant
  std::int64_t samples = 0;     ///< k
  double viscous = 0;           ///< friction [N s/m] of every actuator
  double coulomb = 0;           ///< [N], smoothed: coulomb * tanh(rate / coulomb_speed)
  double coulomb_speed = 1e-3;  ///< [m/s]
};

/// Options of simulate().
struct SimulateOptions {
  Integrator method = Integrator::kRk8;
  double step = 0.05;                ///< [s], shortened to meet outputs
  double duration = 0.5;             ///< [s]
  std::vector<double> times = {};    ///< output times, ascending in [0, duration] [s]; end_* hold the end in any case
  bool watch_limits = false;         ///< a sample ends at the first step end beyond a limit
  double near_singular = 1e-4;       ///< a sample ends below this scaled sigma_min, with L = characteristic_length
  double characteristic_length = 0;  ///< [m]; 0: the platform's own
  double baumgarte = 50;             ///< kHybrid: alpha = beta [1/s]
  double correct_above = 1e-9;       ///< kHybrid: correct if the constraint error exceeds this
};

/// Initial states of n samples.
struct Starts {
  Poses pose;
  std::vector<double> velocity;  ///< [n,6] (v, w); empty: at rest
  std::vector<double> wrench;    ///< [n,6] constant disturbance, force at C and moment, base axes; empty: none
};

/// Trajectories at the output times (NaN if not reached), and totals per sample. SI units.
struct Trajectories {
  std::int64_t count = 0;
  std::vector<double> times;                     ///< [t]
  Poses pose;                                    ///< [n,t,3], [n,t,4]
  std::vector<double> velocity;                  ///< [n,t,6]
  std::vector<double> lengths;                   ///< [n,t,6]
  std::vector<double> kinetic, potential, work;  ///< [n,t]; work of the actuators, friction and wrench since the start
  std::vector<double> balance;                   ///< [n,t] T + V - first - work: the integration error [J]
  std::vector<double> drift;     ///< [n,t] kHybrid: largest constraint error; else | |quaternion| - 1 | after a step
  std::vector<double> end_time;  ///< [n] the last time reached
  Poses end_pose;
  std::vector<double> end_velocity, end_balance, worst_balance, worst_drift;
  std::vector<std::int64_t> steps, corrections;  ///< corrections: only kHybrid
  std::vector<MotionStatus> status;
};
/// Simulates every sample.
/// @param starts poses, velocity (v, w) [n,6] and wrench [n,6].
/// @param force actuator forces and friction.
/// @return trajectories and one MotionStatus per sample.
/// @throws Error kUsage for sizes, options or missing masses, kNoDevice if the device cannot run.
[[nodiscard]] Trajectories simulate(const Platforms& platforms, const Starts& starts, const ForceInput& force,
                                    const SimulateOptions& options = {}, const Device& device = {});

// Initial states of one platform in GPU memory (docs/howto/gpu-arrays.md). Results have the bits of
// simulate().

/// Initial states in GPU memory, as Starts, with a force per sample. Null: at rest, no wrench.
struct DeviceStarts {
  DevicePoses pose;
  DeviceArray<const double> velocity = {};  ///< [count][6]
  DeviceArray<const double> wrench = {};    ///< [count][6]
  DeviceArray<const double> force = {};  ///< [count][6], with an interval [count][k * 6]; null: ForceInput::force for
                                         ///< all samples
};

/// Trajectories in GPU memory, as Trajectories. Null arrays are not stored.
struct DeviceTrajectories {
  DeviceArray<double> position = {}, quaternion = {};                          ///< [count][t * 3], [count][t * 4]
  DeviceArray<double> velocity = {}, lengths = {};                             ///< [count][t * 6]
  DeviceArray<double> kinetic = {}, potential = {}, work = {};                 ///< [count][t]
  DeviceArray<double> balance = {}, drift = {};                                ///< [count][t]
  DeviceArray<double> end_position = {}, end_quaternion = {};                  ///< [count][3], [count][4]
  DeviceArray<double> end_velocity = {};                                       ///< [count][6]
  DeviceArray<double> end_time = {};                                           ///< [count]
  DeviceArray<double> end_balance = {}, worst_balance = {}, worst_drift = {};  ///< [count]
  DeviceArray<std::int32_t> steps = {}, corrections = {};                      ///< [count]
  DeviceArray<MotionStatus> status = {};                                       ///< [count]
};

/// Queues simulate() on GPU arrays.
/// @throws Error for options, forces given twice or not six per time, a null pointer of a pose, a
///         small workspace, or a CUDA error.
void simulate(const Platform& platform, const DeviceStarts& starts, const ForceInput& force,
              const SimulateOptions& options, const DeviceTrajectories& to, const DeviceCall& call);
/// @return bytes of workspace for this call. Runs nothing.
[[nodiscard]] std::size_t workspace_bytes(const Platform& platform, const DeviceStarts& starts, const ForceInput& force,
                                          const SimulateOptions& options, const DeviceTrajectories& to, int device = 0);

/// Of trajectories with `t` output times.
template <OneOf<DeviceTrajectories, Trajectories> R, class F>
void each_array(R& r, const F& array, std::size_t t = 0) {
  if constexpr (requires { r.times; }) t = r.times.size();
  each_pose_array(r, [&](const char* name, auto& values, Axes width) { array(name, values, Axes{t, *width.begin()}); });
  array("velocity", r.velocity, Axes{t, 6});
  array("lengths", r.lengths, Axes{t, 6});
  array("kinetic_energy", r.kinetic, Axes{t});
  array("potential_energy", r.potential, Axes{t});
  array("work", r.work, Axes{t});
  array("balance", r.balance, Axes{t});
  array("drift", r.drift, Axes{t});
  array("end_time", r.end_time, Axes{});
  if constexpr (requires { r.end_pose; }) {
    array("end_position", r.end_pose.position, Axes{3});
    array("end_quaternion", r.end_pose.quaternion, Axes{4});
  } else {
    array("end_position", r.end_position, Axes{3});
    array("end_quaternion", r.end_quaternion, Axes{4});
  }
  array("end_velocity", r.end_velocity, Axes{6});
  array("end_balance", r.end_balance, Axes{});
  array("worst_balance", r.worst_balance, Axes{});
  array("worst_drift", r.worst_drift, Axes{});
  array("steps", r.steps, Axes{});
  array("corrections", r.corrections, Axes{});
  array("status", r.status, Axes{});
}

}  // namespace garra::platform
