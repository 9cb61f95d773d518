// Operations on rows (systems/platform_rows.hpp) on the GPU: a thread per row runs the body of the scalar executor.
#pragma once

#include <algorithm>

#include "for_each.cuh"
#include "systems/platform_rows.hpp"

namespace garra::platform {

template <class Op, bool kOwn>
void cuda_chunk(const Op& op, const RowsJob& job, RowsTiles<Op>& tiles, std::int64_t count) {
  cuda::Buffer<double> models(kOwn ? tiles.models().doubles() : 0), in(tiles.in().doubles()),
      out(tiles.out().doubles());
  if (kOwn) models.upload(tiles.models().data());
  in.upload(tiles.in().data());
  cuda::for_each(count, RowsBody<Op, kOwn>{op, job.models.front(), models.data(), in.data(), out.data()});
  out.download(tiles.out().data());
}

template <class Op>
void cuda_rows(const Op& op, const RowsJob& job) {
  cuda::check(cudaSetDevice(job.device.index), "choosing the device");
  constexpr std::uint64_t kBytes = 8 * (batch::kFields<double, typename RowsTiles<Op>::In> +
                                        batch::kFields<double, typename RowsTiles<Op>::Out>)+sizeof(Model<double>) +
                                   4096;  // and a thread's stack
  const std::int64_t most =
      std::min<std::int64_t>({how_many_fit(job.device, kBytes), job.count, std::int64_t{1} << 20});
  RowsTiles<Op> tiles(job, most);
  for (std::int64_t first = 0; first < job.count; first += most) {
    const std::int64_t count = std::min(most, job.count - first);
    tiles.fill(first, count);
    if (tiles.own())
      cuda_chunk<Op, true>(op, job, tiles, count);
    else
      cuda_chunk<Op, false>(op, job, tiles, count);
    tiles.drain(first, count);
  }
}

}  // namespace garra::platform
