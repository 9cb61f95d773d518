// Helpers that write the summaries of all studies as JSON.
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

/// The keys that every summary begins with. `kind`: a key behind the job.
[[nodiscard]] Json summary_head(const char* job, const std::string& title, const Plan& plan, const Total& total,
                                const std::string& stopped_by, const Json& kind = Json::object());
/// `probability`, `low`, `high` of an estimate.
[[nodiscard]] Json to_json(const Estimate& estimate);
/// 0 before the first sample
[[nodiscard]] std::int64_t at(const Tally& t, int i);
/// null if it is not finite
[[nodiscard]] Json number(double x);
/// Quantile from the histogram's buckets if it has any, else by linear interpolation within its bins; null if it lies
/// outside of them.
[[nodiscard]] Json quantile(const Tally& t, const Histogram& h, double p);
/// A distribution as in docs/reference/run-folder.md. `sum`: index of the tally's sum of the values, followed by the
/// sum of their squares; without it there is no mean.
[[nodiscard]] Json distribution(const Tally& t, const Histogram& h, const std::string& unit,
                                std::optional<std::size_t> sum);
/// The same with the words of a table's row: `label`, `meaning`, `reference` if it has them.
[[nodiscard]] Json distribution(const Tally& t, const Histogram& h, const ColumnWords& words,
                                std::optional<std::size_t> sum);
/// Writes these words and the unit.
void put_words(Json& j, const ColumnWords& words);
/// `outcome_words` of docs/reference/run-folder.md: a table's words for each outcome.
[[nodiscard]] Json words_to_json(std::span<const OutcomeWords> table);
/// Writes `outcomes`, counted from `first` on, and their words.
void put_outcomes(Json& j, std::span<const OutcomeWords> table, const Tally& t, int first);
/// "normal(1.0, 0.05)", ", truncated"
[[nodiscard]] std::string describe(const Distribution& d);

/// The probability over all groups. Groups share their random numbers, so their samples are not independent. The
/// interval is therefore the mean of the groups' own, weighted by their samples, which is right or too wide for any
/// dependence.
[[nodiscard]] Estimate make_estimate(std::span<const DecisionCounts> groups);
/// Estimates after a growing number of blocks, so that the curve does not depend on the chunk size. Sample i is in
/// group i mod `groups`; the tracked sums are held and unsolved samples, group by group. `only`: of this group alone.
[[nodiscard]] Json convergence(const Total& t, int groups = 1, int only = -1);

/// An uncertain input with its unit.
struct UncertainInput {
  const std::string &name, &unit;
  const Distribution& distribution;
};
/// Number of shown bins, each made of several of the equally likely counted bins (kInputBins).
inline constexpr int kShownInputBins = 20;
/// Offsets of the counts for an input's quantile bins: held samples, decided samples. The counts of each of `groups`
/// groups of samples lie `stride` after those of the one before.
struct InputCounts {
  int held = 0, decided = 0;
  int groups = 1, stride = 0;
};
/// First-order Sobol index of the event (docs/theory/monte-carlo.md (4)), within groups if there are several.
struct Influence {
  double value = 0;            ///< may be below zero by chance
  double noise = 0;            ///< two standard deviations of what an input without influence shows
  double unresolved = 0;       ///< upper bound on the variance lost within the bins
  int bins = kShownInputBins;  ///< number of bins in its computation
};
[[nodiscard]] Influence compute_influence(const Tally& t, const InputCounts& counts);
/// Counts of the shown bins over all groups; `first`: offset of the first group's bins.
[[nodiscard]] Json shown_bins(const Tally& t, int first, const InputCounts& counts);
/// Values of the input at the middles of the shown bins.
[[nodiscard]] Json shown_values(const Distribution& d);
/// An input and its influence on "held".
[[nodiscard]] Json input_json(const Tally& t, const InputCounts& counts, const UncertainInput& input);

}  // namespace garra::study
