// Inverse and forward dynamics of many platforms, in the minimal Newton-Euler form and in the paper's 91 coordinates
// (docs/platform-dynamics.md).
#pragma once

#include <cstdint>
#include <vector>

#include "garra/batch/device.hpp"
#include "garra/platform.hpp"
#include "garra/platform_kinematics.hpp"

namespace garra::platform {

/// Which equations.
enum class Form {
  kMinimal,  ///< six coordinates: the legs' apparent masses at their spherical joints
  kFull,     ///< the paper's 91 coordinates and Lagrange multipliers, (8)
};

/// Force of the actuators f > 0 extends a leg. External wrench [n,6]: force at C and moment, base axes; empty: none.
struct InverseDynamics {
  std::vector<double> force;             ///< [n,6] of the actuators [N]
  std::vector<double> spherical_force;   ///< [n,6,3] of the platform on the leg, base axes [N]
  std::vector<double> universal_force;   ///< [n,6,3] of the base on the leg, base axes [N]
  std::vector<double> universal_moment;  ///< [n,6] of the base on the leg about (k x x) / |k x x| [N m]
  std::vector<double> multipliers;       ///< [n,91] kFull only: order of docs/platform-dynamics.md
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

}  // namespace garra::platform
