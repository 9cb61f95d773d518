// Decides the samples of each grasp of a set by itself: results, numbers, and the columns of a ranking from them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "garra/grasp_set.hpp"
#include "grasp/set/run_hand.hpp"

namespace garra::grasp {

/// Range [first, first + count) of samples of each grasp, `first` a multiple of 64. The first `numbers` of them also
/// give numbers, and the first `radii` (ideal hands) the resisted force radius.
struct IndexRange {
  std::int64_t first, count, numbers, radii;
};
[[nodiscard]] IndexRange all_samples(const SetStudy& study);
/// Samples that give numbers only and are not decided.
[[nodiscard]] IndexRange numbers_only(const SetStudy& study);

/// Input of the decisions: consecutive grasps of a set, as a set of their own.
struct Work {
  const GraspSet& set;
  const SetStudy& study;
  Hand hand;
  const Device& device;
  double* rows = nullptr;  ///< those of samples(), if they are wanted
};

/// Results of some grasps, in their order.
struct Decided {
  Decided(std::size_t grasps, const IndexRange& of, Hand hand);

  std::size_t words;                     ///< DecisionBits of a grasp
  std::vector<DecisionBits> decisions;   ///< [grasp][words]
  std::size_t each;                      ///< numbers of a grasp
  std::vector<double> critical, margin;  ///< [grasp][each]
  std::size_t radii;                     ///< of a grasp
  std::vector<double> radius;            ///< [grasp][radii]
  std::vector<HandCounts> counts;        ///< [grasp] of a hand that is not ideal

  [[nodiscard]] std::span<const DecisionBits> of(std::size_t k) const {
    return std::span(decisions).subspan(k * words, words);
  }
};

/// Decides these grasps, with any numbers of contacts. `done` receives the count of finished ones.
[[nodiscard]] Decided decide(const Work& work, std::span<const std::size_t> which, const IndexRange& of,
                             const SetProgress& done = {});

/// One row per grasp, without ranks.
[[nodiscard]] Ranking empty_ranking(std::size_t grasps, Hand hand);

/// Appends the rows of another ranking.
void append_ranking(const Ranking& rows, Ranking& to);

/// Counts held and unsolved samples of a grasp, from its bits.
void count(std::span<const DecisionBits> decisions, std::size_t g, Ranking& out);

/// Sets P(held) and its interval, from these counts.
void set_probability(const SetStudy& study, std::size_t g, Ranking& out);

/// Sets row g to the remaining columns of the k-th decided grasp.
void set_columns(const Decided& decided, std::size_t k, std::size_t g, Ranking& out);

/// Decides all samples of all grasps of `work.set`: every column but rank and difference. `decisions` gets
/// [grasp][words_for(samples)]; the words of a grasp that is not ranked are zero.
[[nodiscard]] Ranking rank_apart(const Work& work, std::vector<DecisionBits>& decisions, const SetProgress& done = {});

}  // namespace garra::grasp
