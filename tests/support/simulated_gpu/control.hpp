// What a test may ask of the simulated GPU, and how it may make it fail.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

// Of the device that the calling thread has set, but for what is said to be of all.
namespace simulated_gpu {

enum class Failure {
  kAllocation,  ///< cudaMalloc: out of memory, once
  kCopy,        ///< cudaMemcpy: the device is lost, and stays so
  kLaunch,      ///< a launch that is refused, once
  kKernel,      ///< a kernel that dies: the next call that waits for it says so, and every one after that
  kPinned,      ///< cudaHostAlloc: no memory of the host, once
};

/// The n-th of such calls from now on fails (1: the next).
void fail(Failure what, int n);
/// Whether such a call is still to come.
[[nodiscard]] bool is_planned(Failure what);

/// As after a new start of the process: no failure is planned or remembered on any device.
void recover();

/// Memory of the device [bytes].
void set_memory(std::size_t bytes);
[[nodiscard]] std::size_t memory();

/// Blocks of a launch run in this order: 0 as they come, else shuffled by this number.
void shuffle_blocks(std::uint64_t seed);

/// What cudaMalloc gave and cudaFree has not taken back [bytes].
[[nodiscard]] std::size_t bytes_in_use();
[[nodiscard]] std::int64_t kernels_run();

/// How many devices there are from now on, at most kMaxDevices. They share nothing: memory of one is none of another.
inline constexpr int kMaxDevices = 8;
void set_devices(int count);

/// Reads every kernel of the program, as its first launch would: how many there are. Throws std::runtime_error for what
/// this GPU does not know.
std::int64_t read_all_kernels();

/// Of each kernel that ran on any device: launches, threads, instructions by class, in JSON.
[[nodiscard]] std::string counts_as_json();

}  // namespace simulated_gpu
