// Which of many candidates are the best, by samples that all of them share, as soon as it is sure
// (docs/theory/grasp-sets.md).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "garra/study/study.hpp"

namespace garra::study {

/// Pairs of samples with the same draws of which one is a success and the other is not.
struct Discordant {
  std::int64_t only_first = 0, only_second = 0;
};

/// Evidence that the first has the larger probability: under "it has not" the chance that this ever reaches x, however
/// often one looks, is at most 1/x. A bettor who puts shares of his money on the first at each discordant pair; the
/// mean over several shares (J. Ville, 1939; A. Ramdas et al., Statistical Science 38, 2023, 576). Its logarithm.
[[nodiscard]] double log_evidence(const Discordant& pairs);

/// For a probability of which `successes` of `trials` are seen: with this confidence the truth is never outside of any
/// of these intervals, however often one looks (H. Robbins, Annals of Mathematical Statistics 41, 1970, 1397, with the
/// Beta(1/2, 1/2) mixture). Wider than the exact one. `unsolved` more may be either.
[[nodiscard]] Interval always_valid(std::int64_t successes, std::int64_t trials, std::int64_t unsolved,
                                    double confidence);

/// Successive elimination: a candidate goes when so many others as are wanted are each surely better. With probability
/// `confidence` at least none of the true best goes, however often it is asked.
class Elimination {
 public:
  Elimination(std::int64_t candidates, std::int64_t wanted, double confidence);

  /// Candidates still in the race, in their order.
  [[nodiscard]] const std::vector<std::size_t>& survivors() const { return survivors_; }
  /// None but the wanted ones is left.
  [[nodiscard]] bool is_decided() const { return std::ssize(survivors_) <= wanted_; }
  /// Drops who is surely worse than `wanted` others. `leaders`: as many survivors, which lead now; `pairs(a, b)`: the
  /// discordant pairs of two candidates so far, undecided samples counted against a.
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
