// Compares grasps of a set: which is better, and by how much, on samples with the same draws.
#pragma once

#include <compare>
#include <cstdint>
#include <span>

#include "garra/grasp_set.hpp"
#include "grasp/set/run_set.hpp"
#include "study/elimination.hpp"

namespace garra::grasp {

/// Evidence that the first is better: its undecided samples count as not held, those of the second as held.
[[nodiscard]] study::Discordant surely_better(std::span<const DecisionBits> a, std::span<const DecisionBits> b);

/// Sets row g's difference to the best grasp, over as many of its samples as this one has.
void set_difference(const SetStudy& study, std::span<const DecisionBits> decisions, std::span<const DecisionBits> best,
                    std::size_t g, Ranking& out);

/// Sort key of a grasp; the smaller, the better. First come those with most samples, which is all unless some were
/// dropped; then the most probable; then the largest resisted force radius, if there is one; then the least friction
/// needed; then the first of the set.
struct RankKey {
  RankKey() = default;
  RankKey(const Ranking& r, std::size_t row, std::int64_t number);

  double samples = 0, p_held = 0, radius = 0, friction = 0;
  std::int64_t grasp = 0;
  friend auto operator<=>(const RankKey&, const RankKey&) = default;
};

}  // namespace garra::grasp
