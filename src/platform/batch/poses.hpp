// Checks of rows of poses, and NaN outputs for unusable rows.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "garra/platform.hpp"

namespace garra::platform {

/// Throws Error(kUsage) for a platform without masses, of which only kinematics are known.
void require_masses(const Platform& platform);
inline void require_masses(const Platforms& platforms) {
  for (const Platform& p : platforms) require_masses(p);
}

/// Number of samples of a batch, from its positions.
inline std::int64_t count_rows(const Poses& poses) { return static_cast<std::int64_t>(poses.position.size() / 3); }

/// True if the row is finite; also for an empty (optional) array.
inline bool finite_row(const std::vector<double>& array, std::int64_t row, int width) {
  for (int k = 0; k < width && !array.empty(); ++k)
    if (!std::isfinite(array[static_cast<std::size_t>(row * width + k)])) return false;
  return true;
}

/// True for a finite pose with a quaternion that can be normalized in double precision.
inline bool usable(const Poses& poses, std::int64_t row) {
  if (!finite_row(poses.position, row, 3) || !finite_row(poses.quaternion, row, 4)) return false;
  double squares = 0;
  for (std::size_t k = 0; k < 4; ++k) {
    const double e = poses.quaternion[static_cast<std::size_t>(4 * row) + k];
    squares += e * e;
  }
  return std::isnormal(squares);
}

/// Sets a row of an optional array to NaN.
inline void blank(std::vector<double>& array, std::int64_t row, int width) {
  for (int k = 0; k < width && !array.empty(); ++k)
    array[static_cast<std::size_t>(row * width + k)] = std::numeric_limits<double>::quiet_NaN();
}

}  // namespace garra::platform
