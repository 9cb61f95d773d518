// The loads of a scenario as a function of time. Host only.
#pragma once

#include <optional>
#include <vector>

#include "garra/grasp_time.hpp"
#include "garra/systems/grasp/time_loads.hpp"

namespace garra::grasp {

/// The shake of one sample as tones: fade(t) amplitude cos(2 pi frequency t + phase), summed along each axis; fade
/// rises from `from` and falls to `to` like a raised cosine of length `edge`.
struct ShakeTones {
  double from, to, edge;                 ///< [s]
  std::vector<double> frequency;         ///< [16] [Hz]
  std::vector<double> amplitude, phase;  ///< [3,16] [m/s^2], [rad]; along x, y, z of the palm
};

/// Loads and gravity at any time; the same for all samples except for the phases of a shake.
class LoadClock {
 public:
  /// Throws Error (kInvalidFile) if a load is invalid, or if more than one shakes. `duration`: end of the motion [s].
  LoadClock(std::vector<TimeLoad> loads, const Vec3<double>& gravity, double duration);
  /// The loads in the step from t0 to t1 > t0 [s]. Ramps and impulses are means over it, so that a whole impulse
  /// arrives for any steps; gravity and tones are those at its middle.
  [[nodiscard]] Instant at(double t0, double t1) const;
  /// Acceleration of the palm at t [m/s^2], P axes: shake and sampled loads. `shake` is used if some load shakes.
  [[nodiscard]] Vec3<double> palm(double t, const ShakePhases<double>& shake) const;
  /// Tones of the shake; nothing if no load shakes.
  [[nodiscard]] std::optional<ShakeTones> tones(const ShakePhases<double>& shake) const;

 private:
  std::vector<TimeLoad> loads_;
  Vec3<double> gravity_;
};

}  // namespace garra::grasp
