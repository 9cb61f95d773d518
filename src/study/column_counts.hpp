// Counts samples on the host with few misses of the first-level cache: what a sample adds is collected first, and each
// histogram and each input then counts its own in one loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "garra/study/counting.hpp"

namespace garra::study {

/// What some samples add to histograms and to the bins of their inputs.
class CountColumns {
 public:
  /// For at most `samples` at once. Nested counts are those of inputs: one for each, or none, of every sample.
  CountColumns(const CountingSizes& sizes, std::int64_t samples)
      : samples_(static_cast<std::size_t>(samples)),
        inputs_(static_cast<std::size_t>(sizes.nested.size / kInputBins)),
        to_whole_(sizes.nested.whole - sizes.nested.part),
        values_(static_cast<std::size_t>(sizes.pairs) * samples_),
        columns_(static_cast<std::size_t>(sizes.pairs)),
        parts_(inputs_ * samples_) {}

  void add_value(const Histogram& h, std::size_t column, double x) {
    Column& to = columns_[column];
    to.histogram = &h;
    values_[column * samples_ + to.size++] = x;
  }
  void add_part(int at) { parts_[parts_in_use_++] = at; }

  /// Counts what is collected and drops it. The histograms must exist still.
  void move_to(Tally& tally) {
    std::int64_t* const counts = tally.counts.data();
    for (std::size_t k = 0; k < columns_.size(); ++k) {
      if (columns_[k].size == 0) continue;
      const Histogram h = *columns_[k].histogram;
      const double *const first = values_.data() + k * samples_, *const last = first + columns_[k].size;
      for (const double* x = first; x < last; ++x) ++counts[h.place(*x)];
      if (h.buckets >= 0)
        for (const double* x = first; x < last; ++x) tally.buckets.add(h.buckets, *x);
      columns_[k].size = 0;
    }
    for (std::size_t k = 0; k < inputs_; ++k)
      for (std::size_t i = k; i < parts_in_use_; i += inputs_) {
        ++counts[parts_[i]];
        ++counts[parts_[i] + to_whole_];
      }
    parts_in_use_ = 0;
  }

 private:
  struct Column {
    const Histogram* histogram = nullptr;
    std::size_t size = 0;
  };
  std::size_t samples_, inputs_;
  int to_whole_;
  std::vector<double> values_;
  std::vector<Column> columns_;
  std::vector<int> parts_;
  std::size_t parts_in_use_ = 0;
};

/// A Counting that adds to `columns`.
template <class Counting>
struct ColumnCounting : Counting {
  CountColumns& columns;

  struct To : HostCounts {
    CountColumns& columns;

    void count_within(int part, int) { columns.add_part(part); }
    void value(const Histogram& h, double x, int at) {
      columns.add_value(h, static_cast<std::size_t>(at / 2), x);
      if (!is_finite(x)) return;
      sums[at] += x;
      sums[at + 1] += x * x;
    }
  };
  void count(std::int64_t i, const HostCounts& counts) const {
    To to{counts, columns};
    Counting::count(i, to);
  }
};

}  // namespace garra::study
