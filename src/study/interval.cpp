#include <algorithm>
#include <cmath>

#include "garra/study/study.hpp"

namespace garra::study {

// E. B. Wilson, J. Am. Stat. Assoc. 22 (1927) 209.
Interval wilson(std::int64_t successes, std::int64_t trials) {
  if (trials <= 0) return {0, 1};
  constexpr double z = 1.959963984540054;  // 97.5 % point of the normal distribution
  const double n = static_cast<double>(trials), p = static_cast<double>(successes) / n;
  const double centre = (p + z * z / (2 * n)) / (1 + z * z / n);
  const double half = z / (1 + z * z / n) * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n));
  // Exact ends: rounding must not exclude 0 or 1 where no sample speaks against them.
  return {successes == 0 ? 0 : std::max(0.0, centre - half), successes == trials ? 1 : std::min(1.0, centre + half)};
}

Interval wilson_with_unsolved(std::int64_t successes, std::int64_t decided, std::int64_t unsolved) {
  // Undecided samples are counted against either end in turn: the interval holds however they would have ended.
  return {wilson(successes, decided + unsolved).low, wilson(successes + unsolved, decided + unsolved).high};
}

}  // namespace garra::study
