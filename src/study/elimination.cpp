#include "study/elimination.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace garra::study {

namespace {

/// Stakes of the bettor. A large one decides soon if all pairs agree, a small one detects small differences.
constexpr std::array<double, 8> kShares = {0.98, 0.8, 0.5, 0.3, 0.15, 0.07, 0.03, 0.01};

/// log of the density of the Beta(1/2, 1/2) mixture of sequences with these counts over that of probability p.
double log_mixture_over(double p, double successes, double failures) {
  const double mixture = std::lgamma(successes + 0.5) + std::lgamma(failures + 0.5) -
                         std::lgamma(successes + failures + 1) - std::log(M_PI);
  const auto part = [](double n, double log_p) { return n == 0 ? 0 : n * log_p; };
  return mixture - part(successes, std::log(p)) - part(failures, std::log1p(-p));
}

/// The end of the interval between `inside` and `outside`.
double find_limit(double inside, double outside, double successes, double failures, double limit) {
  for (int k = 0; k < 60; ++k) {
    const double middle = 0.5 * (inside + outside);
    (log_mixture_over(middle, successes, failures) < limit ? inside : outside) = middle;
  }
  return outside;
}

}  // namespace

double log_evidence(const Discordant& pairs) {
  const auto up = static_cast<double>(pairs.only_first), down = static_cast<double>(pairs.only_second);
  std::array<double, kShares.size()> log{};
  for (std::size_t k = 0; k < kShares.size(); ++k)
    log[k] = up * std::log1p(kShares[k]) + down * std::log1p(-kShares[k]);
  const double largest = *std::max_element(log.begin(), log.end());
  double sum = 0;
  for (const double x : log) sum += std::exp(x - largest);
  return largest + std::log(sum / static_cast<double>(kShares.size()));
}

Interval always_valid(std::int64_t successes, std::int64_t trials, std::int64_t unsolved, double confidence) {
  const double limit = -std::log(1 - confidence);
  const auto low_of = [&](std::int64_t n) {
    const auto s = static_cast<double>(n), f = static_cast<double>(trials + unsolved - n);
    return n == 0 ? 0.0 : find_limit(s / (s + f), 0, s, f, limit);
  };
  if (trials + unsolved == 0) return {};
  // The upper end for successes is one minus the lower end for failures.
  return {low_of(successes), 1 - low_of(trials - successes)};
}

/// Union bound: a wrong comparison only matters between one of the `wanted` true best and a candidate that is no
/// better. There are at most wanted * candidates of these pairs.
Elimination::Elimination(std::int64_t candidates, std::int64_t wanted, double confidence)
    : wanted_(wanted),
      needed_(std::log(static_cast<double>(candidates) * static_cast<double>(wanted) / (1 - confidence))),
      survivors_(static_cast<std::size_t>(candidates)) {
  std::iota(survivors_.begin(), survivors_.end(), std::size_t{0});
}

}  // namespace garra::study
