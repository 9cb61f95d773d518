// Queries of the host to CUDA. kernels/base/device.cu answers them if it is linked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "garra/batch/device.hpp"

namespace garra {

/// Hooks into the CUDA runtime, set before main() if the kernels are linked.
struct CudaRuntime {
  int (*device_count)() = nullptr;  ///< 0 without a driver or device
  std::string (*device_name)(int index) = nullptr;
  std::uint64_t (*free_memory)(int index) = nullptr;  ///< bytes
  std::string (*driver_problem)() = nullptr;          ///< the driver's message if there is no device; may be empty
  std::string (*missing_kernels)(int index) =
      nullptr;                                   ///< why this program's kernels cannot run there; empty: they can
  std::string (*drawback)(int index) = nullptr;  ///< why the processor is likely faster; empty: it is not
  bool (*translates)(int index) = nullptr;  ///< the driver has to translate the kernels, once, when they are loaded
  int (*load_all)(int index) = nullptr;     ///< loads every kernel: how many there are
  void* (*allocate)(int index, std::size_t bytes) = nullptr;
  void (*release)(void* memory) = nullptr;
  void (*wait)(int index) = nullptr;
};
inline CudaRuntime cuda_runtime;

/// Whether kernels are linked into this program; says nothing of a GPU.
[[nodiscard]] bool has_kernels();
[[nodiscard]] int cuda_device_count();  ///< 0 also without kernels
/// Explains which device `auto` selects on this machine, and why it is no GPU.
[[nodiscard]] std::string explain_auto();
/// The reason alone; empty if `auto` selects the first GPU.
[[nodiscard]] std::string why_not_gpu();
/// Startup time of a GPU [s]: `auto` does not query one if the processor finishes sooner.
inline constexpr double kGpuStart = 0.5;
/// As parse_device(), for work on host arrays, which are copied to a GPU and back. `core_seconds` is the CPU time of
/// one core (core_seconds.hpp). Only this function decides what `auto` means there.
[[nodiscard]] Device parse_device_for_arrays(const std::string& name, int threads, double core_seconds);
/// Note to print before the first launch on this device: the driver translates the kernels, which takes minutes once.
/// Empty if no translation is needed.
[[nodiscard]] std::string first_launch_note(const Device& device);
/// GPU memory for arrays handed to other libraries. Throws Error(kNoDevice) if no kernels are linked.
[[nodiscard]] void* cuda_allocate(int device, std::size_t bytes);
void cuda_release(void* memory);
void cuda_wait(int device);  ///< until its default stream has done all that was queued

}  // namespace garra
