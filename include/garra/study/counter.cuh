// Counts samples on the GPU, where they were computed: a tally of some hundred kilobytes is copied
// back, not the samples. The definition of the counts is shared with the host (counting.hpp), and
// the bits are the host's. Whole numbers add up in any order; the sums of a block are added in the
// order of its samples.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "garra/batch/for_each.cuh"
#include "garra/batch/select.hpp"
#include "garra/study/buckets.hpp"
#include "garra/study/counting.hpp"
#include "garra/study/study.hpp"

namespace garra::counter_cuda {

using Word = unsigned long long;
/// Counter within a batch, which has far fewer samples. One atomic operation handles twice as many
/// of them as Words.
using Small = unsigned int;
using study::CountingSizes;
using study::kBlock;

/// Copies of all counts, so that threads of different blocks rarely add to the same address.
inline constexpr int kCopies = 32;
/// Threads of a block that count together, and the sizes of the block's counts in 48 kB of shared
/// memory, where atomic addition is much faster than in global memory. It holds kNear counts,
/// without the scattered ones, and kWindows windows of buckets, one per number. For some numbers
/// nearly all samples fall into one bucket.
inline constexpr int kCountThreads = 256, kNear = 10 * 1024 - 16, kWindow = 128, kWindows = 16;
/// Blocks that a multiprocessor holds at a time: its registers and its memory allow them.
inline constexpr int kCountBlocks = 3;
enum Ranks : int { kClosest, kWorst, kRankings };
inline constexpr int kRanked = static_cast<int>(study::Ranking::kLimit);
/// Most samples of a batch: enough to keep the kernels busy.
inline constexpr std::int64_t kMaxSamples = std::int64_t{1} << 20;
inline std::int64_t count_blocks(std::int64_t count) { return (count + kBlock - 1) / kBlock; }

/// Number of summed terms: pairs, then plain ones.
GARRA_HD int count_terms(const CountingSizes& s) { return s.sums - s.pairs; }

GARRA_HD int count_rankings(const CountingSizes& s) { return s.ranked ? int(kRankings) : 0; }

/// A batch on the device. The values of all samples for one number are adjacent.
struct Batch {
  CountingSizes sizes;
  std::int64_t count;
  Small* counts;  ///< [copy][count]
  Word* buckets;  ///< [number][place]
  int* windows;   ///< [kWindows] first places
  double* terms;  ///< [term][sample]: what goes into sums
  double* keys;   ///< [ranking][sample]; infinite: in no ranking
  bool* kept;     ///< [sample]; null if none is kept
};

/// Counts and windows of one block in shared memory.
struct NearMemory {
  Small counts[kNear], windows[kWindows * kWindow];
  int first[kWindows];  ///< place of each window's first bucket
};

/// The counts that have a place in NearMemory.
struct NearCounts {
  study::Scattered scattered;
  int size;

  __device__ explicit NearCounts(const CountingSizes& s)
      : scattered(s.scattered), size(min(s.counts - s.scattered.size, kNear)) {}
  /// The place of count `at`; a value not below `size` if it has none.
  [[nodiscard]] __device__ int place(int at) const {
    if (at < scattered.first) return at;
    return at < scattered.first + scattered.size ? size : at - scattered.size;
  }
  [[nodiscard]] __device__ int count(int place) const {
    return place < scattered.first ? place : place + scattered.size;
  }
};

/// The counting target `To` that adds a sample's counts, terms and keys to the batch.
struct ToBatch {
  const Batch& to;
  const NearCounts& near;
  NearMemory& own;
  Small* counts;
  std::int64_t i;

