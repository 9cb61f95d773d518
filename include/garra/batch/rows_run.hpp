// Runs an operation on rows (rows.hpp) on the host's executors, or hands it to the GPU.
#pragma once

#include "garra/batch/for_each.hpp"
#include "garra/batch/on_device.hpp"
#include "garra/batch/parallel.hpp"
#include "garra/batch/rows.hpp"

namespace garra::batch {

/// Runs work(tiles, count) on blocks of at most `size` rows, between gather and scatter. A thread
/// takes RowTiles, or a type with the same interface, from make(most).
template <class Make, class Work>
void run_tiles(const Rows& job, std::int64_t size, const Make& make, const Work& work) {
  const Blocks blocks{job.count, size};
  for_blocks(
      solve_threads(job.device), blocks, [&] { return make(blocks.largest()); },
      [&](auto& tiles, std::int64_t first, std::int64_t count) {
        tiles.fill({first, count});
        work(tiles, count);
        tiles.drain({first, count});
      });
}

/// Throws bad_alloc if a thread cannot allocate.
template <class Op>
void run_rows_on_host(const Op& op, const Rows& job) {
  constexpr std::int64_t kRows = 512;  // rows at once: their tiles stay in the cache
  using Tiles = RowTiles<typename Op::template In<double>, typename Op::template Out<double>>;
  run_tiles(
      job, kRows, [&](std::int64_t most) { return Tiles(job, most); },
      [&](Tiles& tiles, std::int64_t count) {
        for_each(job.device.executor, count, RowsKernel<Op>{op, tiles.in().data(), tiles.out().data()});
      });
}

/// Runs the operation on the host or the job's GPU. Throws Error(kNoDevice) if it has no kernels.
template <class Op>
void run_rows(const Op& op, const Rows& job) {
  if (job.count == 0) return;
  if (job.device.executor == Executor::kCuda) return on_device(job.device, op, job);
  run_rows_on_host(op, job);
}

}  // namespace garra::batch
