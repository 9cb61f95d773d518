// Counts of a study: whole numbers in one flat array, sums per block, smallest values, and the
// extreme samples. All of them, sums too (exact_sum.hpp), merge in any order without changing a
// bit: the summary depends neither on threads, chunk size nor workers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "garra/core/hd.hpp"
#include "garra/study/buckets.hpp"
#include "garra/study/exact_sum.hpp"
#include "garra/study/shape.hpp"

namespace garra::study {

/// Equal bins over [low, high) for display, with counts for values below, above, and NaN.
struct Histogram {
  double low = 0, high = 1;
  int bins = 200;
  int offset = 0;    ///< of its first count in the flat array
  int buckets = -1;  ///< the number of its values in Tally::buckets, for their quantiles; -1: none

  [[nodiscard]] int size() const { return bins + 3; }
  /// Index of the count that `x` belongs to.
  [[nodiscard]] GARRA_HD int place(double x) const {
    if (!(x == x)) return offset + bins + 2;
    if (x < low) return offset + bins;
    if (x >= high) return offset + bins + 1;
    const int bin = static_cast<int>((x - low) * (bins / (high - low)));
    return offset + (bin < bins ? bin : bins - 1);
  }
};

/// An extreme sample; ordered by key, then by its number.
struct Extreme {
  double key = 0;
  std::int64_t sample = 0;
  int outcome = 0;
  double value = 0;
  friend bool operator<(const Extreme& a, const Extreme& b) {
    return a.key != b.key ? a.key < b.key : a.sample < b.sample;
  }
};

/// A list of the `limit` smallest extremes seen.
class Ranking {
 public:
  static constexpr std::size_t kLimit = 10;
  void add(const Extreme& e) {
    if (list_.size() == kLimit && !(e < list_.back())) return;
    list_.insert(std::upper_bound(list_.begin(), list_.end(), e), e);
    if (list_.size() > kLimit) list_.pop_back();
  }
  void merge(const Ranking& other) {
    for (const Extreme& e : other.list_) add(e);
  }
  [[nodiscard]] const std::vector<Extreme>& list() const { return list_; }

 private:
  std::vector<Extreme> list_;
};

/// Counts of consecutive whole blocks of samples.
struct Tally {
  std::int64_t first = 0, count = 0;
  std::vector<std::int64_t> counts;
  std::vector<double> sums;  ///< [block][sum]; of a Total: the sums over all of its blocks, rounded once
  Ranking closest, worst;
  std::vector<double> kept;          ///< rows of the samples written out one by one
  std::vector<Ranking> groups = {};  ///< further rankings, one per group of samples that the study distinguishes
  std::vector<double> least = {};    ///< smallest values seen, one array for all (a largest: minus it)
  Buckets buckets = {};              ///< of the numbers with quantiles

  /// Adds what another tally has counted; sums and rows stay.
  void merge(const Tally& other);
  /// Counts a value in its histogram's bins and buckets.
  void count_value(const Histogram& h, double x) {
    ++counts[static_cast<std::size_t>(h.place(x))];
    if (h.buckets >= 0) buckets.add(h.buckets, x);
  }
};

/// One dataset of results.h5: the numbers of a kept row that it stores.
struct RowColumn {
  enum class Type { kWhole, kSmall, kReal, kIndex };  ///< stored as uint64 (exact up to 2^53), uint8, float64, int8
  std::string name;
  Type type = Type::kReal;
  std::size_t first = 0, width = 1;
  bool list = false;                    ///< one number per row: [n]; else [n,width]
  std::vector<std::string> names = {};  ///< of its values (kSmall) or of its columns
};

/// The point of the convergence curve that follows block `block`: points grow by a twelfth each,
/// about 30 per decade.
[[nodiscard]] std::int64_t curve_point(std::int64_t block);

/// The sum of tallies, added in any order: a study so far, or one chunk of it.
struct Total : Tally {
  std::vector<ExactSum> exact;  ///< of the blocks' sums
  /// The last `tracked` sums of the blocks between two points of the convergence curve. The key is
  /// the number of blocks at the later point.
  std::map<std::int64_t, std::vector<double>> curve;

  /// Adds consecutive blocks; the caller handles the rows that `tally` keeps.
  void add(const Tally& tally, const Shape& shape);
  void add(const Total& other);
};

}  // namespace garra::study
