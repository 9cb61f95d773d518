// What tests of grasps in time share.
#pragma once

#include <vector>

#include "garra/math/quaternion.hpp"
#include "grasp/time/motion.hpp"

namespace garra::test {

[[nodiscard]] inline grasp::TimeLoad make_load(grasp::TimeLoad::Kind kind, double from, double to,
                                               const Vec3<double>& force = {{0, 0, 0}}) {
  grasp::TimeLoad load;
  load.kind = kind;
  load.from = from;
  load.to = to;
  load.force = force;
  return load;
}

/// Row k of [.,3].
[[nodiscard]] inline Vec3<double> row(const std::vector<double>& rows, std::size_t k) {
  return {{rows[3 * k], rows[3 * k + 1], rows[3 * k + 2]}};
}

/// Rotation k of unit quaternions [.,4].
[[nodiscard]] inline Mat3<double> rotation_at(const std::vector<double>& quaternions, std::size_t k) {
  const double* e = &quaternions[4 * k];
  return rotation_matrix(Quaternion<double>{{e[0], e[1], e[2], e[3]}});
}

}  // namespace garra::test
