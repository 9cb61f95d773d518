// Samples are counted on the GPU, where they are: a tally comes back, some hundred kilobytes, not the samples. What is
// counted is said once for both (counting.hpp), and the bits are the host's: whole numbers add up in any
// order, the sums of a block are added in the order of its samples.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "garra/batch/for_each.cuh"
#include "garra/study/buckets.hpp"
#include "garra/study/counting.hpp"
#include "garra/study/study.hpp"

namespace garra::counter_cuda {

using Word = unsigned long long;
using study::CountingSizes;
using study::kBlock;

/// Of all counts, for threads of different blocks, that those who count the same need not wait for one another.
inline constexpr int kCopies = 32;
enum Ranks : int { kClosest, kWorst, kRankings };
inline constexpr int kRanked = static_cast<int>(study::Ranking::kLimit);

/// Numbers that are summed up: pairs, then plain ones.
GARRA_HD int terms_of(const CountingSizes& s) { return s.sums - s.pairs; }

GARRA_HD int rankings_of(const CountingSizes& s) { return s.ranked ? int(kRankings) : 0; }

/// A batch on the device. What samples say lies number by number, side by side.
struct Batch {
  CountingSizes sizes;
  std::int64_t count;
  Word* counts;   ///< [copy][count]
  Word* buckets;  ///< [number][place]
  double* terms;  ///< [term][sample]: what goes into sums
  double* keys;   ///< [ranking][sample]; infinite: in no ranking
};

/// `To` of a sample whose counts, terms and keys go to the batch.
struct ToBatch {
  const Batch& to;
  Word* counts;
  std::int64_t i;

