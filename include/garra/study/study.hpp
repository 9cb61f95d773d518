// What every Monte Carlo study shares, whatever the system: its plan, progress and interval (docs/monte-carlo.md).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace garra::study {

class Study;  // study/engine.hpp

inline constexpr std::int64_t kBlock = 1024;  ///< samples per block; chunks are whole blocks

/// How many samples, and when to stop. Zero means "not asked for".
struct Plan {
  std::uint64_t seed = 1;
  std::int64_t samples = 100'000;
  std::int64_t chunk = 64 * kBlock;  ///< samples per chunk file; a whole number of blocks
  double stop_half_width = 0;        ///< stop: half width of the 95 % interval <= this
  double time_limit = 0;             ///< [s] stop (resumable) after this long
  double max_unsolved = 1e-6;        ///< exit code 4 above this share of unsolved samples
  std::string keep = "failures";     ///< samples written out one by one: none | failures | all
};

/// 95 % Wilson score interval for `successes` of `trials`.
struct Interval {
  double low = 0, high = 1;
};
[[nodiscard]] Interval wilson(std::int64_t successes, std::int64_t trials);

/// The interval when `unsolved` further samples might have gone either way: they widen it on both sides.
[[nodiscard]] Interval wilson_with_unsolved(std::int64_t successes, std::int64_t decided, std::int64_t unsolved);

}  // namespace garra::study
