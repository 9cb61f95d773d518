// Runs an operation (platform_rows.hpp) on the host's executors, or hands it to the GPU. And checks of the plain arrays
// that go in.
#pragma once

#include <algorithm>

#include "garra/batch/for_each.hpp"
#include "garra/core/error.hpp"
#include "systems/platform_rows.hpp"

namespace garra::platform {

/// Throws Error(kUsage) where an array does not hold `rows` x `width` numbers; where `optional`, none is right too.
inline void check_rows(const char* name, const std::vector<double>& array, std::int64_t rows, int width,
                       bool optional = false) {
  if (optional && array.empty()) return;
  if (static_cast<std::int64_t>(array.size()) == rows * width) return;
  throw Error(ExitCode::kUsage,
              std::string(name) + " holds " + std::to_string(array.size()) + " numbers, not " + std::to_string(rows) +
                  " x " + std::to_string(width),
              "Give one row per sample.");
}

/// The kernel forms of one platform for all, or of one for each of `rows` samples.
inline std::vector<Model<double>> models_for(const Platforms& platforms, std::int64_t rows) {
  if (platforms.size() != 1 && static_cast<std::int64_t>(platforms.size()) != rows)
    throw Error(ExitCode::kUsage,
                std::to_string(platforms.size()) + " platforms for " + std::to_string(rows) + " samples",
                "Give one platform for all samples, or one for each.");
  std::vector<Model<double>> models;
  models.reserve(platforms.size());
  for (const Platform& p : platforms) models.push_back(model_of(p));
  return models;
}

inline InColumn column(const std::vector<double>& array, int width) {
  return {array.empty() ? nullptr : array.data(), width, false};
}
/// Makes room for `width` numbers per row.
inline OutColumn room(std::vector<double>& array, std::int64_t rows, int width) {
  array.resize(static_cast<std::size_t>(rows * width));
  return {array.data(), width};
}
inline OutColumn room_if(bool wanted, std::vector<double>& array, std::int64_t rows, int width) {
  return wanted ? room(array, rows, width) : OutColumn{nullptr, width};
}

template <class Op, bool kOwn>
void run_tiles(const Op& op, const RowsJob& job, RowsTiles<Op>& tiles, std::int64_t count) {
  const RowsBody<Op, kOwn> body{op, job.models.front(), tiles.models().data(), tiles.in().data(), tiles.out().data()};
  batch::for_each(job.device.executor, count, body);
}

template <class Op>
void run_rows(const Op& op, const RowsJob& job) {
  if (job.count == 0) return;
  if (job.device.executor == Executor::kCuda) {
#if defined(GARRA_WITH_CUDA)
    return cuda_rows(op, job);
#else
    throw Error(ExitCode::kNoDevice, "this build has no CUDA kernels",
                "install the CUDA toolkit (nvcc) and rebuild with the preset `cuda`, or use --device cpu");
#endif
  }
  constexpr std::int64_t kChunk = 512;  // rows at once: their tiles stay in the cache
  const std::int64_t chunks = (job.count + kChunk - 1) / kChunk;
  const int threads =
      static_cast<int>(std::min<std::int64_t>(solve_threads(job.device), chunks));  // a team costs more than a chunk
#pragma omp parallel num_threads(threads)
  {
    RowsTiles<Op> tiles(job, std::min(kChunk, job.count));
#pragma omp for schedule(dynamic)
    for (std::int64_t c = 0; c < chunks; ++c) {
      const std::int64_t first = c * kChunk, count = std::min(kChunk, job.count - first);
      tiles.fill(first, count);
      if (tiles.own())
        run_tiles<Op, true>(op, job, tiles, count);
      else
        run_tiles<Op, false>(op, job, tiles, count);
      tiles.drain(first, count);
    }
  }
}

}  // namespace garra::platform
