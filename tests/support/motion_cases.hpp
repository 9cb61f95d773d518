// What tests of grasps in time share.
#pragma once

#include <vector>

#include "systems/grasp_motion.hpp"

namespace garra::test {

[[nodiscard]] inline grasp::TimeLoad load_of(grasp::TimeLoad::Kind kind, double from, double to,
                                             const Vec3<double>& force) {
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

}  // namespace garra::test
