// What a study counts: whole numbers in one flat array, sums per block, smallest values, and the extreme samples.
// Counts and smallest values merge in any order; sums are kept block by block and added in block order, so that neither
// threads nor chunk size nor workers change a bit of the summary.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "garra/core/hd.hpp"

namespace garra::study {

/// Equal bins over [low, high) with counts for what lies below, above, and for undefined (NaN) values.
struct Histogram {
  double low = 0, high = 1;
  int bins = 200;
  int offset = 0;  ///< of its first count in the flat array

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

/// A sample that stands out; ordered by key, then by its number.
struct Extreme {
  double key = 0;
  std::int64_t sample = 0;
  int outcome = 0;
  double value = 0;
  friend bool operator<(const Extreme& a, const Extreme& b) {
    return a.key != b.key ? a.key < b.key : a.sample < b.sample;
  }
};

/// The `limit` smallest extremes seen.
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

/// Result of consecutive whole blocks of samples.
struct Tally {
  std::int64_t first = 0, count = 0;
  std::vector<std::int64_t> counts;
  std::vector<double> sums;  ///< [block][sum] in a chunk; one total block after merging
  Ranking closest, worst;
  std::vector<double> kept;          ///< rows of the samples written out one by one
  std::vector<Ranking> groups = {};  ///< further rankings, one for each group of samples that the study tells apart
  std::vector<double> least = {};    ///< smallest values seen, one array for all (a largest: minus it)
};

/// Which numbers of a kept row make one dataset of results.h5.
struct RowColumn {
  enum class Type { kWhole, kSmall, kReal };  ///< stored as uint64 (exact up to 2^53), uint8, float64
  std::string name;
  Type type = Type::kReal;
  std::size_t first = 0, width = 1;
  bool list = false;                    ///< one number per row: [n]; else [n,width]
  std::vector<std::string> names = {};  ///< of its values (kSmall) or of its columns
};

/// A study so far: its chunks added up in the order of their samples.
struct Total : Tally {
  std::vector<std::vector<double>> block_sums;  ///< the last `tracked` sums of every block, for the convergence curve

  void add(const Tally& chunk, std::size_t sums_per_block, std::size_t tracked) {
    counts.resize(chunk.counts.size());
    for (std::size_t i = 0; i < chunk.counts.size(); ++i) counts[i] += chunk.counts[i];
    sums.resize(sums_per_block);
    for (auto b = chunk.sums.begin(); b != chunk.sums.end(); b += static_cast<std::ptrdiff_t>(sums_per_block)) {
      const auto end = b + static_cast<std::ptrdiff_t>(sums_per_block);
      for (std::size_t i = 0; i < sums_per_block; ++i) sums[i] += b[static_cast<std::ptrdiff_t>(i)];
      block_sums.emplace_back(end - static_cast<std::ptrdiff_t>(tracked), end);
    }
    closest.merge(chunk.closest);
    worst.merge(chunk.worst);
    groups.resize(std::max(groups.size(), chunk.groups.size()));
    for (std::size_t g = 0; g < chunk.groups.size(); ++g) groups[g].merge(chunk.groups[g]);
    if (least.empty()) least = chunk.least;
    for (std::size_t i = 0; i < chunk.least.size(); ++i) least[i] = std::min(least[i], chunk.least[i]);
    count += chunk.count;
  }
};

}  // namespace garra::study
