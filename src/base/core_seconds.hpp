// Rough CPU time [s] of one core for a batch, rounded from bench/results. It decides whether host arrays pay on a GPU.
#pragma once

#include <cstdint>

namespace garra::core_seconds {

/// For work that takes no longer than copying its arrays to a GPU and back: `auto` then is the processor. Used for
/// states of chains, linear complementarity problems, derivatives of contact forces, kinematics and dynamics of
/// platforms.
inline constexpr double kCopying = 0;

[[nodiscard]] inline double contacts(std::int64_t problems, int contacts) {
  const double thirds = contacts / 3.0;
  return 0.8e-6 * thirds * thirds * thirds * static_cast<double>(problems);
}
[[nodiscard]] inline double balances(std::int64_t problems, int contacts) {
  return 0.6e-6 * contacts * static_cast<double>(problems);
}
[[nodiscard]] inline double measures(std::int64_t configurations) {
  return 0.3e-6 * static_cast<double>(configurations);
}
[[nodiscard]] inline double nearest(std::int64_t configurations) { return 7e-6 * static_cast<double>(configurations); }
/// For all grasps; hands with known mechanics take up to three times as long.
[[nodiscard]] inline double ranking(std::int64_t grasps, std::int64_t samples) {
  return 0.6e-6 * static_cast<double>(grasps) * static_cast<double>(samples);
}
/// For grasps to be proposed. The surface search stays on the processor; a GPU only checks force closure.
[[nodiscard]] inline double proposals(std::int64_t grasps, int fingers) { return balances(2 * grasps, fingers); }
/// For a grasp at given instants.
[[nodiscard]] inline double instants(std::int64_t count) { return 5e-6 * static_cast<double>(count); }
/// For mixed complementarity problems, including restarts.
[[nodiscard]] inline double complementarity(std::int64_t problems) { return 20e-6 * static_cast<double>(problems); }
/// For chains; a sample takes `duration` / `step` steps.
[[nodiscard]] inline double motions(std::int64_t samples, int joints, double duration, double step) {
  const double sixths = joints / 6.0;
  return 0.3e-6 * sixths * sixths * (duration / step) * static_cast<double>(samples);
}
[[nodiscard]] inline double platform_motions(std::int64_t samples, double duration, double step) {
  return 1.7e-6 * (duration / step) * static_cast<double>(samples);
}

}  // namespace garra::core_seconds
