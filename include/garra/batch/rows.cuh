// Operations on rows (rows.hpp) on the GPU: a thread per row runs the body of the scalar executor. For files that nvcc
// compiles.
#pragma once

#include <algorithm>

#include "garra/batch/on_device.cuh"
#include "garra/batch/rows.hpp"

namespace garra::batch {

/// kernels(count, in, out) for one chunk of at most `most` rows after another; `in` and `out` are tiles on the GPU.
template <class In, class Out, class Kernels>
void run_chunks(const Rows& job, std::int64_t most, const Kernels& kernels) {
  const std::int64_t largest = std::min(most, job.count);
  RowTiles<In, Out> tiles(job, largest);
  cuda::Buffer<double> in(tiles.in().doubles()), out(tiles.out().doubles());
  const int threads = solve_threads(job.device);
  for (std::int64_t first = 0; first < job.count; first += most) {
    const RowRange rows{first, std::min(most, job.count - first)};
    tiles.fill(rows, threads);
    in.upload(tiles.in().data());
    kernels(rows.count, in.data(), out.data());
    out.download(tiles.out().data());
    tiles.drain(rows, threads);
  }
}

/// As many rows at a time as fit.
template <class Op>
void run_kernels(const Device& device, const Op& op, const Rows& job) {
  using In = typename Op::template In<double>;
  using Out = typename Op::template Out<double>;
  constexpr std::uint64_t kStack = 4096;  // of a thread [bytes]
  const std::int64_t most = std::min(how_many_fit(device, sizeof(In) + sizeof(Out) + kStack), std::int64_t{1} << 20);
  run_chunks<In, Out>(job, most, [&](std::int64_t count, const double* in, double* out) {
    cuda::for_each(count, RowsBody<Op>{op, in, out});
  });
}

}  // namespace garra::batch