  // Integer additions commute: counts do not depend on the order of threads.
  __device__ void count(int at) const {
    const int place = near.place(at);
    if (place < near.size)
      atomicAdd(own.counts + place, Small{1});
    else
      atomicAdd(counts + at, Small{1});
  }
  /// Counts the part only; Counter::finish() adds it to the whole.
  __device__ void count_within(int part, int) const { count(part); }
  __device__ void value(const study::Histogram& h, double x, int at) const {
    count(h.place(x));
    if (h.buckets >= 0 && x == x) count_bucket(h.buckets, study::BucketGrid::place(x));
    if (is_finite(x)) to.terms[at / 2 * to.count + i] = x;
  }
  __device__ void sum(int at, double x) const { to.terms[(at - to.sizes.pairs) * to.count + i] = x; }
  __device__ void closest(const study::Extreme& e) const { to.keys[kClosest * to.count + i] = e.key; }
  __device__ void worst(const study::Extreme& e) const { to.keys[kWorst * to.count + i] = e.key; }

 private:
  __device__ void count_bucket(int number, int place) const {
    const int in_window = number < kWindows ? place - own.first[number] : -1;
    if (in_window >= 0 && in_window < kWindow)
      atomicAdd(own.windows + number * kWindow + in_window, Small{1});
    else
      atomicAdd(to.buckets + number * study::BucketGrid::kPlaces + place, Word{1});
  }
};

/// A counting target `To` that counts nothing.
struct ToNothing {
  __device__ void count(int) const {}
  __device__ void count_within(int, int) const {}
  __device__ void value(const study::Histogram&, double, int) const {}
  __device__ void sum(int, double) const {}
  __device__ void closest(const study::Extreme&) const {}
  __device__ void worst(const study::Extreme&) const {}
};

/// Places windows around a sample's values, for numbers without a window.
struct ToWindows : ToNothing {
  int* first;
  __device__ explicit ToWindows(int* to) : first(to) {}
  __device__ void value(const study::Histogram& h, double x, int) const {
    if (h.buckets >= 0 && h.buckets < kWindows && x == x)
      atomicCAS(first + h.buckets, 0, max(study::BucketGrid::place(x) - kWindow / 2, 0));
  }
};
template <class Counting>
struct WindowsKernel {
  Counting counting;
  int* first;
  template <class S>
  __device__ void operator()(std::int64_t i) const {
    ToWindows to(first);
    counting.count(i, to);
  }
};

template <class Counting>
struct CountKernel {
  Counting counting;
  Batch batch;
  __device__ void operator()(std::int64_t i, const NearCounts& near, NearMemory& own, Small* counts) const {
    for (int t = 0; t < count_terms(batch.sizes); ++t) batch.terms[t * batch.count + i] = 0;
    for (int r = 0; r < count_rankings(batch.sizes); ++r) batch.keys[r * batch.count + i] = INFINITY;
    ToBatch to{batch, near, own, counts, i};
    counting.count(i, to);
    if (batch.kept != nullptr) batch.kept[i] = counting.keeps(i);
  }
};

/// A block counts its share of the samples in shared memory and adds the counts to the batch at the
/// end.
template <class Body>
__global__ void __launch_bounds__(kCountThreads, kCountBlocks) count_kernel(const __grid_constant__ Body body) {
  const Batch& batch = body.batch;
  const NearCounts near(batch.sizes);
  __shared__ NearMemory own;
  Small* const counts = batch.counts + std::int64_t{blockIdx.x % kCopies} * batch.sizes.counts;
  const int thread = static_cast<int>(threadIdx.x);
  for (int k = thread; k < near.size; k += kCountThreads) own.counts[k] = 0;
  for (int k = thread; k < kWindows * kWindow; k += kCountThreads) own.windows[k] = 0;
  if (thread < kWindows) own.first[thread] = batch.windows[thread];
  __syncthreads();
  const std::int64_t stride = std::int64_t{gridDim.x} * kCountThreads;
  for (std::int64_t i = std::int64_t{blockIdx.x} * kCountThreads + thread; i < batch.count; i += stride)
    body(i, near, own, counts);
  __syncthreads();
  for (int k = thread; k < near.size; k += kCountThreads)
    if (own.counts[k] != 0) atomicAdd(counts + near.count(k), own.counts[k]);
  for (int k = thread; k < kWindows * kWindow; k += kCountThreads) {
    const int number = k / kWindow, place = own.first[number] + k % kWindow;
    if (own.windows[k] != 0)
      atomicAdd(batch.buckets + number * study::BucketGrid::kPlaces + place, Word{own.windows[k]});
  }
}

template <class Body>
inline const bool kCountListed = (cuda::all_kernels().push_back(reinterpret_cast<const void*>(count_kernel<Body>)),
                                  true);

template <class Body>
void count_samples(const Body& body) {
  static_assert(cuda::kFitsParameters<Body>);
  static_cast<void>(kCountListed<Body>);
  if (body.batch.count == 0) return;
  int device = 0, processors = 0;
  cuda::check(cudaGetDevice(&device), "asking for the device");
  cuda::check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device),
              "asking for multiprocessors");
  const std::int64_t all = (body.batch.count + kCountThreads - 1) / kCountThreads;
  const auto blocks = static_cast<unsigned>(std::min(all, std::int64_t{kCountBlocks} * processors));
  cuda::check(cuda::launched([&] { count_kernel<<<blocks, kCountThreads, 0, cuda::current_stream()>>>(body); }),
              "starting a kernel");
}

