#include "study/summary.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "garra/core/error.hpp"

namespace garra::study {

namespace {

/// Samples of one group whose input lies in one quantile bin.
struct Bin {
  std::int64_t held, decided;
};

double mean(const Bin& b) { return static_cast<double>(b.held) / static_cast<double>(b.decided); }

/// Sums of one group of n samples. `variance` is n p (1 - p), `between` the part explained by the means of its bins,
/// `within` the most that the bins may hide.
struct Explained {
  double n = 0, variance = 0, between = 0, within = 0;
};

/// Largest variance of f(u), the mean of the event over the input, within bin b, if f is monotone there: between the
/// means of the neighbors, or 0 or 1 at the ends (R. Bhatia, C. Davis, Amer. Math. Monthly 107, 2000). Adds the
/// variance of the bin's own mean, which chance removes.
double most_within(std::span<const Bin> bins, std::size_t b) {
  const double m = mean(bins[b]), chance = m * (1 - m) / static_cast<double>(bins[b].decided);
  const bool before = b > 0 && bins[b - 1].decided > 0, after = b + 1 < bins.size() && bins[b + 1].decided > 0;
  // Without neighbors f is unbounded: use the variance of the event itself.
  if (!before && !after) return m * (1 - m);
  const double rise = after ? mean(bins[b + 1]) - m : m - mean(bins[b - 1]);
  const double end = rise > 0 ? (after ? m : 1 - m) : (after ? m - 1 : -m);
  return (before && after ? m - mean(bins[b - 1]) : end) * rise + chance;
}

Explained explained(std::span<const Bin> bins) {
  std::int64_t held = 0, decided = 0;
  for (const Bin& b : bins) held += b.held, decided += b.decided;
  const double n = static_cast<double>(decided), p = n > 0 ? static_cast<double>(held) / n : 0;
  Explained e{n, n * p * (1 - p), 0, 0};
  for (std::size_t b = 0; b < bins.size(); ++b) {
    if (bins[b].decided == 0) continue;
    const double nb = static_cast<double>(bins[b].decided), d = mean(bins[b]) - p;
    e.between += nb * d * d;
    e.within += nb * most_within(bins, b);
  }
  return e;
}

/// Merges neighboring bins, `merge` at a time.
std::vector<Bin> merged(std::span<const Bin> bins, int merge) {
  std::vector<Bin> out(bins.size() / static_cast<std::size_t>(merge), {0, 0});
  for (std::size_t b = 0; b < bins.size(); ++b) {
    out[b / static_cast<std::size_t>(merge)].held += bins[b].held;
    out[b / static_cast<std::size_t>(merge)].decided += bins[b].decided;
  }
  return out;
}

/// Influence for a number of bins, and its possible rise by chance when the bins are halved (two standard deviations).
struct InBins {
  Influence influence;
  double rise = 0;
};

/// Variance of the mean over the bins of the input, minus its expectation by chance, divided by the whole variance.
InBins influence_in(std::span<const std::vector<Bin>> groups, int merge) {
  const int bins = kInputBins / merge;
  double n = 0, variance = 0, between = 0, within = 0, chance = 0;
  std::vector<Explained> parts;
  for (const auto& group : groups) parts.push_back(explained(merged(group, merge)));
  for (const Explained& e : parts) n += e.n, variance += e.variance, between += e.between, within += e.within;
  InBins out{{0, 0, 0, bins}, 0};
  for (const Explained& e : parts) {
    if (e.n == 0) continue;
    const double weight = variance > 0 ? e.variance / variance : e.n / n;
    chance += weight * ((bins - 1) / e.n);
    out.influence.noise += weight * (2 * std::sqrt(2.0 * (bins - 1)) / e.n);
    out.rise += weight * (2 * std::sqrt(2.0 * bins) / e.n);
  }
  if (!(variance > 0)) return out;
  // (4) of docs/theory/monte-carlo.md: by chance the bins explain a share of the variance unexplained by the input.
  out.influence.value = chance < 1 ? (between / variance - chance) / (1 - chance) : 0;
  out.influence.unresolved = std::max(0.0, within / variance) + 2 * out.influence.noise;
  return out;
}

}  // namespace

/// Halves the bins as long as that shows more than chance would.
Influence compute_influence(const Tally& t, const InputCounts& c) {
  std::vector<std::vector<Bin>> groups;
  for (int g = 0; g < c.groups; ++g) {
    groups.emplace_back();
    for (int b = 0; b < kInputBins; ++b)
      groups.back().push_back({at(t, c.held + g * c.stride + b), at(t, c.decided + g * c.stride + b)});
  }
  int merge = kInputBins / kShownInputBins;
  InBins now = influence_in(groups, merge);
  while (merge > 1) {
    merge /= 2;
    const InBins next = influence_in(groups, merge);
    // Finer bins always explain slightly more; only a rise beyond chance is resolution.
    if (!(next.influence.value > now.influence.value + now.rise)) break;
    now = next;
  }
  return now.influence;
}

Json summary_head(const char* job, const std::string& title, const Plan& plan, const Total& t,
                  const std::string& stopped_by, const Json& kind) {
  Json j = {{"schema", kSummarySchema}, {"job", job}};
  j.update(kind);
  j.update({{"title", title},
            {"seed", plan.seed},
            {"samples", t.count},
            {"requested", plan.samples},
            {"stopped_by", stopped_by}});
  return j;
}

Json to_json(const Estimate& e) {
  return {{"probability", number(e.probability)}, {"low", e.interval.low}, {"high", e.interval.high}};
}

std::int64_t at(const Tally& t, int i) { return t.counts.empty() ? 0 : t.counts[static_cast<std::size_t>(i)]; }

Json number(double x) { return std::isfinite(x) ? Json(x) : Json(nullptr); }

Json quantile(const Tally& t, const Histogram& h, double p) {
  const double of_bucket = h.buckets >= 0 ? t.buckets.quantile(h.buckets, p) : NAN;
  std::int64_t total = at(t, h.offset + h.bins) + at(t, h.offset + h.bins + 1);
  for (int k = 0; k < h.bins; ++k) total += at(t, h.offset + k);
  // Undefined values are no part of the distribution.
  if (total == 0) return nullptr;
  double rest = p * static_cast<double>(total) - static_cast<double>(at(t, h.offset + h.bins));
  // The quantile lies below the axis, where the histogram keeps no values.
  if (rest < 0) return number(of_bucket);
  for (int k = 0; k < h.bins; ++k) {
    const auto n = static_cast<double>(at(t, h.offset + k));
    if (n > 0 && rest <= n) {
      // The quantile lies in this bin and in its bucket, which is 1/256 to 1/128 as wide as it is large.
      const double width = (h.high - h.low) / h.bins, low = h.low + width * k;
      if (width >= std::abs(of_bucket) / 256) return std::clamp(of_bucket, low, low + width);
      return h.low + (h.high - h.low) * (k + rest / n) / h.bins;
    }
    rest -= n;
  }
  return number(of_bucket);
}

Json distribution(const Tally& t, const Histogram& h, const std::string& unit, std::optional<std::size_t> sum) {
  Json j;
  std::int64_t inside = 0;
  Json counts = Json::array();
  for (int k = 0; k < h.bins; ++k) {
    counts.push_back(at(t, h.offset + k));
    inside += at(t, h.offset + k);
  }
  const auto below = at(t, h.offset + h.bins), above = at(t, h.offset + h.bins + 1);
  // Mean and spread of the finite values; infinite ones are counted in `below` or `above` only when sums are exact.
  const auto n = static_cast<double>(inside);
  const bool finite = sum && below == 0 && above == 0 && inside > 0;
  // Values outside of the axis are in the sums, but `inside` does not count them: no mean is better than a wrong one.
  const double mean = finite ? t.sums[*sum] / n : NAN;
  j["unit"] = unit;
  j["mean"] = number(mean);
  // The difference may be negative by rounding if all values are alike.
  j["sd"] = number(finite ? std::sqrt(std::max(0.0, t.sums[*sum + 1] / n - mean * mean)) : NAN);
  for (const char* p : {"0.01", "0.05", "0.25", "0.5", "0.75", "0.95", "0.99"})
    j["quantiles"][p] = quantile(t, h, std::stod(p));
  j["low"] = h.low;
  j["high"] = h.high;
  j["counts"] = counts;
  j["below"] = below;
  j["above"] = above;
  j["undefined"] = at(t, h.offset + h.bins + 2);
  return j;
}

Json distribution(const Tally& t, const Histogram& h, const ColumnWords& words, std::optional<std::size_t> sum) {
  Json j = distribution(t, h, words.unit, sum);
  put_words(j, words);
  return j;
}

void put_words(Json& j, const ColumnWords& words) {
  j["unit"] = words.unit;
  j["label"] = words.label;
  if (*words.meaning != '\0') j["meaning"] = words.meaning;
  if (std::isfinite(words.reference)) j["reference"] = words.reference;
}

Json words_to_json(std::span<const OutcomeWords> table) {
  Json j;
  for (const OutcomeWords& row : table)
    j[row.name] = {{"label", row.label}, {"color", row.color}, {"meaning", row.meaning}, {"decided", row.decided()}};
  return j;
}

void put_outcomes(Json& j, std::span<const OutcomeWords> table, const Tally& t, int first) {
  for (const OutcomeWords& row : table) j["outcomes"][row.name] = at(t, first++);
  j["outcome_words"] = words_to_json(table);
}

std::string describe(const Distribution& d) {
  const auto n = [](double x) { return Json(x).dump(); };
  std::string s;
  switch (d.kind) {
    case Distribution::Kind::kConstant:
      return n(d.a);
    case Distribution::Kind::kUniform:
      s = "uniform(" + n(d.a) + ", " + n(d.b) + ")";
      break;
    case Distribution::Kind::kNormal:
      s = "normal(" + n(d.a) + ", " + n(d.b) + ")";
      break;
    case Distribution::Kind::kLognormal:
      s = "lognormal(" + n(d.a) + ", " + n(d.b) + ")";
      break;
    case Distribution::Kind::kBallRadius:
      s = "ball(" + n(d.a) + ")";
      break;
    case Distribution::Kind::kConeAngle:
      s = "cone(" + n(d.a) + ")";
      break;
  }
  return d.low > 0 || d.high < 1 ? s + ", truncated" : s;
}

Estimate make_estimate(std::span<const DecisionCounts> groups) {
  DecisionCounts all;
  for (const DecisionCounts& g : groups) all.held += g.held, all.decided += g.decided, all.unsolved += g.unsolved;
  const auto samples = static_cast<double>(all.decided + all.unsolved);
  // Without samples the interval's defaults are the whole range.
  if (samples == 0) return {NAN, {}};
  Estimate e{static_cast<double>(all.held) / static_cast<double>(all.decided), {0, 0}};
  for (const DecisionCounts& g : groups) {
    // Groups are weighted by their samples, undecided ones included: the intervals' ends add up to bounds of the
    // mixture.
    const double weight = static_cast<double>(g.decided + g.unsolved) / samples;
    const Interval i = clopper_pearson_with_unsolved(g.held, g.decided, g.unsolved);
    e.interval.low += weight * i.low;
    e.interval.high += weight * i.high;
  }
  // Weights may sum to a little over 1 by rounding.
  e.interval.high = std::min(1.0, e.interval.high);
  return e;
}

Json convergence(const Total& t, int groups, int only) {
  Json j = {
      {"samples", Json::array()}, {"probability", Json::array()}, {"low", Json::array()}, {"high", Json::array()}};
  std::vector<DecisionCounts> sum(static_cast<std::size_t>(groups));
  for (const auto& [point, tracked] : t.curve) {
    for (std::size_t g = 0; g < sum.size(); ++g) {
      sum[g].held += static_cast<std::int64_t>(tracked[2 * g]);
      sum[g].unsolved += static_cast<std::int64_t>(tracked[2 * g + 1]);
    }
    // The study may end within the range, and the last block may be short.
    const auto n = std::min(t.count, point * kBlock);
    for (std::size_t g = 0; g < sum.size(); ++g) {
      const auto first = static_cast<std::int64_t>(g);
      // Sample i belongs to group i mod groups: count those among the first n.
      sum[g].decided = (n > first ? (n - first + groups - 1) / groups : 0) - sum[g].unsolved;
    }
    const std::span<const DecisionCounts> all(sum);
    const Estimate e = make_estimate(only < 0 ? all : all.subspan(static_cast<std::size_t>(only), 1));
    const std::int64_t counted =
        only < 0 ? n : all[static_cast<std::size_t>(only)].decided + all[static_cast<std::size_t>(only)].unsolved;
    if (counted == 0) continue;
    j["samples"].push_back(counted);
    j["probability"].push_back(number(e.probability));
    j["low"].push_back(e.interval.low);
    j["high"].push_back(e.interval.high);
  }
  return j;
}

Json shown_bins(const Tally& t, int first, const InputCounts& c) {
  constexpr int kMerge = kInputBins / kShownInputBins;
  std::vector<std::int64_t> sum(kShownInputBins, 0);
  for (int g = 0; g < c.groups; ++g)
    for (int b = 0; b < kInputBins; ++b) sum[static_cast<std::size_t>(b / kMerge)] += at(t, first + g * c.stride + b);
  return sum;
}

Json shown_values(const Distribution& d) {
  Json j = Json::array();
  for (int b = 0; b < kShownInputBins; ++b) j.push_back(number(quantile(d, (b + 0.5) / kShownInputBins)));
  return j;
}

Json input_json(const Tally& t, const InputCounts& c, const UncertainInput& input) {
  const Influence i = compute_influence(t, c);
  return {{"name", input.name},
          {"unit", input.unit},
          {"distribution", describe(input.distribution)},
          {"influence", std::max(0.0, i.value)},
          {"noise", i.noise},
          {"unresolved", i.unresolved},
          {"resolution", i.bins},
          {"bins",
           {{"value", shown_values(input.distribution)},
            {"held", shown_bins(t, c.held, c)},
            {"decided", shown_bins(t, c.decided, c)}}}};
}

}  // namespace garra::study
