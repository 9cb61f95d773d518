// Counts and kept rows of a user-defined system's samples: one implementation for the CPU and a
// GPU. Host and device; see study/system.hpp.
#pragma once

#include <cstdint>

#include "garra/batch/tiles.hpp"
#include "garra/study/counting.hpp"
#include "garra/study/distribution.hpp"

namespace garra::study {

/// The first counts of a tally are of outcomes: the event, each failure, undecided samples. Samples in tiles of
/// SystemRow: the event, outputs, uniform numbers of the inputs. All pointers are to memory of the machine that counts.
struct RowCounting {
  int inputs = 0, outputs = 0;
  int failures = 1;                     ///< ways that the event does not happen
  int held_bin = 0, decided_bin = 0;    ///< first counts of the inputs' bins
  const Histogram* output = nullptr;    ///< of each output
  const Distribution* input = nullptr;  ///< of each input
  Keep keep = Keep::kNone;
  std::int64_t first = 0;  ///< number of the first sample
  const double* rows = nullptr;

  [[nodiscard]] GARRA_HD double field(std::int64_t i, int f) const {
    return rows[((i / batch::kTile) * (1 + outputs + inputs) + f) * batch::kTile + i % batch::kTile];
  }
  /// Number of its outcome; NaN means that the system cannot decide.
  [[nodiscard]] GARRA_HD int outcome(std::int64_t i) const {
    const double event = field(i, 0);
    if (event == 1) return 0;
    if (!(event == event)) return 1 + failures;
    return event > -failures && event < 0 ? 1 - static_cast<int>(event) : 1;
  }
  [[nodiscard]] GARRA_HD bool keeps(std::int64_t i) const {
    return keep == Keep::kAll || (keep == Keep::kFailures && outcome(i) != 0);
  }

  template <class To>
  GARRA_HD void count(std::int64_t i, To& to) const {
    const int is = outcome(i);
    to.count(is);
    for (int k = 0; k < outputs; ++k) to.value(output[k], field(i, 1 + k), 2 * k);
    to.sum(2 * outputs, is == 0);
    to.sum(2 * outputs + 1, is > failures);
    for (int k = 0; k < inputs; ++k) {
      // Inputs are uniform numbers in (0, 1): bins of equal probability.
      const int bin = k * kInputBins + static_cast<int>(field(i, 1 + outputs + k) * kInputBins);
      if (is == 0)
        to.count_within(held_bin + bin, decided_bin + bin);
      else if (is <= failures)
        to.count(decided_bin + bin);
    }
  }

  /// Writes number, outcome, inputs, outputs.
  GARRA_HD void write_row(std::int64_t i, double* row) const {
    *row++ = static_cast<double>(first + i);
    *row++ = outcome(i);
    // Stores the value: the uniform number would mean nothing to a reader.
    for (int k = 0; k < inputs; ++k) *row++ = quantile(input[k], field(i, 1 + outputs + k));
    for (int k = 0; k < outputs; ++k) *row++ = field(i, 1 + k);
  }
};

/// Samples for a GPU to count: it reads `first` and `count` of `tally` and fills in the rest. The
/// pointers of `counting` are the host's.
struct RowsToCount {
  const RowCounting& counting;
  const CountingSizes& sizes;
  Tally& tally;
};

}  // namespace garra::study