/// Sums of one term over one block.
struct SumKernel {
  Batch batch;
  double* sums;  ///< [block][sum]
  template <class S>
  __device__ void operator()(std::int64_t k) const {
    const int terms = count_terms(batch.sizes), term = static_cast<int>(k % terms), pairs = batch.sizes.pairs;
    const std::int64_t block = k / terms, first = block * kBlock, end = min(first + kBlock, batch.count);
    const double* x = batch.terms + term * batch.count;
    double sum = 0, squares = 0;
    const auto add = [&](double value) {
      sum += value;
      squares += value * value;
    };
    // Loads a cache line at a time, before its first number is needed: the additions wait for one
    // another.
    constexpr int kLine = 16;
    std::int64_t i = first;
    for (; i + kLine <= end; i += kLine) {
      double line[kLine];
#pragma unroll
      for (int j = 0; j < kLine; ++j) line[j] = x[i + j];
#pragma unroll
      for (int j = 0; j < kLine; ++j) add(line[j]);
    }
    for (; i < end; ++i) add(x[i]);
    double* const out = sums + block * batch.sizes.sums;
    if (term >= pairs) {
      out[term + pairs] = sum;
    } else {
      out[2 * term] = sum;
      out[2 * term + 1] = squares;
    }
  }
};

/// Keeps one ranking's key of a sample.
struct ToExtreme : ToNothing {
  int ranking;
  study::Extreme found = {0, -1, 0, 0};
  __device__ explicit ToExtreme(int of) : ranking(of) {}
  __device__ void closest(const study::Extreme& e) {
    if (ranking == kClosest) found = e;
  }
  __device__ void worst(const study::Extreme& e) {
    if (ranking == kWorst) found = e;
  }
};

/// Results of a batch that are copied back beside its sums.
struct Found {
  int kept;
  study::Extreme best[kRankings][kRanked];  ///< in order; unused places have the number -1
};

/// Stores the least samples of the rankings.
template <class Counting>
struct BestKernel {
  Counting counting;
  const int* least;  ///< [ranking][place]; -1: none
  Found* found;
  template <class S>
  __device__ void operator()(std::int64_t k) const {
    ToExtreme to(static_cast<int>(k / kRanked));
    if (least[k] >= 0) counting.count(least[k], to);
    found->best[to.ranking][k % kRanked] = to.found;
  }
};

