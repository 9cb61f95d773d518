// Where a study in time counts what: levels, bands, and the ranges of bins.
#include <algorithm>
#include <cmath>

#include "systems/grasp_command.hpp"
#include "systems/grasp_time_study.hpp"
#include "systems/study_summary.hpp"

namespace garra::grasp {

namespace {

constexpr int kShownBins = 200, kBandBins = 60;
constexpr int kMostBandCounts = 800'000;  ///< 6 MB per thread; beyond this, bands have fewer instants

struct Range {
  double low, high;
  bool decades;
  [[nodiscard]] Bins bins(int n, int offset) const {
    if (!decades) return {{low, high, n, offset}, false};
    return {{std::log10(low), std::log10(high), n, offset}, true};
  }
};

Range range_of(const Scenario& s, int metric) {
  const double slip = 4 * std::max(s.time->drop, s.time->slip), drift = 1.5 * s.time->drop;
  const double load = std::max({largest_push(s), s.object.mass.nominal() * norm(s.gravity), 1e-3});
  switch (metric) {
    case kTotalSlip:
      return {1e-4 * slip, slip, true};
    case kPeakDrift:
      return {1e-4 * drift, drift, true};
    case kPeakTurn:
      return {1e-4 * M_PI, M_PI, true};
    case kPeakForce:
      return {0.05 * load, 20 * load, true};
    case kPeakTorque:
      return {0, 2, false};
    default:
      return {0, 1, false};
  }
}

/// Ranges of distributions that are shown start at zero and are the same to all readers: equal bins.
double shown_high(const Scenario& s, int metric) {
  const Range r = range_of(s, metric);
  return metric == kPeakForce ? 0.3 * r.high : r.high;
}

/// Takes places in the flat list of counts.
struct Places {
  int next = 0;
  int take(int size) {
    next += size;
    return next - size;
  }
  study::Histogram shown(double high) {
    study::Histogram h{0, high, kShownBins, next};
    take(h.size());
    return h;
  }
  Bins bins(const Range& range, int n) {
    const Bins b = range.bins(n, next);
    take(b.histogram.size());
    return b;
  }
};

TimeLevel level_layout(const Scenario& s, const TimeLayout& l, Places& places) {
  constexpr int band_metric[kBands] = {kPeakDrift, kPeakTurn, kSmallestMargin, kTotalSlip, kPeakForce};
  TimeLevel level;
  level.outcome = places.take(kMotionEnds);
  for (int* times : {&level.lost, &level.lost_unknown, &level.slipped, &level.slipped_unknown})
    *times = places.take(l.instants + 1);
  level.held_bin = places.take(l.inputs * study::kInputBins);
  level.decided_bin = places.take(l.inputs * study::kInputBins);
  for (int k = 0; k < kTimeMetrics; ++k) {
    level.shown[k] = places.shown(shown_high(s, k));
    level.fine[k] = places.bins(range_of(s, k), kShownBins);
  }
  const int first = places.next;
  for (int k = 0; k < kBands; ++k) level.band[k] = places.bins(range_of(s, band_metric[k]), kBandBins);
  level.band_stride = places.next - first;
  places.take((static_cast<int>(l.band_instant.size()) - 1) * level.band_stride);
  return level;
}

/// All instants, or as many evenly spaced ones as there are counts for.
std::vector<int> band_instants(int instants, int levels) {
  const int each = levels * kBands * (study::Histogram{0, 1, kBandBins, 0}).size();
  const int n = std::clamp(kMostBandCounts / each, 2, instants);
  std::vector<int> list;
  for (int k = 0; k < n; ++k) list.push_back((2 * k * (instants - 1) + n - 1) / (2 * (n - 1)));
  return list;
}

}  // namespace

TimeLayout make_time_layout(const Scenario& s) {
  TimeLayout l;
  l.contacts = static_cast<int>(s.contacts.size());
  l.inputs = static_cast<int>(uncertain_inputs(s).size());
  l.instants = s.time->instants;
  const int levels = std::max(1, static_cast<int>(s.time->friction.size()));
  l.band_instant = band_instants(l.instants, levels);
  Places places;
  for (int k = 0; k < levels; ++k) l.level.push_back(level_layout(s, l, places));
  l.slipped_first = places.take(l.contacts);
  for (int c = 0; c < l.contacts; ++c) {
    l.slip[c] = places.shown(shown_high(s, kTotalSlip));
    l.force[c] = places.shown(shown_high(s, kPeakForce));
  }
  l.counts = places.next;
  return l;
}

}  // namespace garra::grasp