  // Integer additions commute: counts do not depend on the order of threads.
  __device__ void count(int at) const { atomicAdd(counts + at, Word{1}); }
  __device__ void value(const study::Histogram& h, double x, int at) const {
    count(h.place(x));
    if (h.buckets >= 0 && x == x)
      atomicAdd(to.buckets + h.buckets * study::BucketGrid::kPlaces + study::BucketGrid::place(x), Word{1});
    if (is_finite(x)) to.terms[at / 2 * to.count + i] = x;
  }
  __device__ void sum(int at, double x) const { to.terms[(at - to.sizes.pairs) * to.count + i] = x; }
  __device__ void closest(const study::Extreme& e) const { to.keys[kClosest * to.count + i] = e.key; }
  __device__ void worst(const study::Extreme& e) const { to.keys[kWorst * to.count + i] = e.key; }
};

template <class Counting>
struct CountBody {
  Counting counting;
  Batch batch;
  template <class S>
  __device__ void operator()(std::int64_t i) const {
    for (int t = 0; t < terms_of(batch.sizes); ++t) batch.terms[t * batch.count + i] = 0;
    for (int r = 0; r < rankings_of(batch.sizes); ++r) batch.keys[r * batch.count + i] = INFINITY;
    const auto copy = static_cast<std::int64_t>(i / cuda::kThreads % kCopies);
    ToBatch to{batch, batch.counts + copy * batch.sizes.counts, i};
    counting.count(i, to);
  }
};

/// Sums of one term over one block.
struct SumBody {
  Batch batch;
  double* sums;  ///< [block][sum]
  template <class S>
  __device__ void operator()(std::int64_t k) const {
    const int terms = terms_of(batch.sizes), term = static_cast<int>(k % terms), pairs = batch.sizes.pairs;
    const std::int64_t block = k / terms, first = block * kBlock;
    const double* x = batch.terms + term * batch.count;
    double sum = 0, squares = 0;
    for (std::int64_t i = first; i < min(first + kBlock, batch.count); ++i) {
      sum += x[i];
      squares += x[i] * x[i];
    }
    double* const out = sums + block * batch.sizes.sums;
    if (term >= pairs) {
      out[term + pairs] = sum;
    } else {
      out[2 * term] = sum;
      out[2 * term + 1] = squares;
    }
  }
};

/// `To` that takes one ranking's word of a sample.
struct ToExtreme {
  int ranking;
  study::Extreme found;
  __device__ void count(int) const {}
  __device__ void value(const study::Histogram&, double, int) const {}
  __device__ void sum(int, double) const {}
  __device__ void closest(const study::Extreme& e) {
    if (ranking == kClosest) found = e;
  }
  __device__ void worst(const study::Extreme& e) {
    if (ranking == kWorst) found = e;
  }
};

/// The extreme samples of one block: of equal keys the earlier ones. Places that are not taken have the number -1.
template <class Counting>
struct RankBody {
  Counting counting;
  Batch batch;
  study::Extreme* best;  ///< [block][ranking][kRanked]
  template <class S>
  __device__ void operator()(std::int64_t k) const {
    const int ranking = static_cast<int>(k % kRankings);
    const std::int64_t first = k / kRankings * kBlock;
    const double* key = batch.keys + ranking * batch.count;
    double least[kRanked];
    std::int64_t number[kRanked];
    int n = 0;
    for (std::int64_t i = first; i < min(first + kBlock, batch.count); ++i) {
      if (!(key[i] < (n < kRanked ? INFINITY : least[kRanked - 1]))) continue;
      int at = n < kRanked ? n++ : kRanked - 1;
      for (; at > 0 && key[i] < least[at - 1]; --at) {
        least[at] = least[at - 1];
        number[at] = number[at - 1];
      }
      least[at] = key[i];
      number[at] = i;
    }
    for (int r = 0; r < kRanked; ++r) {
      ToExtreme to{ranking, {0, -1, 0, 0}};
      if (r < n) counting.count(number[r], to);
      best[k * kRanked + r] = to.found;
    }
  }
};

/// Copies of a count added up into the first.
struct MergeBody {
  Word* counts;
  int size;
  template <class S>
  __device__ void operator()(std::int64_t k) const {
    for (int c = 1; c < kCopies; ++c) counts[k] += counts[std::int64_t{c} * size + k];
  }
};

/// A bucket and how often a number was in it.
struct Filled {
  int number, place;
  Word count;
};
/// Few of the buckets are filled: those that are, in whatever order.
struct ListFilledBody {
  const Word* buckets;
  Filled* list;
  Word* length;  ///< 0 at first
  template <class S>
  __device__ void operator()(std::int64_t k) const {
    constexpr int kPlaces = study::BucketGrid::kPlaces;
    if (buckets[k] != 0)
      list[atomicAdd(length, Word{1})] = {static_cast<int>(k / kPlaces), static_cast<int>(k % kPlaces), buckets[k]};
  }
};

/// How many samples of a block are kept.
template <class Counting>
struct CountKeptBody {
  Counting counting;
  std::int64_t count;
  std::int64_t* kept;  ///< [block]
  template <class S>
  __device__ void operator()(std::int64_t block) const {
    kept[block] = 0;
    for (std::int64_t i = block * kBlock; i < min((block + 1) * kBlock, count); ++i) kept[block] += counting.keeps(i);
  }
};

/// Their numbers, in order.
template <class Counting>
struct ListKeptBody {
  Counting counting;
  std::int64_t count;
  const std::int64_t* first;  ///< [block] where in the list those of the block begin
  std::int64_t* list;
  template <class S>
  __device__ void operator()(std::int64_t block) const {
    std::int64_t* at = list + first[block];
    for (std::int64_t i = block * kBlock; i < min((block + 1) * kBlock, count); ++i)
      if (counting.keeps(i)) *at++ = i;
  }
};

template <class Counting>
struct WriteKeptBody {
  Counting counting;
  const std::int64_t* list;
  int row;
  double* rows;
  template <class S>
  __device__ void operator()(std::int64_t k) const {
    counting.write_row(list[k], rows + k * row);
  }
};

/// Counts batch after batch of a stretch of samples. A batch begins with a block.
class Counter {
 public:
  Counter(const CountingSizes& sizes, std::int64_t most)
      : sizes_(sizes),
        counts_(std::int64_t{kCopies} * sizes.counts),
        buckets_(buckets()),
        length_(1),
        terms_(terms_of(sizes) * most),
        keys_(rankings_of(sizes) * most),
        sums_(blocks_of(most) * sizes.sums),
        best_(blocks_of(most) * rankings_of(sizes) * kRanked),
        kept_(blocks_of(most)),
        list_(sizes.keep == study::Keep::kNone ? 0 : most),
        rows_(sizes.keep == study::Keep::kNone ? 0 : most * sizes.row),
        filled_(buckets()) {
    counts_.clear();
    buckets_.clear();
    length_.clear();
  }

  /// What a sample of a batch takes on the device [bytes].
  [[nodiscard]] static std::uint64_t bytes_of(const CountingSizes& s) {
    const int kept = s.keep == study::Keep::kNone ? 0 : s.row + 1;
    return sizeof(double) * static_cast<std::uint64_t>(terms_of(s) + rankings_of(s) + kept + 1);
  }

  /// What counting takes whatever the number of samples [bytes].
  [[nodiscard]] static std::uint64_t fixed_bytes(const CountingSizes& s) {
    const std::uint64_t buckets = static_cast<std::uint64_t>(s.buckets) * study::BucketGrid::kPlaces;
    return sizeof(Word) * kCopies * static_cast<std::uint64_t>(s.counts) + (sizeof(Word) + sizeof(Filled)) * buckets;
  }

