// Runs an operation on rows (rows.hpp) on the host's executors, or hands it to the GPU.
#pragma once

#include "garra/batch/for_each.hpp"
#include "garra/batch/on_device.hpp"
#include "garra/batch/parallel.hpp"
#include "garra/batch/rows.hpp"

namespace garra::batch {

/// Runs work(tiles, count) on blocks of at most `size` rows, between gather and scatter. A thread
/// takes RowTiles, or a type with the same interface, from make(most); tiles of fewer rows take a block in parts.
template <class Make, class Work>
void run_tiles(const Rows& job, std::int64_t size, const Make& make, const Work& work) {
  const Blocks blocks{job.count, size};
  for_blocks(
      solve_threads(job.device), blocks, [&] { return make(blocks.largest()); },
      [&](auto& tiles, std::int64_t first, std::int64_t count) {
        find_pages(job, {first, count});
        for (std::int64_t done = 0; done < count; done += tiles.most()) {
          const RowRange rows{first + done, std::min(tiles.most(), count - done)};
          tiles.fill(rows);
          work(tiles, rows.count);
          tiles.drain(rows);
        }
      });
}

/// Throws bad_alloc if a thread cannot allocate.
template <class Op>
void run_rows_on_host(const Op& op, const Rows& job) {
  constexpr std::int64_t kRows = 512;  // a thread's share
  using In = typename Op::template In<double>;
  using Out = typename Op::template Out<double>;
  using Tiles = RowTiles<In, Out>;
  const int most = rows_at_once<In, Out>();
  run_tiles(
      job, kRows, [&](std::int64_t) { return Tiles(job, most, std::min<int>(most, kTile)); },
      [&](Tiles& tiles, std::int64_t count) {
        for_each(job.device.executor, count, RowsKernel<Op>{op, tiles.in(), tiles.out()});
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
