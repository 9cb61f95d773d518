// Runs operations on rows on the GPU: a thread per row runs the scalar executor's body. The rows
// are arrays of the host (rows.hpp) or of the device (resident.hpp). For files that nvcc compiles.
#pragma once

#include <algorithm>

#include "garra/batch/columns.cuh"
#include "garra/batch/on_device.cuh"
#include "garra/batch/rows.hpp"
#include "garra/batch/staging.cuh"

namespace garra::batch {

inline constexpr std::int64_t kDeviceChunk = std::int64_t{1} << 20;  ///< rows on the GPU at a time, at most

/// Runs kernels(rows, in, out) for chunks of at most `kDeviceChunk` rows that are on the device.
template <class In, class Out, class Kernels>
void run_resident_chunks(const ResidentRows& job, const Kernels& kernels, std::int64_t chunk = kDeviceChunk) {
  const ResidentCall call(job);
  const std::int64_t most = std::min(chunk, job.count), padded = tiles_for(most) * kTile;
  cuda::Buffer<double> in(padded * kFields<double, In>), out(padded * kFields<double, Out>);
  for (std::int64_t first = 0; first < job.count; first += most) {
    const RowRange rows{first, std::min(most, job.count - first)};
    gather(job.in, rows, {in.data(), kFields<double, In>});
    kernels(rows, in.data(), out.data());
    scatter({out.data(), kFields<double, Out>}, rows, job.out);
  }
}

template <class Op>
void run_kernels(const Device&, const Op& op, const ResidentRows& job) {
  run_resident_chunks<typename Op::template In<double>, typename Op::template Out<double>>(
      job, [&](const RowRange& rows, const double* in, double* out) {
        cuda::for_each(rows.count, RowsKernel<Op>{op, in, out});
      });
}
template <class Op>
void run_kernels(const Device& device, const Op& op, const Rows& job) {
  run_staged(job, as_many_as_fit(device, kDeviceChunk, cuda::measure_stack<RowsKernel<Op>>(device.index)),
             [&](const ResidentRows& rows) { run_kernels(device, op, rows); });
}

/// Registers an operation for rows of the host and for rows of the device by one line.
template <class Op>
struct Kernels<Op, Rows> {
  static const bool are_linked;
};
template <class Op>
const bool Kernels<Op, Rows>::are_linked = announce<Op, Rows>() && announce<Op, ResidentRows>();

}  // namespace garra::batch
