#include <cmath>

#include "garra/core/elementary.hpp"
#include "garra/study/study.hpp"

namespace garra::study {

namespace {

constexpr double kTail = 0.025;  ///< probability beyond each end of a 95 % interval

/// log(n!) - (n + 1/2) log n + n - log(2 pi) / 2, n >= 1.
double stirling_error(double n) {
  constexpr double kSeriesFrom = 16;  // from here on the series below is exact to rounding
  if (n < kSeriesFrom) {
    double factorial = 1;
    for (double i = 2; i <= n; ++i) factorial *= i;
    return log(factorial) - (n + 0.5) * log(n) + n - 0.5 * log(2 * M_PI);
  }
  const double m = n * n;
  return (1 / 12.0 - (1 / 360.0 - (1 / 1260.0 - (1 / 1680.0 - 1 / (1188 * m)) / m) / m) / m) / n;
}

/// log of P(X = k) of n draws, 0 < k < n (C. Loader's form, which cancels little).
double log_chance(double k, double n, double p) {
  const double f = n - k;
  return stirling_error(n) - stirling_error(k) - stirling_error(f) + 0.5 * log(n / (2 * M_PI * k * f)) +
         k * log(n * p / k) + f * log(n * (1 - p) / f);
}

/// P(X >= k) / P(X = k) of n draws.
double tail_over_first(double k, double n, double p) {
  const double odds = p / (1 - p);
  double sum = 1;
  for (double term = 1, i = k + 1; i <= n && term > 1e-17 * sum; ++i) sum += term *= (n - i + 1) / i * odds;
  return sum;
}

/// Approximate lower end, where the search starts: E. B. Wilson, J. Am. Stat. Assoc. 22 (1927) 209.
double wilson_low(double k, double n) {
  constexpr double z = 1.959963984540054;  // 97.5 % point of the normal distribution
  const double p = k / n, c = z * z / n;
  return (p + c / 2 - z * std::sqrt(p * (1 - p) / n + c / (4 * n))) / (1 + c);
}

/// The probability p for which P(X >= k) of n draws is kTail. log P(X >= k) is a concave function of log p, so Newton's
/// iteration increases to the root from the first step on.
double lower_end(std::int64_t successes, std::int64_t trials) {
  const auto k = static_cast<double>(successes), n = static_cast<double>(trials);
  if (successes == 0) return 0;
  if (successes == trials) return exp(log(kTail) / n);
  constexpr int kMaxSteps = 60;
  double p = wilson_low(k, n);
  for (int step = 0; step < kMaxSteps; ++step) {
    const double tail = tail_over_first(k, n, p);
    const double change = (log(kTail) - log_chance(k, n, p) - log(tail)) * tail / k;  // of log p
    p *= exp(change);
    if (step > 0 && change < 1e-15) break;  // below 0: rounding
  }
  return p;
}

}  // namespace

// C. J. Clopper, E. S. Pearson, Biometrika 26 (1934) 404.
Interval clopper_pearson(std::int64_t successes, std::int64_t trials) {
  if (trials <= 0) return {0, 1};
  return {lower_end(successes, trials), 1 - lower_end(trials - successes, trials)};
}

Interval clopper_pearson_with_unsolved(std::int64_t successes, std::int64_t decided, std::int64_t unsolved) {
  // Undecided samples count against either end in turn: the interval holds for every possible outcome of theirs.
  const std::int64_t trials = decided + unsolved;
  return {clopper_pearson(successes, trials).low, clopper_pearson(successes + unsolved, trials).high};
}

}  // namespace garra::study
