// Operations on rows on the GPU: a thread per row runs the body of the scalar executor. From arrays of the host
// (rows.hpp) and from arrays that are on the device (resident.hpp). For files that nvcc compiles.
#pragma once

#include <algorithm>

#include "garra/batch/columns.cuh"
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

inline constexpr std::int64_t kDeviceChunk = std::int64_t{1} << 20;  ///< rows on the GPU at a time, at most

/// kernels(rows, in, out) for chunks of rows that are on the device.
template <class In, class Out, class Kernels>
void run_resident_chunks(const ResidentRows& job, const Kernels& kernels) {
  const ResidentCall call(job);
  const std::int64_t most = std::min(kDeviceChunk, job.count), padded = tiles_for(most) * kTile;
  cuda::Buffer<double> in(padded * kFields<double, In>), out(padded * kFields<double, Out>);
  for (std::int64_t first = 0; first < job.count; first += most) {
    const RowRange rows{first, std::min(most, job.count - first)};
    gather(job.in, rows, {in.data(), kFields<double, In>});
    kernels(rows, in.data(), out.data());
    scatter({out.data(), kFields<double, Out>}, rows, job.out);
  }
}

/// As many rows at a time as fit.
template <class Op>
void run_kernels(const Device& device, const Op& op, const Rows& job) {
  using In = typename Op::template In<double>;
  using Out = typename Op::template Out<double>;
  const std::int64_t fit =
      cuda::how_many_fit(device, cuda::Memory{sizeof(In) + sizeof(Out), cuda::stacks_of<RowsBody<Op>>(device.index)});
  run_chunks<In, Out>(job, std::min(fit, kDeviceChunk), [&](std::int64_t count, const double* in, double* out) {
    cuda::for_each(count, RowsBody<Op>{op, in, out});
  });
}
template <class Op>
void run_kernels(const Device&, const Op& op, const ResidentRows& job) {
  run_resident_chunks<typename Op::template In<double>, typename Op::template Out<double>>(
      job, [&](const RowRange& rows, const double* in, double* out) {
        cuda::for_each(rows.count, RowsBody<Op>{op, in, out});
      });
}

/// An operation on rows of the host is one on rows of the device, too: both are announced by one line.
template <class Op>
struct Kernels<Op, Rows> {
  static const bool are_linked;
};
template <class Op>
const bool Kernels<Op, Rows>::are_linked = announce<Op, Rows>() && announce<Op, ResidentRows>();

}  // namespace garra::batch
