// The interface by which a study counts samples, on the CPU and on a GPU. A Counting has count(i,
// to), keeps(i) and write_row(i, row) of sample i. count() passes values to its target `to`:
//
// - count(at): one more in Tally::counts[at];
// - count_within(part, whole): one more in both, as CountingSizes::nested declares;
// - value(histogram, x, at): x in its bins and buckets and, where it is finite, x and x^2 in the block's sums at, at +
// 1;
// - sum(at, x): x in the block's sum at;
// - closest(extreme), worst(extreme): for the rankings.
//
// Whole numbers add up in any order, a block's sums in the order of its samples (docs/theory/numerics.md). Host and
// device.
#pragma once

#include <cstdint>
#include <string_view>

#include "garra/core/scalar.hpp"
#include "garra/study/tally.hpp"

namespace garra::study {

/// Equally likely bins of an input's distribution.
inline constexpr int kInputBins = 160;

/// Samples that are written out one by one.
enum class Keep : int { kNone, kFailures, kAll };
[[nodiscard]] inline Keep parse_keep(std::string_view word) {
  return word == "none" ? Keep::kNone : word == "failures" ? Keep::kFailures : Keep::kAll;
}

/// Counts that are parts of other counts: count k of the part belongs to count k of the whole.
struct Nested {
  int part = 0, whole = 0;  ///< their first counts
  int size = 0;
};

/// A large group of counts of which a sample changes few, such as the cells of a picture.
struct Scattered {
  int first = 0, size = 0;
};

/// Numbers of counts, sums and rankings. The sums of a block: first `pairs` of (sum, sum of
/// squares), then plain ones.
struct CountingSizes {
  int counts = 0, buckets = 0, pairs = 0, sums = 0, row = 0;
  Keep keep = Keep::kNone;
  bool ranked = true;  ///< there are rankings
  Nested nested = {};
  Scattered scattered = {};
};

/// The counting target on the host: adds samples to a tally; `sums` are those of their block.
struct HostCounts {
  Tally& tally;
  double* sums;

  void count(int at) { ++tally.counts[static_cast<std::size_t>(at)]; }
  void count_within(int part, int whole) {
    count(part);
    count(whole);
  }
  void value(const Histogram& h, double x, int at) {
    tally.count_value(h, x);
    // One infinite value would make the sums useless; the histogram has it.
    if (!is_finite(x)) return;
    sums[at] += x;
    sums[at + 1] += x * x;
  }
  void sum(int at, double x) { sums[at] += x; }
  void closest(const Extreme& e) { tally.closest.add(e); }
  void worst(const Extreme& e) { tally.worst.add(e); }
};

/// Counts samples of one block on the host, and writes the rows of kept ones.
template <class Counting>
void count_samples(const Counting& counting, std::int64_t count, const CountingSizes& sizes, Tally& t, double* sums) {
  HostCounts to{t, sums};
  const auto row = static_cast<std::size_t>(sizes.row);
  for (std::int64_t i = 0; i < count; ++i) {
    counting.count(i, to);
    if (!counting.keeps(i)) continue;
    t.kept.resize(t.kept.size() + row);
    counting.write_row(i, t.kept.data() + t.kept.size() - row);
  }
}

}  // namespace garra::study
