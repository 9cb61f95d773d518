// Rows of plain arrays that the entries of the full form look at.
#pragma once

#include <cmath>
#include <limits>

#include "platform/batch/rows_run.hpp"

namespace garra::platform {

/// Samples of a batch, by its positions.
inline std::int64_t rows_of_poses(const Poses& poses) { return static_cast<std::int64_t>(poses.position.size() / 3); }

/// Whether the `width` numbers of a row are all finite.
inline bool finite_row(const std::vector<double>& array, std::size_t row, std::size_t width) {
  for (std::size_t k = 0; k < width; ++k)
    if (!std::isfinite(array[row * width + k])) return false;
  return true;
}

/// Row i becomes NaN.
inline void blank_row(std::vector<double>& array, std::size_t i, std::size_t width) {
  for (std::size_t k = 0; k < width; ++k) array[i * width + k] = std::numeric_limits<double>::quiet_NaN();
}

}  // namespace garra::platform
