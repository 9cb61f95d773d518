// The loop of all studies on the host: samples in blocks, by threads, counted into one tally.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "garra/batch/parallel.hpp"
#include "garra/study/study.hpp"
#include "garra/study/tally.hpp"

namespace garra::study {

/// A tally of the study's sizes without samples, sums and rows.
[[nodiscard]] inline Tally empty_tally(const Shape& shape, std::int64_t first, std::int64_t count) {
  Tally t{first, count, std::vector<std::int64_t>(shape.counts), {}, {}, {}, {}};
  t.groups.resize(shape.groups);
  t.least.assign(shape.least, std::numeric_limits<double>::infinity());
  return t;
}

/// Samples to count; a thread takes `piece` of them at once, a whole part of a block.
struct SampleRange {
  std::int64_t first = 0, count = 0;
  int threads = 1;
  std::int64_t piece = kBlock;
};

/// Counts samples with one counter = make() per thread, by counter(first, count, tally, sums): `sums` are Shape::sums
/// numbers of the piece, rows go to tally.kept. Counts and rankings do not depend on the order; pieces of a block are
/// summed in their order, rows are in the order of samples.
template <class Make>
[[nodiscard]] Tally count_blocks(const Shape& shape, const SampleRange& range, const Make& make) {
  Tally total = empty_tally(shape, range.first, range.count);
  const std::int64_t pieces = (range.count + range.piece - 1) / range.piece;
  std::vector<double> sums(static_cast<std::size_t>(pieces) * shape.sums);
  std::vector<std::vector<double>> kept(static_cast<std::size_t>(pieces));
  batch::run_threads(range.threads, pieces, [&](batch::Pieces& next) {
    auto counter = make();
    Tally mine = empty_tally(shape, range.first, 0);
    for (std::int64_t p = 0; next.next(p);) {
      const std::int64_t at = p * range.piece;
      counter(range.first + at, std::min(range.piece, range.count - at), mine,
              sums.data() + static_cast<std::size_t>(p) * shape.sums);
      std::vector<double>& rows = kept[static_cast<std::size_t>(p)];
      rows.swap(mine.kept);
      mine.kept.reserve(rows.size());
    }
    next.alone([&] { total.merge(mine); });
  });
  std::size_t numbers = 0;
  for (const std::vector<double>& rows : kept) numbers += rows.size();
  total.kept.reserve(numbers);
  total.sums.assign(static_cast<std::size_t>((range.count + kBlock - 1) / kBlock) * shape.sums, 0.0);
  for (std::int64_t p = 0; p < pieces; ++p) {
    double* block = total.sums.data() + static_cast<std::size_t>(p * range.piece / kBlock) * shape.sums;
    for (std::size_t k = 0; k < shape.sums; ++k) block[k] += sums[static_cast<std::size_t>(p) * shape.sums + k];
    const std::vector<double>& rows = kept[static_cast<std::size_t>(p)];
    total.kept.insert(total.kept.end(), rows.begin(), rows.end());
  }
  return total;
}

/// Adds the samples that follow those of `total`, whole blocks but for the last; `total` counts them already.
inline void append(Tally& total, const Tally& next) {
  const std::int64_t count = total.count;
  total.merge(next);
  total.count = count;
  total.sums.insert(total.sums.end(), next.sums.begin(), next.sums.end());
  total.kept.insert(total.kept.end(), next.kept.begin(), next.kept.end());
}

}  // namespace garra::study
