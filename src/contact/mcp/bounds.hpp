// The bounds of a batch of problems.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <string>

#include "garra/core/error.hpp"

namespace garra::mcp {

/// Throws Error(kUsage) for sizes, NaN, lower > upper, and infinities that leave nothing between the bounds.
inline void check_bounds(std::span<const double> lower, std::span<const double> upper, std::int64_t count, int size) {
  const std::size_t all = static_cast<std::size_t>(count) * static_cast<std::size_t>(size);
  if (lower.size() != all || upper.size() != all)
    throw Error(ExitCode::kUsage, "mcp: lower and upper do not have the shape [count, size] = [" +
                                      std::to_string(count) + ", " + std::to_string(size) + "]");
  for (std::size_t k = 0; k < all; ++k)
    if (!(lower[k] <= upper[k]) || lower[k] == INFINITY || upper[k] == -INFINITY)
      throw Error(ExitCode::kUsage,
                  "mcp: lower = " + std::to_string(lower[k]) + " and upper = " + std::to_string(upper[k]) +
                      " of unknown " + std::to_string(k % static_cast<std::size_t>(size)) + " in problem " +
                      std::to_string(k / static_cast<std::size_t>(size)) + " are no bounds",
                  "Give lower <= upper; -infinity or infinity where there is no bound.");
}

}  // namespace garra::mcp
