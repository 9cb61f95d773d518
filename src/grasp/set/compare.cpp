#include "grasp/set/compare.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "garra/study/study.hpp"

namespace garra::grasp {

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// Counts of samples of two grasps with the same draws: those with only one held, and those that both decide.
struct Pairs {
  std::int64_t only_first = 0, only_second = 0, both_decided = 0;
};

Pairs compare(std::span<const DecisionBits> a, std::span<const DecisionBits> b, std::int64_t samples) {
  Pairs p;
  p.both_decided = samples;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::uint64_t open = a[i].undecided | b[i].undecided;
    p.both_decided -= std::popcount(open);
    p.only_first += std::popcount(a[i].held & ~b[i].held & ~open);
    p.only_second += std::popcount(b[i].held & ~a[i].held & ~open);
  }
  return p;
}

/// Difference and interval that hold at any time: each one-sided frequency gets half of the error probability.
void set_lasting(const Pairs& p, double confidence, std::size_t g, Ranking& out) {
  const std::int64_t n = p.both_decided;
  const double half = 0.5 * (1 + confidence);
  const study::Interval up = study::always_valid(p.only_first, n, 0, half);
  const study::Interval down = study::always_valid(p.only_second, n, 0, half);
  out.difference[g] = n > 0 ? static_cast<double>(p.only_first - p.only_second) / static_cast<double>(n) : kNone;
  out.difference_low[g] = up.low - down.high;
  out.difference_high[g] = up.high - down.low;
}

/// Difference and interval by A. Agresti and Y. Min, Statistics in Medicine 24 (2005) 729: half a pair added per cell.
void set_usual(const Pairs& pairs, std::size_t g, Ranking& out) {
  constexpr double z = 1.959963984540054;
  const auto n = static_cast<double>(pairs.both_decided);
  const auto up = static_cast<double>(pairs.only_first), down = static_cast<double>(pairs.only_second);
  out.difference[g] = pairs.both_decided > 0 ? (up - down) / n : kNone;
  const double middle = (up - down) / (n + 2), both = (up + down + 1) / (n + 2);
  const double half = z * std::sqrt((both - middle * middle) / (n + 2));
  out.difference_low[g] = std::max(-1.0, middle - half);
  out.difference_high[g] = std::min(1.0, middle + half);
}

}  // namespace

study::Discordant surely_better(std::span<const DecisionBits> a, std::span<const DecisionBits> b) {
  study::Discordant d;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::uint64_t second = b[i].held | b[i].undecided;
    d.only_first += std::popcount(a[i].held & ~second);
    d.only_second += std::popcount(second & ~a[i].held);
  }
  return d;
}

void set_difference(const SetStudy& study, std::span<const DecisionBits> decisions, std::span<const DecisionBits> best,
                    std::size_t g, Ranking& out) {
  const Pairs pairs = compare(decisions, best.first(decisions.size()), out.samples[g]);
  study.best > 0 ? set_lasting(pairs, study.confidence, g, out) : set_usual(pairs, g, out);
}

RankKey::RankKey(const Ranking& r, std::size_t row, std::int64_t number)
    // Undecided samples come last. A missing radius or friction (if only some best are wanted) counts as the least.
    : samples(-static_cast<double>(r.samples[row])),
      p_held(std::isnan(r.p_held[row]) ? 1 : -r.p_held[row]),
      radius(std::isnan(r.resisted_force_radius[row]) ? 0 : -r.resisted_force_radius[row]),
      friction(std::isnan(r.required_friction[row][1]) ? 0 : r.required_friction[row][1]),
      grasp(number) {}

}  // namespace garra::grasp
