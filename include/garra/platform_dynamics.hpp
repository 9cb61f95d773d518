// Inverse and forward dynamics of many platforms, in the minimal Newton-Euler form and in the paper's 91 coordinates
// (docs/theory/platform-dynamics.md).
#pragma once

#include <cstdint>
#include <vector>

#include "garra/batch/device.hpp"
#include "garra/platform.hpp"
#include "garra/platform_kinematics.hpp"

namespace garra::platform {

/// Force of the actuators f > 0 extends a leg. External wrench [n,6]: force at C and moment, base axes; empty: none.
struct InverseDynamics {
  std::vector<double> force;             ///< [n,6] of the actuators [N]
  std::vector<double> spherical_force;   ///< [n,6,3] of the platform on the leg, base axes [N]
  std::vector<double> universal_force;   ///< [n,6,3] of the base on the leg, base axes [N]
  std::vector<double> universal_moment;  ///< [n,6] of the base on the leg about (k x x) / |k x x| [N m]
  std::vector<double> multipliers;       ///< [n,91] kFull only: order of docs/theory/platform-dynamics.md
  std::vector<double> power_balance;     ///< [n] f.(dL/dt) + wrench power - d(T + V)/dt [W]: 0 but for errors
  std::vector<double> condition;         ///< [n] of the scaled length Jacobian
  std::vector<PoseStatus> status;        ///< kConverged, kNearSingular, kInvalidInput
};
[[nodiscard]] InverseDynamics inverse_dynamics(const Platforms& platforms, const Poses& poses, const Motion& motion,
                                               const std::vector<double>& wrench, Form form = Form::kMinimal,
                                               const Device& device = {});

struct ForwardDynamics {
  std::vector<double> acceleration;        ///< [n,6] dv/dt, dw/dt, base axes
  std::vector<double> kinetic, potential;  ///< [n] [J]
  std::vector<PoseStatus> status;
};
/// Forces [n,6].
[[nodiscard]] ForwardDynamics forward_dynamics(const Platforms& platforms, const Poses& poses,
                                               const std::vector<double>& velocity, const std::vector<double>& force,
                                               const std::vector<double>& wrench, Form form = Form::kMinimal,
                                               const Device& device = {});

/// The paper's Newton-Raphson (6)-(7) on 91 coordinates: all links from the guess's pose, then `iterations` of the full
/// system.
[[nodiscard]] ForwardKinematics forward_kinematics_full(const Platforms& platforms, const std::vector<double>& lengths,
                                                        const Poses& guess, const ForwardOptions& options = {},
                                                        const Device& device = {});

// Of poses that are on the GPU, as in garra/platform_kinematics.hpp.

/// As InverseDynamics.
struct DeviceForces {
  DeviceArray<double> force = {};                                  ///< [count][6] of the actuators [N]
  DeviceArray<double> spherical_force = {}, universal_force = {};  ///< [count][6 * 3] on the legs, base axes [N]
  DeviceArray<double> universal_moment = {};                       ///< [count][6] [N m]
  DeviceArray<double> multipliers = {};                            ///< [count][91] kFull only
  DeviceArray<double> power_balance = {}, condition = {};          ///< [count]
  DeviceArray<PoseStatus> status = {};                             ///< [count]
};
/// Wrench [count][6]: force at C and moment, base axes.
void inverse_dynamics(const Platform& platform, const DevicePoses& poses, const DeviceMotion& motion,
                      const DeviceArray<const double>& wrench, const DeviceForces& to, const DeviceCall& call,
                      Form form = Form::kMinimal);
[[nodiscard]] std::size_t workspace_bytes(const Platform& platform, const DevicePoses& poses,
                                          const DeviceMotion& motion, const DeviceArray<const double>& wrench,
                                          const DeviceForces& to, int device = 0, Form form = Form::kMinimal);

/// As ForwardDynamics.
struct DeviceAccelerations {
  DeviceArray<double> acceleration = {};             ///< [count][6] dv/dt, dw/dt, base axes
  DeviceArray<double> kinetic = {}, potential = {};  ///< [count] [J]
  DeviceArray<PoseStatus> status = {};               ///< [count]
};
/// Velocity and forces of the actuators [count][6].
void forward_dynamics(const Platform& platform, const DevicePoses& poses, const DeviceArray<const double>& velocity,
                      const DeviceArray<const double>& force, const DeviceArray<const double>& wrench,
                      const DeviceAccelerations& to, const DeviceCall& call, Form form = Form::kMinimal);
[[nodiscard]] std::size_t workspace_bytes(const Platform& platform, const DevicePoses& poses,
                                          const DeviceArray<const double>& velocity,
                                          const DeviceArray<const double>& force,
                                          const DeviceArray<const double>& wrench, const DeviceAccelerations& to,
                                          int device = 0, Form form = Form::kMinimal);

}  // namespace garra::platform
