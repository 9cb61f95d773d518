// The full form (the paper's 91 coordinates) behind the entries of platform_dynamics.hpp.
#pragma once

#include "garra/platform_dynamics.hpp"

namespace garra::platform {

/// As inverse_dynamics(), with all multipliers.
[[nodiscard]] InverseDynamics inverse_dynamics_full(const Platforms& platforms, const Poses& poses,
                                                    const Motion& motion, const std::vector<double>& wrench,
                                                    const Device& device);
/// As forward_dynamics(), from the accelerations of all 91 coordinates.
[[nodiscard]] ForwardDynamics forward_dynamics_full(const Platforms& platforms, const Poses& poses,
                                                    const std::vector<double>& velocity,
                                                    const std::vector<double>& force, const std::vector<double>& wrench,
                                                    const Device& device);

}  // namespace garra::platform
