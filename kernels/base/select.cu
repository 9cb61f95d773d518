// Selection by CUB. What is selected, and its order, does not depend on the order of the blocks.
#include <thrust/iterator/counting_iterator.h>

#include <cub/block/block_reduce.cuh>
#include <cub/device/device_select.cuh>

#include "garra/batch/for_each.cuh"
#include "garra/batch/select.hpp"

namespace garra::cuda {

namespace {

/// from[i] of all i = 0, ..., count - 1 with mark[i].
template <class From, class Mark, class To, class Length>
void select_marked(std::int64_t count, From from, Mark mark, To to, Length length) {
  std::size_t bytes = 0;
  const auto run = [&](void* room) {
    check(cub::DeviceSelect::Flagged(room, bytes, from, mark, to, length, static_cast<int>(count), current_stream()),
          "selecting");
  };
  run(nullptr);
  const Buffer<std::byte> room(static_cast<std::int64_t>(bytes));
  if (!only_counts()) run(room.data());
}

/// The number of place i of the list. One selection and this take less than two selections.
struct NumberKernel {
  const unsigned long long* numbers;
  Nonzero to;
  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    if (i < static_cast<std::int64_t>(*to.length)) to.number[i] = numbers[to.place[i]];
  }
};

constexpr int kSearchThreads = 256;
/// Keys of which one is the least of its part.
constexpr std::int64_t kPart = 1024;

/// A key and its place in the row.
struct Place {
  double key;
  std::int64_t at;
  friend __device__ bool operator<(const Place& a, const Place& b) {
    return a.key != b.key ? a.key < b.key : a.at < b.at;
  }
};

/// The least of get(i), i = first, ..., end - 1; known to all threads of the block.
template <class Get>
__device__ Place find_least(std::int64_t first, std::int64_t end, const Get& get) {
  using Reduce = cub::BlockReduce<Place, kSearchThreads>;
  __shared__ typename Reduce::TempStorage storage;
  __shared__ Place least;
  const auto lesser = [](const Place& a, const Place& b) { return b < a ? b : a; };
  Place mine{INFINITY, 0};
  for (std::int64_t i = first + threadIdx.x; i < end; i += kSearchThreads) mine = lesser(mine, get(i));
  mine = Reduce(storage).Reduce(mine, lesser);
  if (threadIdx.x == 0) least = mine;
  __syncthreads();
  mine = least;
  __syncthreads();
  return mine;
}
/// The least of a part of a row that comes after `after`.
__device__ Place find_next(const double* row, std::int64_t first, std::int64_t end, const Place& after) {
  return find_least(first, min(first + kPart, end), [&](std::int64_t i) {
    const Place one{row[i], i};
    return after < one ? one : Place{INFINITY, 0};
  });
}

/// The least key of each part of each row.
__global__ void __launch_bounds__(kSearchThreads)
    least_of_parts(const double* keys, std::int64_t count, int parts, Place* least) {
  const int row = static_cast<int>(blockIdx.x) / parts, part = static_cast<int>(blockIdx.x) % parts;
  const Place found = find_next(keys + row * count, part * kPart, count, {-INFINITY, -1});
  if (threadIdx.x == 0) least[blockIdx.x] = found;
}
/// Row blockIdx.x: takes the least key of all parts, again and again. Its part then offers its next one.
__global__ void __launch_bounds__(kSearchThreads)
    least_of_rows(const double* keys, std::int64_t count, int parts, Place* least, LeastPlaces to) {
  const double* const row = keys + blockIdx.x * count;
  Place* const of_parts = least + blockIdx.x * static_cast<std::int64_t>(parts);
  for (int k = 0; k < to.size; ++k) {
    const Place one = find_least(0, parts, [&](std::int64_t part) { return of_parts[part]; });
    const bool is_there = one.key < INFINITY;
    if (threadIdx.x == 0)
      to.place[static_cast<int>(blockIdx.x) * to.size + k] = is_there ? static_cast<int>(one.at) : -1;
    if (!is_there) continue;
    const std::int64_t part = one.at / kPart;
    const Place next = find_next(row, part * kPart, count, one);
    if (threadIdx.x == 0) of_parts[part] = next;
    __syncthreads();
  }
}

const bool kListed = (all_kernels().insert(all_kernels().end(), {reinterpret_cast<const void*>(least_of_parts),
                                                                 reinterpret_cast<const void*>(least_of_rows)}),
                      true);

}  // namespace

void select(std::int64_t count, const bool* marks, const List& to) {
  select_marked(count, thrust::counting_iterator<int>(0), marks, to.item, to.length);
}

void select(std::int64_t count, const unsigned long long* numbers, const Nonzero& to) {
  select_marked(count, thrust::counting_iterator<int>(0), numbers, to.place, to.length);
  for_each(count, NumberKernel{numbers, to});
}

void find_least(const double* keys, const KeyRows& of, const LeastPlaces& to) {
  const auto parts = static_cast<int>((of.count + kPart - 1) / kPart);
  const Buffer<Place> least(of.rows * std::int64_t{parts});
  if (only_counts()) return;
  const auto rows = static_cast<unsigned>(of.rows);
  check(launched([&] {
          least_of_parts<<<rows * parts, kSearchThreads, 0, current_stream()>>>(keys, of.count, parts, least.data());
          least_of_rows<<<rows, kSearchThreads, 0, current_stream()>>>(keys, of.count, parts, least.data(), to);
        }),
        "starting a kernel");
}

}  // namespace garra::cuda
