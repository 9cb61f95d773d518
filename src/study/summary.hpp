// What the summaries of all studies are written with.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>

#include "garra/study/counting.hpp"
#include "garra/study/distribution.hpp"
#include "garra/study/engine.hpp"
#include "garra/study/outcomes.hpp"
#include "garra/study/tally.hpp"
#include "study/columns.hpp"

namespace garra::study {

using Json = nlohmann::ordered_json;

/// Version of summary.json. Version 1 has the old names of docs/reference/renamed.md.
inline constexpr int kSummarySchema = 2;

/// 0 before the first sample
[[nodiscard]] std::int64_t at(const Tally& t, int i);
/// null where it is not finite
[[nodiscard]] Json number(double x);
/// Quantile, of the histogram's buckets where it has any, else by linear interpolation within its bins; null where it
/// lies outside of them.
[[nodiscard]] Json quantile(const Tally& t, const Histogram& h, double p);
/// A distribution of docs/reference/run-folder.md. `sum`: number of the tally's sum of the values, behind which that of
/// their squares is; none: there is no mean.
[[nodiscard]] Json distribution(const Tally& t, const Histogram& h, const std::string& unit,
                                std::optional<std::size_t> sum);
/// The same with the words of a table's row: `label`, `meaning`, `reference` where it has them.
[[nodiscard]] Json distribution(const Tally& t, const Histogram& h, const ColumnWords& words,
                                std::optional<std::size_t> sum);
/// These words alone, and the unit.
void put_words(Json& j, const ColumnWords& words);
/// `outcome_words` of docs/reference/run-folder.md: what a table says of each outcome.
[[nodiscard]] Json words_of(std::span<const OutcomeWords> table);
/// `outcomes`, counted from `first` on, and their words.
void put_outcomes(Json& j, std::span<const OutcomeWords> table, const Tally& t, int first);
/// "normal(1.0, 0.05)", ", truncated"
[[nodiscard]] std::string describe(const Distribution& d);

/// The probability over all groups. Groups share their random numbers, so that their samples are not independent: the
/// interval is the mean of the groups' own, weighted with their samples, which is right or too wide whatever they
/// share.
[[nodiscard]] Estimate estimate_of(std::span<const Verdicts> groups);
/// Estimates after a growing number of blocks, so that the curve does not depend on the size of chunks. Sample i is in
/// group i mod `groups`; the tracked sums are held and unsolved samples, group by group.
[[nodiscard]] Json convergence(const Total& t, int groups = 1);

struct UncertainInput {
  const std::string &name, &unit;
  const Distribution& distribution;
};
/// Of the equally likely bins that are counted (kInputBins) as many are shown, each made of several.
inline constexpr int kShownInputBins = 20;
/// Where the samples of an input's quantile bins are counted: those that held, those decided. `groups` of samples, the
/// counts of each `stride` after those of the one before.
struct InputCounts {
  int held = 0, decided = 0;
  int groups = 1, stride = 0;
};
/// First-order Sobol index of the event (docs/theory/monte-carlo.md (4)), within the groups, where there are several.
struct Influence {
  double value = 0;            ///< may be below zero by chance
  double noise = 0;            ///< two standard deviations of what an input without influence shows
  double unresolved = 0;       ///< what varies within the bins and is lost is at most this
  int bins = kShownInputBins;  ///< that it was computed with
};
[[nodiscard]] Influence influence_of(const Tally& t, const InputCounts& counts);
/// Counts of the bins that are shown, over all groups; `first`: where those of the first group's bins are.
[[nodiscard]] Json shown_bins(const Tally& t, int first, const InputCounts& counts);
/// Values of the input amid the bins that are shown.
[[nodiscard]] Json shown_values(const Distribution& d);
/// An input and its influence on "held".
[[nodiscard]] Json input_json(const Tally& t, const InputCounts& counts, const UncertainInput& input);

}  // namespace garra::study
