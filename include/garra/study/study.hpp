// Plan, confidence interval and unsolved samples of every Monte Carlo study
// (docs/theory/monte-carlo.md).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace garra::study {

class Study;  // study/engine.hpp

inline constexpr std::int64_t kBlock = 1024;  ///< samples per block; chunks are whole blocks

/// Plan of a study: number of samples, and stop rules. Zero means "not asked for".
struct Plan {
  std::uint64_t seed = 1;
  std::int64_t samples = 100'000;
  std::int64_t chunk = 64 * kBlock;  ///< samples per chunk file; a whole number of blocks
  double stop_half_width = 0;        ///< stop: half width of the 95 % interval <= this
  double time_limit = 0;             ///< [s] stop (resumable) after this long
  std::string keep = "failures";     ///< samples written out one by one: none | failures | all
  /// Exit code 4 above this share of unsolved samples; empty: the rule of unsolved_fault().
  std::optional<double> max_unsolved = {};
};

/// Exact 95 % interval (Clopper and Pearson) for `successes` of `trials`: its coverage is at least 95 %, whatever the
/// probability (docs/theory/monte-carlo.md)
struct Interval {
  double low = 0, high = 1;
};
[[nodiscard]] Interval clopper_pearson(std::int64_t successes, std::int64_t trials);

/// The interval if `unsolved` further samples might have had either outcome: wider on both sides.
[[nodiscard]] Interval clopper_pearson_with_unsolved(std::int64_t successes, std::int64_t decided,
                                                     std::int64_t unsolved);

/// Sample counts of one probability of a study (of a design, of a level of friction): with the
/// event, with an answer, without one.
struct DecisionCounts {
  std::int64_t held = 0, decided = 0, unsolved = 0;
};
/// Share of samples without an answer; 0 if there are none.
[[nodiscard]] double unsolved_share(std::span<const DecisionCounts> groups);

/// The reason why unsolved samples fail a study, as the beginning of a sentence; "" if they do not.
/// With `max_unsolved`, the share of unsolved samples is above it. Without it there are two reasons
/// (docs/theory/monte-carlo.md). The unsolved samples exceed max(3, n / 1000) of the n samples of
/// all groups. Or they widen the interval of a group by more than its statistical width,
/// clopper_pearson() of the decided samples.
[[nodiscard]] std::string unsolved_fault(std::span<const DecisionCounts> groups,
                                         const std::optional<double>& max_unsolved);

}  // namespace garra::study
