// Counts and kept rows of a user-defined system's samples: one implementation for the CPU and a
// GPU. Host and device; see study/system.hpp.
#pragma once

#include <cstdint>

#include "garra/batch/tiles.hpp"
#include "garra/study/counting.hpp"
#include "garra/study/distribution.hpp"

namespace garra::study {

/// The first counts of a tally: samples with the event, without it, undecided.
enum EventState : int { kYes, kNo, kUndecided, kEventStates };

/// Samples in tiles of SystemRow: the event, outputs, uniform numbers of the inputs. All pointers
/// are to memory of the machine that counts.
struct RowCounting {
  int inputs = 0, outputs = 0;
  int held_bin = 0, decided_bin = 0;    ///< first counts of the inputs' bins
  const Histogram* output = nullptr;    ///< of each output
  const Distribution* input = nullptr;  ///< of each input
  Keep keep = Keep::kNone;
  std::int64_t first = 0;  ///< number of the first sample
  const double* rows = nullptr;

  [[nodiscard]] GARRA_HD double field(std::int64_t i, int f) const {
    return rows[((i / batch::kTile) * (1 + outputs + inputs) + f) * batch::kTile + i % batch::kTile];
  }
  [[nodiscard]] GARRA_HD EventState event_state(std::int64_t i) const {
    const double event = field(i, 0);
    // NaN means that the system cannot decide.
    return !(event == event) ? kUndecided : event == 1 ? kYes : kNo;
  }
  [[nodiscard]] GARRA_HD bool keeps(std::int64_t i) const {
    return keep == Keep::kAll || (keep == Keep::kFailures && event_state(i) != kYes);
  }

  template <class To>
  GARRA_HD void count(std::int64_t i, To& to) const {
    const EventState is = event_state(i);
    to.count(is);
    for (int k = 0; k < outputs; ++k) to.value(output[k], field(i, 1 + k), 2 * k);
    to.sum(2 * outputs, is == kYes);
    to.sum(2 * outputs + 1, is == kUndecided);
    for (int k = 0; k < inputs; ++k) {
      // Inputs are uniform numbers in (0, 1): bins of equal probability.
      const int bin = k * kInputBins + static_cast<int>(field(i, 1 + outputs + k) * kInputBins);
      if (is == kYes) to.count_within(held_bin + bin, decided_bin + bin);
      if (is == kNo) to.count(decided_bin + bin);
    }
  }

  /// Writes number, event class, inputs, outputs.
  GARRA_HD void write_row(std::int64_t i, double* row) const {
    *row++ = static_cast<double>(first + i);
    *row++ = event_state(i);
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
