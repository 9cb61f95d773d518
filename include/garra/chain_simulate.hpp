// Trajectories of many samples of one serial chain: q'' = H^-1 (tau(t, q, qd) - C qd - g - D qd). The entry for C++
// users and for `garra chain simulate`. Methods, their errors and limits: docs/theory/chain-simulation.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "garra/batch/device.hpp"
#include "garra/chain.hpp"
#include "garra/chain_eval.hpp"
#include "garra/core/names.hpp"
#include "garra/systems/chain/simulate_adaptive.hpp"

namespace garra::chain {

enum class Integrator : int {
  kRk4,        ///< order 4, explicit: stable up to 2.7 / (largest eigenvalue of H^-1 D)
  kDopri5,     ///< order 5(4), explicit, steps chosen by their error
  kImplicit1,  ///< order 1, damping implicit: stable at any damping
  kImplicit2,  ///< order 2, damping implicit: stable at any damping
};
[[nodiscard]] constexpr auto names_of(Integrator) { return names("rk4", "dopri5", "implicit1", "implicit"); }
[[nodiscard]] const char* to_string(Integrator method);
[[nodiscard]] Integrator parse_integrator(const std::string& name);

/// "completed", "non_finite", "step_limit", "joint_limit", "invalid_input".
[[nodiscard]] const char* to_string(SimulationStatus status);

/// What drives the joints. A vector holds one number per joint, or one for all joints, or none (0; amplitude: 1 for
/// feedback and samples).
struct TorqueInput {
  TorqueKind kind = TorqueKind::kConstant;
  std::vector<double> amplitude = {};              ///< [N m or N]; factor of a feedback law
  double start = 0, end = 0;                       ///< of a step or ramp [s]
  std::vector<double> frequency = {}, phase = {};  ///< of a sine [Hz, rad]
  std::vector<double> points = {};                 ///< [k,j] torques at 0, interval, 2 interval, ...
  double interval = 0;                             ///< [s]
  std::vector<double> set_point = {}, kp = {}, kd = {};
  bool compensate_gravity = false;  ///< kPd only; computed torque always does
  std::vector<double> limit = {};   ///< of |tau|; empty: none
};
[[nodiscard]] constexpr auto names_of(TorqueKind) {
  return names("constant", "step", "ramp", "sine", "sampled", "pd", "computed");
}
[[nodiscard]] const char* to_string(TorqueKind kind);
[[nodiscard]] TorqueKind parse_torque_kind(const std::string& name);

enum class LimitRule : int {
  kIgnore,  ///< joints turn freely
  kFinish,  ///< the sample ends with the status joint_limit
  kStop,    ///< inelastic stops at Joint::lower and Joint::upper
};
[[nodiscard]] constexpr auto names_of(LimitRule) { return names("ignore", "finish", "stop"); }

struct SimulateOptions {
  Integrator method = Integrator::kImplicit2;
  double step = 1e-3;                   ///< of the methods with fixed steps; shortened to meet outputs and jumps [s]
  double until = 1;                     ///< [s]
  std::vector<double> times = {};       ///< outputs, ascending in [0, until]; empty: none but the end
  Tolerance tolerance = {1e-8, 1e-10};  ///< kDopri5: relative, absolute (of q and of qd)
  double first_step = 0, max_step = 0;  ///< kDopri5; 0: chosen, unlimited [s]
  int max_steps = 100000;               ///< kDopri5: accepted and rejected ones
  LimitRule limits = LimitRule::kIgnore;
  double limit_tolerance = 1e-4;  ///< kDopri5: no step passes a limit by more
  double settle_speed = 1e-2;     ///< settled: |qd| <= this for every joint ...
  std::vector<double> settle_at =
      {};  ///< ... and |q - this| <= settle_band; empty: the set point of a feedback law, or none
  double settle_band = 1e-2;
};

/// The batch. q and qd: [n,j]; damping and amplitude: [n,j], or [j] for all samples, or empty: the robot's, the
/// input's. `parameters` change the chain per sample as in evaluate(); controllers keep the unchanged one.
struct Samples {
  std::int64_t count = 0;
  std::vector<double> q, qd = {}, damping = {}, amplitude = {};
  std::vector<Parameter> parameters = {};
};

/// At the chosen times, NaN where a sample did not get there; and of every sample as a whole.
struct Trajectories {
  int joints = 0;
  std::int64_t count = 0;
  std::vector<double> times;               ///< [t]
  std::vector<double> q, qd;               ///< [n,t,j]
  std::vector<double> tip;                 ///< [n,t,3]
  std::vector<double> kinetic, potential;  ///< [n,t]
  std::vector<double> dissipated, work;    ///< since the start [n,t]: by damping, by the torques
  std::vector<double> stop_loss;           ///< taken by the stops [n,t]
  std::vector<double> balance;             ///< energy - first energy + dissipated + stop_loss - work: 0 but for errors

  std::vector<double> end_time, end_q, end_qd;  ///< [n], [n,j]: the last state that was reached
  std::vector<double> peak_speed, peak_torque;  ///< [n,j] largest |qd| at step ends, |tau| at step starts
  std::vector<double> settling_time;            ///< [n] infinite where the end is not settled
  std::vector<double> end_dissipated, end_work, end_stop_loss, end_balance,
      worst_balance;                          ///< [n]; worst: of all outputs
  std::vector<std::int64_t> steps, rejected;  ///< [n]
  std::vector<SimulationStatus> status;       ///< [n]
};

/// Runs every sample; a bad one is a status, never an exception, and touches no other. Throws Error for wrong sizes and
/// options.
[[nodiscard]] Trajectories simulate(const Robot& robot, const Samples& samples, const TorqueInput& torque,
                                    const SimulateOptions& options = {}, const Device& device = {});

// Samples that are on the GPU already (docs/howto/gpu-arrays.md). The numbers are those of simulate() above, to the
// bit.

/// As Samples. What is null is not given: at rest; the robot's damping, the input's amplitude.
struct DeviceSamples {
  std::int64_t count = 0;
  DeviceArray<const double> q;               ///< [count][j]
  DeviceArray<const double> qd = {};         ///< [count][j]
  DeviceArray<const double> damping = {};    ///< [count][j]
  DeviceArray<const double> amplitude = {};  ///< [count][j]
  std::vector<DeviceParameter> parameters = {};
};

/// As Trajectories. What is null is not stored.
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

/// Throws Error for options, for a pointer of `q` or of a parameter that is null, for a workspace that is too small,
/// and where CUDA refuses.
void simulate(const Robot& robot, const DeviceSamples& samples, const TorqueInput& torque,
              const SimulateOptions& options, const DeviceTrajectories& to, const DeviceCall& call);
/// Bytes of workspace that this call takes. Runs nothing.
[[nodiscard]] std::size_t workspace_bytes(const Robot& robot, const DeviceSamples& samples, const TorqueInput& torque,
                                          const SimulateOptions& options, const DeviceTrajectories& to, int device = 0);

}  // namespace garra::chain
