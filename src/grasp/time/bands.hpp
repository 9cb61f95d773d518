// Bins of a study in time for samples in hand at an instant, from which the quantiles of bands are computed. Host and
// device.
#pragma once

#include <cstdint>
#include <vector>

#include "garra/core/log10.hpp"
#include "garra/study/tally.hpp"
#include "grasp/time/motion.hpp"

namespace garra::grasp {

/// Quantities recorded of a sample at an instant: each Look, then the largest normal force of its contacts.
inline constexpr int kMaxForce = kLooks, kBands = kLooks + 1;

/// Bins for the quantiles of bands: of a number or, if it spans decades, of its decadic logarithm.
struct Bins {
  study::Histogram histogram;
  bool decades = false;
  /// The lowest value itself is below the bins; otherwise very many of them would look like half a bin.
  [[nodiscard]] GARRA_HD int place(double x) const {
    if (decades) return histogram.place(log10(x));
    return x == histogram.low ? histogram.offset + histogram.bins : histogram.place(x);
  }
  /// The same bins, shifted by `counts` counts.
  [[nodiscard]] GARRA_HD Bins shifted(int counts) const {
    Bins b = *this;
    b.histogram.offset += counts;
    return b;
  }
};

/// Keeps a margin of 0 or 1 inside its bins despite rounding; without closed contacts there is no margin (NaN).
[[nodiscard]] GARRA_HD double margin_within(double x) {
  constexpr double kBelowOne = 1 - 0x1p-53;
  if (!is_finite(x)) return __builtin_nan("");
  return x < 0 ? 0 : x > kBelowOne ? kBelowOne : x;
}

/// Largest number, ignoring NaN; NaN if all are.
[[nodiscard]] GARRA_HD double largest(const double* x, int n) {
  double most = __builtin_nan("");
  for (int k = 0; k < n; ++k)
    if (x[k] > most || most != most) most = x[k];
  return most;
}

/// The bands of one friction level.
struct TimeBands {
  Bins band[kBands];  ///< at the first of the instants that bands have
  int stride = 0;     ///< counts from one of these instants to the next
  [[nodiscard]] GARRA_HD Bins at(int band_of, int instant) const { return band[band_of].shifted(instant * stride); }

  /// Calls count(place) for the quantities of a sample at instant k of the bands; `force`: of its contacts.
  template <class Count>
  GARRA_HD void count_look(int k, const double (&look)[kLooks], const double* force, int contacts,
                           const Count& count) const {
    for (int b = 0; b < kBands; ++b) {
      const double x = b == kMaxForce ? largest(force, contacts) : look[b];
      count(at(b, k).place(b == kMinMargin ? margin_within(x) : x));
    }
  }
};

/// Bands counted on the GPU, where the samples are; the recorded quantities are not copied back.
struct BandCounts {
  std::vector<TimeBands> level;      ///< sample i is at level i mod their number
  std::vector<int> instants;         ///< instants with bands
  std::vector<std::int64_t> counts;  ///< as Tally::counts: added to
};

}  // namespace garra::grasp
