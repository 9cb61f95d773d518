// The executor that runs a batch, and the number of problems that fit into its memory.
#pragma once

#include <cstdint>
#include <string>

namespace garra {

enum class Executor { kScalar, kLanes, kCuda };

/// A place to run batches. `threads` counts OpenMP threads (0: all), `index` the CUDA device.
struct Device {
  Executor executor = Executor::kLanes;
  int threads = 0;
  int index = 0;
};

/// "auto", "cpu", "scalar", "cuda" or "cuda:1". `auto` is the first CUDA device that pays (docs/howto/gpu.md), else the
/// CPU. Throws Error (kUsage for a wrong name, kNoDevice where `cuda` cannot run, saying why).
[[nodiscard]] Device parse_device(const std::string& name, int threads = 0);

/// "AMD EPYC, 2 threads x 8 lanes", "NVIDIA H200 (cuda:0)".
[[nodiscard]] std::string describe(const Device& device);

/// OpenMP threads that a study runs on, with either executor of the host: `threads`, or all that there are.
[[nodiscard]] int study_threads(const Device& device);

/// The same for one solve of arrays, which the scalar executor does in one thread.
[[nodiscard]] int solve_threads(const Device& device);

/// Memory [bytes] that a batch may use on this device right now.
[[nodiscard]] std::uint64_t free_memory(const Device& device);

/// Number of problems of `bytes_each` that fit into half of the free memory, in whole blocks of
/// 1,024. Throws Error(kNoDevice) if not even one block fits.
[[nodiscard]] std::int64_t how_many_fit(const Device& device, std::uint64_t bytes_each);

}  // namespace garra
