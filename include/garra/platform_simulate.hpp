// Trajectories of many platforms under actuator forces (docs/theory/platform-dynamics.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "garra/batch/device.hpp"
#include "garra/platform.hpp"
#include "garra/platform_dynamics.hpp"

namespace garra::platform {

enum class Integrator : int {
  kRk4,     ///< order 4
  kRk8,     ///< order 8, Dormand and Prince's twelve stages with fixed steps
  kHybrid,  ///< the paper's: Form::kFull, Baumgarte's stabilization between corrections by coordinate partitioning; RK4
};
/// "rk4", "rk8", "hybrid"
[[nodiscard]] const char* to_string(Integrator method);
[[nodiscard]] Integrator parse_platform_integrator(const std::string& name);

enum class MotionStatus : int {
  kCompleted = 0,
  kStrokeLimit,      ///< a leg reached the end of its stroke (where limits are watched)
  kConeLimit,        ///< a joint reached its cone
  kCollision,        ///< two legs touched
  kSingular,         ///< scaled sigma_min of the length Jacobian fell below its limit
  kLostConstraints,  ///< kHybrid: the correction did not converge
  kNonFinite,
  kInvalidInput,
};
inline constexpr int kMotionStatuses = 8;
/// "completed", "stroke_limit", "cone_limit", "collision", "singular", "lost_constraints", "non_finite",
/// "invalid_input"
[[nodiscard]] const char* to_string(MotionStatus status);

/// Actuator forces over time: constant, or linear between samples, held after the last; plus friction in the actuators.
struct ForceInput {
  std::vector<double> force;    ///< [6], [n,6]; with an interval [k,6], for all samples, or [n,k,6]
  double interval = 0;          ///< between samples [s]; 0: constant
  std::int64_t samples = 0;     ///< k
  double viscous = 0;           ///< friction [N s/m] of every actuator
  double coulomb = 0;           ///< [N], smoothed: coulomb * tanh(rate / coulomb_speed)
  double coulomb_speed = 1e-3;  ///< [m/s]
};

struct SimulateOptions {
  Integrator method = Integrator::kRk8;
  double step = 0.05;                ///< [s], shortened to meet outputs
  double until = 0.5;                ///< [s]
  std::vector<double> times = {};    ///< outputs, ascending in [0, until]; the end is always given apart
  bool watch_limits = false;         ///< a sample ends at the first step end beyond a limit
  double near_singular = 1e-4;       ///< ends below; scaled sigma_min with L = characteristic_length
  double characteristic_length = 0;  ///< [m]; 0: the platform's own
  double baumgarte = 50;             ///< kHybrid: alpha = beta [1/s]
  double correct_above = 1e-9;       ///< kHybrid: correct where the constraint error exceeds this
};

/// Starts of n samples.
struct Starts {
  Poses pose;
  std::vector<double> velocity;  ///< [n,6] (v, w); empty: at rest
  std::vector<double> wrench;    ///< [n,6] constant disturbance, force at C and moment, base axes; empty: none
};

/// At the chosen times, NaN where a sample did not get there; and of every sample as a whole.
struct Trajectories {
  std::int64_t count = 0;
  std::vector<double> times;                     ///< [t]
  Poses pose;                                    ///< [n,t,3], [n,t,4]
  std::vector<double> velocity;                  ///< [n,t,6]
  std::vector<double> lengths;                   ///< [n,t,6]
  std::vector<double> kinetic, potential, work;  ///< [n,t]; work of the actuators, friction and wrench since the start
  std::vector<double> balance;                   ///< [n,t] T + V - first - work: 0 but for errors
  std::vector<double> drift;     ///< [n,t] kHybrid: largest constraint error; else | |p| - 1 | before normalization
  std::vector<double> end_time;  ///< [n] the last time reached
  Poses end_pose;
  std::vector<double> end_velocity, end_balance, worst_balance, worst_drift;
  std::vector<std::int64_t> steps, corrections;  ///< corrections: of kHybrid
  std::vector<MotionStatus> status;
};
[[nodiscard]] Trajectories simulate(const Platforms& platforms, const Starts& starts, const ForceInput& force,
                                    const SimulateOptions& options = {}, const Device& device = {});

// Starts that are on the GPU already, of one platform (docs/howto/gpu-arrays.md). The numbers are those of simulate()
// above, to the bit.

/// As Starts, and forces of the samples' own. What is null is not given: at rest, no wrench.
struct DeviceStarts {
  DevicePoses pose;
  DeviceArray<const double> velocity = {};  ///< [count][6]
  DeviceArray<const double> wrench = {};    ///< [count][6]
  DeviceArray<const double> force = {};     ///< [count][6], with an interval [count][k * 6]; null: those of ForceInput,
                                            ///< which all samples share
};

/// As Trajectories. What is null is not stored.
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

/// Throws Error for options, for forces given twice or not as six per moment, for a null pointer of a pose, for a
/// workspace that is too small, and where CUDA refuses.
void simulate(const Platform& platform, const DeviceStarts& starts, const ForceInput& force,
              const SimulateOptions& options, const DeviceTrajectories& to, const DeviceCall& call);
/// Bytes of workspace that this call takes. Runs nothing.
[[nodiscard]] std::size_t workspace_bytes(const Platform& platform, const DeviceStarts& starts, const ForceInput& force,
                                          const SimulateOptions& options, const DeviceTrajectories& to, int device = 0);

}  // namespace garra::platform