/// Adds up the copies of a count, and clears them for the next batch.
struct MergeKernel {
  Small* copies;
  Word* counts;
  int size;
  template <class S>
  __device__ void operator()(std::int64_t k) const {
    // The loads are apart from the stores so that they do not wait for one another. A batch counts
    // far less than 2^32.
    Small sum = 0;
#pragma unroll 8
    for (int c = 0; c < kCopies; ++c) sum += copies[std::int64_t{c} * size + k];
    if (sum == 0) return;
    for (int c = 0; c < kCopies; ++c) copies[std::int64_t{c} * size + k] = 0;
    counts[k] += sum;
  }
};

/// Writes row k of the kept samples. The host does not yet know their number.
template <class Counting>
struct WriteKeptKernel {
  Counting counting;
  const int* list;
  const Found* found;
  int row;
  double* rows;
  template <class S>
  __device__ void operator()(std::int64_t k) const {
    if (k < found->kept) counting.write_row(list[k], rows + k * row);
  }
};

/// Counts a range of samples, batch after batch. A batch begins with a block.
class Counter {
 public:
  Counter(const CountingSizes& sizes, std::int64_t most)
      : sizes_(sizes),
        copies_(std::int64_t{kCopies} * sizes.counts),
        counts_(sizes.counts + 1),
        buckets_(buckets()),
        windows_(kWindows),
        terms_(count_terms(sizes) * most),
        keys_(count_rankings(sizes) * most),
        least_(count_rankings(sizes) * kRanked),
        back_(kFound + count_blocks(most) * sizes.sums),
        kept_(keeps() ? most : 0),
        list_(keeps() ? most : 0),
        rows_(keeps() ? most * sizes.row : 0),
        places_(buckets()),
        filled_(buckets()) {
    copies_.clear();
    counts_.clear();
    buckets_.clear();
    windows_.clear();
  }

  /// Memory per sample of a batch on the device [bytes].
  [[nodiscard]] static std::uint64_t count_bytes(const CountingSizes& s) {
    const int kept = s.keep == study::Keep::kNone ? 0 : s.row + 1;
    // One more number covers the data of blocks, and the list and marks of kept samples.
    return sizeof(double) * static_cast<std::uint64_t>(count_terms(s) + count_rankings(s) + kept + 1);
  }

  /// Memory that counting takes for any number of samples [bytes].
  [[nodiscard]] static std::uint64_t fixed_bytes(const CountingSizes& s) {
    const std::uint64_t buckets = static_cast<std::uint64_t>(s.buckets) * study::BucketGrid::kPlaces;
    return (sizeof(Small) * kCopies + sizeof(Word)) * static_cast<std::uint64_t>(s.counts) +
           (2 * sizeof(Word) + sizeof(int)) * buckets;
  }

  /// Adds sums, extremes and kept rows to the tally at once; finish() adds the counts.
  template <class Counting>
  void add(const Counting& counting, std::int64_t count, study::Tally& tally) {
    const Batch batch{sizes_,          count,         copies_.data(), buckets_.data(),
                      windows_.data(), terms_.data(), keys_.data(),   keeps() ? kept_.data() : nullptr};
    const std::int64_t blocks = count_blocks(count);
    if (!has_windows_) cuda::for_each(std::min(count, kLookedAt), WindowsKernel<Counting>{counting, windows_.data()});
    has_windows_ = true;
    count_samples(CountKernel<Counting>{counting, batch});
    cuda::for_each(sizes_.counts, MergeKernel{copies_.data(), counts_.data(), sizes_.counts});
    cuda::for_each(blocks * count_terms(sizes_), SumKernel{batch, back_.data() + kFound});
    if (sizes_.ranked) rank(counting, batch);
    if (keeps()) keep(counting, count);
    // The host waits here once, and again if there are rows to fetch.
    std::vector<double> back;
    back_.append_to(back, kFound + blocks * sizes_.sums);
    tally.sums.insert(tally.sums.end(), back.begin() + kFound, back.end());
    Found found;
    std::memcpy(&found, back.data(), sizeof found);
    if (sizes_.ranked) take(found, tally);
    if (keeps()) rows_.append_to(tally.kept, found.kept * sizes_.row);
  }

