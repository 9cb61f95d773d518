// Rows of a group for pictures: of an instant, or of a trajectory. Host only.
#pragma once

#include "garra/math/quaternion.hpp"
#include "grasp/group/model.hpp"
#include "grasp/time/motion.hpp"

namespace garra::grasp {

/// A series without rows: friction, scales, room for fingers and objects.
[[nodiscard]] MotionSeries begin_series(const GroupModel& m, const GroupSample& s);
/// Appends the pose of object k.
void append_object(std::size_t k, const Vec3<double>& p, const Quaternion<double>& turn, MotionSeries& out);
/// Appends normals, points and forces of the contacts; `numbers` of c for each: (n, t, o, ...).
void append_contacts(View<const ContactPlace<double>> places, View<const double> c, std::size_t numbers,
                     MotionSeries& out);
/// Appends joints and links of all fingers.
void append_fingers(const GroupModel& m, View<const double> q, View<const double> qd, MotionSeries& out);

}  // namespace garra::grasp
