// Computes inverse and forward dynamics of many platforms, in minimal Newton-Euler form and in the
// paper's 91 coordinates.
// Takes: platforms with masses; poses [n,3] and [n,4], velocities, accelerations or actuator
// forces, and wrenches, each [n,6].
// Gives: actuator and joint forces, or accelerations [n,6], with one PoseStatus per row.
// Units and frames: SI; base axes; twists (v, w) of C; wrenches (force at C; moment); actuator
// forces f > 0 extend a leg; legs count from 0.
// Bad input: wrong sizes and missing masses throw Error(kUsage). A row without an answer is NaN
// with a PoseStatus.
// Not for: friction (platform_simulate.hpp has it) and bending of legs.
// Docs: docs/theory/platform-dynamics.md, docs/howto/gpu-arrays.md.
#pragma once

#include <cstdint>
#include <vector>

#include "garra/batch/device.hpp"
#include "garra/platform.hpp"
#include "garra/platform_kinematics.hpp"

namespace garra::platform {

/// Result of inverse_dynamics(): actuator and joint forces.
struct InverseDynamics {
  std::vector<double> force;             ///< [n,6] of the actuators [N]
  std::vector<double> spherical_force;   ///< [n,6,3] of the platform on the leg, base axes [N]
  std::vector<double> universal_force;   ///< [n,6,3] of the base on the leg, base axes [N]
  std::vector<double> universal_moment;  ///< [n,6] of the base on the leg about k x x, with the leg axis x (Leg) [N m]
  std::vector<double> multipliers;  ///< [n,91] kFull only: of the constraints; order: docs/theory/platform-dynamics.md
  std::vector<double> power_balance;  ///< [n] f.(dL/dt) + wrench power - d(T + V)/dt [W]: the numerical error
  std::vector<double> condition;      ///< [n] of the scaled length Jacobian
  std::vector<PoseStatus> status;     ///< kConverged, kNearSingular, kInvalidInput
};
/// Actuator forces for given motions.
/// @param poses position [n,3] in m and quaternion [n,4].
/// @param motion velocity and acceleration [n,6].
/// @param wrench external (force at C; moment) [n,6], base axes; empty: none.
/// @return actuator forces [n,6] in N, joint forces, and one PoseStatus per row.
/// @throws Error kUsage for sizes or missing masses, kNoDevice if the device cannot run.
[[nodiscard]] InverseDynamics inverse_dynamics(const Platforms& platforms, const Poses& poses, const Motion& motion,
                                               const std::vector<double>& wrench, Form form = Form::kMinimal,
                                               const Device& device = {});

/// Result of forward_dynamics().
struct ForwardDynamics {
  std::vector<double> acceleration;        ///< [n,6] dv/dt, dw/dt, base axes
  std::vector<double> kinetic, potential;  ///< [n] [J]
  std::vector<PoseStatus> status;
};
/// Accelerations for given actuator forces.
/// @param velocity (v, w) [n,6], base axes.
/// @param force of the actuators [n,6] in N.
/// @param wrench as in inverse_dynamics().
/// @throws Error as inverse_dynamics().
[[nodiscard]] ForwardDynamics forward_dynamics(const Platforms& platforms, const Poses& poses,
                                               const std::vector<double>& velocity, const std::vector<double>& force,
                                               const std::vector<double>& wrench, Form form = Form::kMinimal,
                                               const Device& device = {});

/// Forward kinematics by the paper's Newton-Raphson (6)-(7) on 91 coordinates. All links start at
/// their poses for the guess.
/// @param lengths [n,6] in m.
/// @param guess initial poses.
/// @throws Error kUsage for sizes or options.certify.
[[nodiscard]] ForwardKinematics forward_kinematics_full(const Platforms& platforms, const std::vector<double>& lengths,
                                                        const Poses& guess, const ForwardOptions& options = {},
                                                        const Device& device = {});

// Poses in GPU memory, as in garra/platform_kinematics.hpp.

/// Inverse dynamics in GPU memory, as InverseDynamics.
struct DeviceForces {
  DeviceArray<double> force = {};                                  ///< [count][6] of the actuators [N]
  DeviceArray<double> spherical_force = {}, universal_force = {};  ///< [count][6 * 3] on the legs, base axes [N]
  DeviceArray<double> universal_moment = {};                       ///< [count][6] [N m]
  DeviceArray<double> multipliers = {};                            ///< [count][91] kFull only
  DeviceArray<double> power_balance = {}, condition = {};          ///< [count]
  DeviceArray<PoseStatus> status = {};                             ///< [count]
};
/// Queues inverse_dynamics(). Wrench [count][6]: (force at C; moment), base axes.
void inverse_dynamics(const Platform& platform, const DevicePoses& poses, const DeviceMotion& motion,
                      const DeviceArray<const double>& wrench, const DeviceForces& to, const DeviceCall& call,
                      Form form = Form::kMinimal);
[[nodiscard]] std::size_t workspace_bytes(const Platform& platform, const DevicePoses& poses,
                                          const DeviceMotion& motion, const DeviceArray<const double>& wrench,
                                          const DeviceForces& to, int device = 0, Form form = Form::kMinimal);

/// Forward dynamics in GPU memory, as ForwardDynamics.
struct DeviceAccelerations {
  DeviceArray<double> acceleration = {};             ///< [count][6] dv/dt, dw/dt, base axes
  DeviceArray<double> kinetic = {}, potential = {};  ///< [count] [J]
  DeviceArray<PoseStatus> status = {};               ///< [count]
};
/// Queues forward_dynamics(). Velocity, actuator forces and wrench [count][6].
void forward_dynamics(const Platform& platform, const DevicePoses& poses, const DeviceArray<const double>& velocity,
                      const DeviceArray<const double>& force, const DeviceArray<const double>& wrench,
                      const DeviceAccelerations& to, const DeviceCall& call, Form form = Form::kMinimal);
[[nodiscard]] std::size_t workspace_bytes(const Platform& platform, const DevicePoses& poses,
                                          const DeviceArray<const double>& velocity,
                                          const DeviceArray<const double>& force,
                                          const DeviceArray<const double>& wrench, const DeviceAccelerations& to,
                                          int device = 0, Form form = Form::kMinimal);

// Arrays of results, as in garra/platform_kinematics.hpp.
template <OneOf<DeviceForces, InverseDynamics> R, class F>
void each_array(R& r, const F& array) {
  array("force", r.force, Axes{6});
  array("spherical_force", r.spherical_force, Axes{6, 3});
  array("universal_force", r.universal_force, Axes{6, 3});
  array("universal_moment", r.universal_moment, Axes{6});
  array("multipliers", r.multipliers, Axes{91});
  array("power_balance", r.power_balance, Axes{});
  array("condition", r.condition, Axes{});
  array("status", r.status, Axes{});
}
template <OneOf<DeviceAccelerations, ForwardDynamics> R, class F>
void each_array(R& r, const F& array) {
  array("acceleration", r.acceleration, Axes{6});
  array("kinetic_energy", r.kinetic, Axes{});
  array("potential_energy", r.potential, Axes{});
  array("status", r.status, Axes{});
}

}  // namespace garra::platform