  void finish(study::Tally& tally) {
    cuda::select(buckets(), buckets_.data(), {places_.data(), filled_.data(), counts_.data() + sizes_.counts});
    std::vector<Word> counts, filled;
    std::vector<int> places;
    counts_.append_to(counts, sizes_.counts + 1);
    filled_.append_to(filled, static_cast<std::int64_t>(counts.back()));
    places_.append_to(places, std::ssize(filled));
    counts.pop_back();
    tally.counts.assign(counts.begin(), counts.end());
    const study::Nested& nested = sizes_.nested;
    for (int k = 0; k < nested.size; ++k)
      tally.counts[static_cast<std::size_t>(nested.whole + k)] +=
          tally.counts[static_cast<std::size_t>(nested.part + k)];
    constexpr int kPlaces = study::BucketGrid::kPlaces;
    for (std::size_t k = 0; k < filled.size(); ++k)
      tally.buckets.add_at(places[k] / kPlaces, places[k] % kPlaces, static_cast<std::int64_t>(filled[k]));
  }

 private:
  /// Number of samples that determine the windows.
  static constexpr std::int64_t kLookedAt = 32;
  /// Size of Found in doubles, which precedes the sums in `back_`.
  static constexpr std::int64_t kFound = sizeof(Found) / sizeof(double);
  static_assert(sizeof(Found) % sizeof(double) == 0);

  [[nodiscard]] std::int64_t buckets() const { return std::int64_t{sizes_.buckets} * study::BucketGrid::kPlaces; }
  [[nodiscard]] bool keeps() const { return sizes_.keep != study::Keep::kNone; }
  [[nodiscard]] Found* found() const { return reinterpret_cast<Found*>(back_.data()); }

  template <class Counting>
  void rank(const Counting& counting, const Batch& batch) const {
    cuda::find_least(batch.keys, {kRankings, batch.count}, {least_.data(), kRanked});
    cuda::for_each(kRankings * kRanked, BestKernel<Counting>{counting, least_.data(), found()});
  }

  static void take(const Found& found, study::Tally& tally) {
    for (const study::Extreme& e : found.best[kClosest])
      if (e.sample >= 0) tally.closest.add(e);
    for (const study::Extreme& e : found.best[kWorst])
      if (e.sample >= 0) tally.worst.add(e);
  }

  template <class Counting>
  void keep(const Counting& counting, std::int64_t count) const {
    cuda::select(count, kept_.data(), {list_.data(), &found()->kept});
    cuda::for_each(count, WriteKeptKernel<Counting>{counting, list_.data(), found(), sizes_.row, rows_.data()});
  }

  CountingSizes sizes_;
  cuda::Buffer<Small> copies_;
  cuda::Buffer<Word> counts_;  ///< followed by the number of filled buckets
  cuda::Buffer<Word> buckets_;
  cuda::Buffer<int> windows_;
  bool has_windows_ = false;
  cuda::Buffer<double> terms_, keys_;
  cuda::Buffer<int> least_;    ///< [ranking][place]
  cuda::Buffer<double> back_;  ///< Found, then sums
  cuda::Buffer<bool> kept_;
  cuda::Buffer<int> list_;  ///< numbers of kept samples
  cuda::Buffer<double> rows_;
  cuda::Buffer<int> places_;  ///< of filled buckets
  cuda::Buffer<Word> filled_;
};

/// Number of samples on the device at once, whole blocks or all. Each takes `bytes` beside the
/// memory for counting.
inline std::int64_t choose_batch_size(const Device& device, std::int64_t count, std::uint64_t bytes,
                                      const CountingSizes& sizes) {
  const cuda::Memory needed{bytes + Counter::count_bytes(sizes), Counter::fixed_bytes(sizes)};
  return std::min({cuda::how_many_fit(device, needed), kMaxSamples, count});
}

/// Counts all samples of a tally, `batch` at a time: samples(first, count) computes them and
/// returns their Counting.
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
