// Decides whether unsolved samples fail a study (docs/theory/monte-carlo.md, "Interval").
#include <algorithm>
#include <cstdio>

#include "garra/study/study.hpp"

namespace garra::study {

namespace {

DecisionCounts add_groups(std::span<const DecisionCounts> groups) {
  DecisionCounts all;
  for (const DecisionCounts& g : groups) {
    all.held += g.held;
    all.decided += g.decided;
    all.unsolved += g.unsolved;
  }
  return all;
}

double width(const Interval& i) { return i.high - i.low; }

std::string above_share(double share, double limit) {
  if (share <= limit) return "";
  char text[128];
  std::snprintf(text, sizeof text, "%.3g %% of the samples are unsolved, more than a share of %.3g", 100 * share,
                limit);
  return text;
}

/// Default check on the number of unsolved samples.
std::string too_many(const DecisionCounts& all) {
  constexpr std::int64_t kFew = 3, kOneOf = 1000;
  const std::int64_t samples = all.decided + all.unsolved;
  if (all.unsolved <= std::max(kFew, samples / kOneOf)) return "";
  return std::to_string(all.unsolved) + " of " + std::to_string(samples) + " samples are unsolved, more than max(" +
         std::to_string(kFew) + ", samples / " + std::to_string(kOneOf) + ")";
}

/// Default check on width: whether unsolved samples widen a group's interval more than chance does.
std::string too_wide(const DecisionCounts& g) {
  const double chance = width(clopper_pearson(g.held, g.decided)),
               both = width(clopper_pearson_with_unsolved(g.held, g.decided, g.unsolved));
  if (both - chance <= chance) return "";
  char text[192];
  std::snprintf(text, sizeof text,
                "%lld unsolved samples widen the 95 %% interval from %.3g to %.3g, by more than its statistical width",
                static_cast<long long>(g.unsolved), chance, both);
  return text;
}

}  // namespace

double unsolved_share(std::span<const DecisionCounts> groups) {
  const DecisionCounts all = add_groups(groups);
  const std::int64_t samples = all.decided + all.unsolved;
  return samples == 0 ? 0 : static_cast<double>(all.unsolved) / static_cast<double>(samples);
}

std::string unsolved_fault(std::span<const DecisionCounts> groups, const std::optional<double>& max_unsolved) {
  if (max_unsolved) return above_share(unsolved_share(groups), *max_unsolved);
  std::string fault = too_many(add_groups(groups));
  for (std::size_t k = 0; k < groups.size() && fault.empty(); ++k) fault = too_wide(groups[k]);
  return fault;
}

}  // namespace garra::study
