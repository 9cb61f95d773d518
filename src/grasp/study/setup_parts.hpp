// Parts of the model of a scenario that grasps of one object and groups share. Host only.
#pragma once

#include <cmath>
#include <vector>

#include "grasp/sample/grasp_model.hpp"

namespace garra::grasp {

/// Nominal values of all scalar inputs by their slots; appends the uncertain ones to `draws`, in the order of
/// uncertain_inputs().
[[nodiscard]] std::vector<double> list_inputs(const Scenario& s, std::vector<Draw>& draws);
[[nodiscard]] SurfacePoint surface_point(const Contact& c);
/// A curvature, or 0 for less than 1e-6 1/m: rounding of a plane, by which no displacement can be divided.
[[nodiscard]] inline double significant_curvature(double curvature) {
  return std::abs(curvature) < 1e-6 ? 0 : curvature;
}
/// Principal moments of inertia per mass [m^2].
[[nodiscard]] Vec3<double> gyration2(const Object& o);
/// Model of finger j. Throws Error for a closed form that its chain does not have.
void set_finger(const Scenario& s, std::size_t j, FingerModel& f);
/// Moves the tool of finger j to the nearest point of its last link if its joints cannot bring it to the task. Throws
/// Error if that does not help.
void make_finger_reach(const FingerTask<double>& task, bool moving, std::size_t j, FingerModel& f);

}  // namespace garra::grasp
