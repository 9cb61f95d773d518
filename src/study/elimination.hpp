// Finds the best of many candidates from samples that they share, as soon as the answer is significant
// (docs/theory/grasp-sets.md).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "garra/study/study.hpp"

namespace garra::study {

/// Counts of samples with the same draws for which one candidate succeeds and the other fails.
struct Discordant {
  std::int64_t only_first = 0, only_second = 0;
};

/// Log of the evidence that the first has the larger probability. If it has not, the chance that the evidence ever
/// reaches x is at most 1/x, under any number of looks. It is the wealth of a bettor who stakes a share on the first at
/// each discordant pair, averaged over several shares (J. Ville, 1939; A. Ramdas et al., Statistical Science 38, 2023,
/// 576).
[[nodiscard]] double log_evidence(const Discordant& pairs);

/// Confidence sequence for a probability with `successes` of `trials`. With this confidence the truth lies in all of
/// these intervals, under any number of looks (H. Robbins, Annals of Mathematical Statistics 41, 1970, 1397, with the
/// Beta(1/2, 1/2) mixture). Wider than the exact interval. `unsolved` further trials may be either.
[[nodiscard]] Interval always_valid(std::int64_t successes, std::int64_t trials, std::int64_t unsolved,
                                    double confidence);

/// Successive elimination: drops a candidate when as many others as are wanted are each significantly better. With
/// probability `confidence` at least, none of the true best is ever dropped, under any number of looks.
class Elimination {
 public:
  Elimination(std::int64_t candidates, std::int64_t wanted, double confidence);

  /// Candidates not yet dropped, in their order.
  [[nodiscard]] const std::vector<std::size_t>& survivors() const { return survivors_; }
  /// Whether only the wanted number is left.
  [[nodiscard]] bool is_decided() const { return std::ssize(survivors_) <= wanted_; }
  /// Drops candidates that are significantly worse than `wanted` others. `leaders`: that many survivors, the present
  /// best; `pairs(a, b)`: discordant pairs of two candidates so far, with undecided samples counted against a.
  template <class Pairs>
  void drop_worse(std::span<const std::size_t> leaders, const Pairs& pairs) {
    std::vector<std::size_t> left;
    for (const std::size_t g : survivors_)
      if (!is_worse_than_all(g, leaders, pairs)) left.push_back(g);
    survivors_.swap(left);
  }

 private:
  template <class Pairs>
  [[nodiscard]] bool is_worse_than_all(std::size_t g, std::span<const std::size_t> leaders, const Pairs& pairs) const {
    for (const std::size_t leader : leaders)
      if (g == leader || log_evidence(pairs(leader, g)) < needed_) return false;
    return std::ssize(leaders) >= wanted_;
  }

  std::int64_t wanted_;
  double needed_;  ///< log of the evidence
  std::vector<std::size_t> survivors_;
};

}  // namespace garra::study
