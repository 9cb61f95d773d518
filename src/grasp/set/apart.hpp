// What samples tell of grasps of a set, each by itself: verdicts, numbers, and the columns of a ranking that follow.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "garra/grasp_set.hpp"
#include "grasp/set/run_hand.hpp"

namespace garra::grasp {

/// Samples [first, first + count) of each grasp, `first` a multiple of 64; and the first so many that are also asked
/// for numbers, and of an ideal hand for the wrench radius.
struct Stretch {
  std::int64_t first, count, numbers, radii;
};
[[nodiscard]] Stretch all_samples(const SetStudy& study);
/// Samples that are asked and not decided.
[[nodiscard]] Stretch numbers_only(const SetStudy& study);

/// What all of it is computed from: consecutive grasps of a set, as a set of their own.
struct Work {
  const Set& set;
  const SetStudy& study;
  Hand hand;
  const Device& device;
};

/// What is known of some grasps, in their order.
struct Decided {
  Decided(std::size_t grasps, const Stretch& of, Hand hand);

  std::size_t words;                     ///< of verdicts
  std::vector<VerdictBits> verdicts;     ///< [grasp][words]
  std::size_t each;                      ///< numbers of a grasp
  std::vector<double> critical, margin;  ///< [grasp][each]
  std::size_t radii;                     ///< of a grasp
  std::vector<double> radius;            ///< [grasp][radii]
  std::vector<HandCounts> counts;        ///< [grasp] of a hand that is not ideal

  [[nodiscard]] std::span<const VerdictBits> of(std::size_t k) const {
    return std::span(verdicts).subspan(k * words, words);
  }
};

/// Of these grasps, whatever their numbers of contacts. `done` hears how many are through.
[[nodiscard]] Decided decide(const Work& work, std::span<const std::size_t> which, const Stretch& of,
                             const SetProgress& done = {});

/// One row a grasp, all without a rank.
[[nodiscard]] Ranking empty_ranking(std::size_t grasps, Hand hand);

/// Appends the rows of another.
void append(const Ranking& rows, Ranking& to);

/// Held and unsolved samples of a grasp, by its verdicts.
void count(std::span<const VerdictBits> verdicts, std::size_t g, Ranking& out);

/// P(held) and its interval, by these counts.
void set_probability(const SetStudy& study, std::size_t g, Ranking& out);

/// All else that the k-th of the decided grasps tells by itself becomes row g.
void set_columns(const Decided& decided, std::size_t k, std::size_t g, Ranking& out);

/// All grasps of `work.set` with all their samples: every column but rank and difference. `verdicts` gets
/// [grasp][words_for(samples)]; those of a grasp that is not ranked are zero.
[[nodiscard]] Ranking rank_apart(const Work& work, std::vector<VerdictBits>& verdicts, const SetProgress& done = {});

}  // namespace garra::grasp
