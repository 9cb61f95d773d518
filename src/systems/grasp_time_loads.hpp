// The loads of a scenario as a function of time. Host only.
#pragma once

#include <vector>

#include "garra/grasp_time.hpp"
#include "garra/systems/grasp/time_loads.hpp"

namespace garra::grasp {

class LoadClock {
 public:
  /// Throws Error (kInvalidFile) where a load makes no sense, or where more than one shakes. `until`: end of the motion
  /// [s].
  LoadClock(std::vector<TimeLoad> loads, const Vec3<double>& gravity, double until);
  /// The step from t0 to t1 > t0 [s]. Ramps and impulses are means over it, so that a whole impulse arrives whatever
  /// the steps; gravity and tones are those of its middle.
  [[nodiscard]] Instant at(double t0, double t1) const;

 private:
  std::vector<TimeLoad> loads_;
  Vec3<double> gravity_;
};

}  // namespace garra::grasp
