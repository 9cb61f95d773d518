// Layout of the counts of a study in time: levels, bands, and ranges of bins.
#include <algorithm>
#include <array>
#include <cmath>

#include "grasp/time/time_study.hpp"
#include "study/summary.hpp"

namespace garra::grasp {

namespace {

constexpr int kShownBins = 200, kBandBins = 60;
constexpr int kMaxBandCounts = 800'000;  ///< 6 MB per thread; beyond this, bands have fewer instants

Bins make_bins(const TimeRange& range, int n, int offset) {
  if (!range.decades) return {{range.low, range.high, n, offset}, false};
  return {{log10(range.low), log10(range.high), n, offset}, true};
}

/// Ranges of every row of the table.
std::array<TimeRange, kTimeMetrics> metric_ranges(const Scenario& s) {
  return std::apply([&](const auto&... row) { return std::array<TimeRange, kTimeMetrics>{row.range(s)...}; },
                    kTimeColumns);
}

/// Allocates places in the flat list of counts.
struct Places : study::Places {
  /// Ranges of displayed distributions start at zero and are the same for all readers: equal bins.
  study::Histogram shown(const TimeRange& range) { return histogram({0, range.shown * range.high, kShownBins}); }
  Bins band(const TimeRange& range, int n) {
    const Bins b = make_bins(range, n, count());
    take(b.histogram.size());
    return b;
  }
};

TimeLevel level_layout(const Scenario& s, const TimeLayout& l, Places& places) {
  constexpr int band_metric[kBands] = {time_metric("peak_drift"), time_metric("peak_turn"), time_metric("least_margin"),
                                       time_metric("slip_path"), time_metric("peak_force")};
  const auto range = metric_ranges(s);
  TimeLevel level;
  level.outcome = places.take(kMotionEnds);
  // One place more than instants, for never.
  for (int* times : {&level.lost, &level.lost_unknown, &level.slipped, &level.slipped_unknown})
    *times = places.take(l.instants + 1);
  level.held_bin = places.take(l.inputs * study::kInputBins);
  level.decided_bin = places.take(l.inputs * study::kInputBins);
  if (l.objects > 0) level.objects_held = places.take(2 * l.objects);
  for (int k = 0; k < kTimeMetrics; ++k) level.shown[k] = places.shown(range[static_cast<std::size_t>(k)]);
  const int first = places.count();
  for (int k = 0; k < kBands; ++k)
    level.bands.band[k] = places.band(range[static_cast<std::size_t>(band_metric[k])], kBandBins);
  level.bands.stride = places.count() - first;
  // band() has allocated the first instant's places; the others follow at the same stride.
  places.take((static_cast<int>(l.band_instant.size()) - 1) * level.bands.stride);
  return level;
}

/// All instants, or as many evenly spaced ones as the counts allow.
std::vector<int> band_instants(int instants, int levels) {
  const int each = levels * kBands * (study::Histogram{0, 1, kBandBins, 0}).size();
  const int n = std::clamp(kMaxBandCounts / each, 2, instants);
  std::vector<int> list;
  // Evenly spread and rounded, the first and the last instant always.
  for (int k = 0; k < n; ++k) list.push_back((2 * k * (instants - 1) + n - 1) / (2 * (n - 1)));
  return list;
}

}  // namespace

TimeLayout make_time_layout(const Scenario& s) {
  TimeLayout l;
  l.contacts = static_cast<int>(s.contacts.size());
  l.inputs = static_cast<int>(uncertain_inputs(s).size());
  l.instants = s.time->instants;
  l.objects = is_group(s) ? static_cast<int>(s.others.size()) + 1 : 0;
  const int levels = std::max(1, static_cast<int>(s.time->friction.size()));
  l.band_instant = band_instants(l.instants, levels);
  Places places;
  for (int k = 0; k < levels; ++k) l.level.push_back(level_layout(s, l, places));
  l.slipped_first = places.take(l.contacts);
  const auto range = metric_ranges(s);
  for (int c = 0; c < l.contacts; ++c) {
    l.slip[c] = places.shown(range[time_metric("slip_path")]);
    l.force[c] = places.shown(range[time_metric("peak_force")]);
  }
  l.counts = places.count();
  l.buckets = places.buckets();
  return l;
}

}  // namespace garra::grasp