  /// Sums, extremes and kept rows go to the tally at once, counts in finish().
  template <class Counting>
  void add(const Counting& counting, std::int64_t count, study::Tally& tally) {
    const Batch batch{sizes_, count, counts_.data(), buckets_.data(), terms_.data(), keys_.data()};
    const std::int64_t blocks = blocks_of(count);
    cuda::for_each(count, CountBody<Counting>{counting, batch});
    cuda::for_each(blocks * terms_of(sizes_), SumBody{batch, sums_.data()});
    sums_.append_to(tally.sums, blocks * sizes_.sums);
    if (sizes_.ranked) rank(counting, batch, tally);
    if (sizes_.keep != study::Keep::kNone) keep(counting, count, tally);
  }

  void finish(study::Tally& tally) {
    cuda::for_each(sizes_.counts, MergeBody{counts_.data(), sizes_.counts});
    std::vector<Word> counts;
    counts_.append_to(counts, sizes_.counts);
    tally.counts.assign(counts.begin(), counts.end());
    cuda::for_each(buckets(), ListFilledBody{buckets_.data(), filled_.data(), length_.data()});
    Word length = 0;
    length_.download(&length);
    std::vector<Filled> filled;
    filled_.append_to(filled, static_cast<std::int64_t>(length));
    for (const Filled& f : filled) tally.buckets.add_at(f.number, f.place, static_cast<std::int64_t>(f.count));
  }

 private:
  [[nodiscard]] std::int64_t buckets() const { return std::int64_t{sizes_.buckets} * study::BucketGrid::kPlaces; }
  static std::int64_t blocks_of(std::int64_t count) { return (count + kBlock - 1) / kBlock; }

  template <class Counting>
  void rank(const Counting& counting, const Batch& batch, study::Tally& tally) const {
    const std::int64_t blocks = blocks_of(batch.count);
    cuda::for_each(blocks * kRankings, RankBody<Counting>{counting, batch, best_.data()});
    std::vector<study::Extreme> best;
    best_.append_to(best, blocks * kRankings * kRanked);
    for (std::size_t k = 0; k < best.size(); ++k)
      if (best[k].sample >= 0) (k / kRanked % kRankings == kClosest ? tally.closest : tally.worst).add(best[k]);
  }

  template <class Counting>
  void keep(const Counting& counting, std::int64_t count, study::Tally& tally) {
    const std::int64_t blocks = blocks_of(count);
    std::vector<std::int64_t> first;
    cuda::for_each(blocks, CountKeptBody<Counting>{counting, count, kept_.data()});
    kept_.append_to(first, blocks);
    std::int64_t rows = 0;
    for (std::int64_t& kept : first) rows += std::exchange(kept, rows);
    kept_.upload(first.data(), blocks);
    cuda::for_each(blocks, ListKeptBody<Counting>{counting, count, kept_.data(), list_.data()});
    cuda::for_each(rows, WriteKeptBody<Counting>{counting, list_.data(), sizes_.row, rows_.data()});
    rows_.append_to(tally.kept, rows * sizes_.row);
  }

  CountingSizes sizes_;
  cuda::Buffer<Word> counts_, buckets_, length_;
  cuda::Buffer<double> terms_, keys_, sums_;
  cuda::Buffer<study::Extreme> best_;
  cuda::Buffer<std::int64_t> kept_, list_;
  cuda::Buffer<double> rows_;
  cuda::Buffer<Filled> filled_;
};

/// How many samples go to the device at once, `bytes` of each beside what counting takes: whole blocks, or all.
inline std::int64_t batch_of(const Device& device, std::int64_t count, std::uint64_t bytes,
                             const CountingSizes& sizes) {
  constexpr std::int64_t kMost = std::int64_t{1} << 20;  // the kernels are busy by then
  const cuda::Memory needed{bytes + Counter::bytes_of(sizes), Counter::fixed_bytes(sizes)};
  return std::min({cuda::how_many_fit(device, needed), kMost, count});
}

/// All samples of a tally, `batch` at a time: samples(first, count) computes them and says what is to be counted.
template <class Samples>
void count_in_batches(const CountingSizes& sizes, std::int64_t batch, study::Tally& tally, const Samples& samples) {
  Counter counter(sizes, batch);
  for (std::int64_t at = 0; at < tally.count; at += batch) {
    const std::int64_t count = std::min(batch, tally.count - at);
    counter.add(samples(tally.first + at, count), count, tally);
  }
  counter.finish(tally);
}

}  // namespace garra::counter_cuda
