// Grasps of a set beside one another: which is better, and by how much, on samples with the same draws.
#pragma once

#include <compare>
#include <cstdint>
#include <span>

#include "garra/grasp_set.hpp"
#include "grasp/set/run.hpp"
#include "study/elimination.hpp"

namespace garra::grasp {

/// What speaks for the first: it does not hold what it has not decided, and the second one does.
[[nodiscard]] study::Discordant surely_better(std::span<const VerdictBits> a, std::span<const VerdictBits> b);

/// The verdicts of as many of the best grasp's samples as this one has; row g gets its difference to the best.
void set_difference(const SetStudy& study, std::span<const VerdictBits> verdicts, std::span<const VerdictBits> best,
                    std::size_t g, Ranking& out);

/// What decides about a grasp's place. The smaller, the better: those with most samples, which is all of them unless
/// some were given up; the most probable; then the one with the largest wrench radius, where it has one; then the one
/// that needs the least friction; then the first of the set.
struct RankKey {
  RankKey() = default;
  RankKey(const Ranking& r, std::size_t row, std::int64_t number);

  double samples = 0, p_held = 0, radius = 0, friction = 0;
  std::int64_t grasp = 0;
  friend auto operator<=>(const RankKey&, const RankKey&) = default;
};

}  // namespace garra::grasp
