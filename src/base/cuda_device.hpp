// What the host asks of CUDA. The answers come from kernels/base/device.cu where it is linked.
#pragma once

#include <cstdint>
#include <string>

namespace garra {

/// Set before main() where the kernels are linked.
struct CudaRuntime {
  int (*device_count)() = nullptr;  ///< 0 where there is no driver or no device
  std::string (*device_name)(int index) = nullptr;
  std::uint64_t (*free_memory)(int index) = nullptr;  ///< bytes
  std::string (*driver_problem)() = nullptr;          ///< what the driver says where there is no device; may be empty
  std::string (*missing_kernels)(int index) =
      nullptr;                                   ///< why this program's kernels cannot run there; empty: they can
  std::string (*drawback)(int index) = nullptr;  ///< why the processor is likely faster; empty: it is not
};
inline CudaRuntime cuda_runtime;

/// Whether kernels are linked into this program; says nothing of a GPU.
[[nodiscard]] bool has_kernels();
[[nodiscard]] int cuda_device_count();  ///< 0 also where there are no kernels
/// What `auto` stands for on this machine, and why it is no GPU.
[[nodiscard]] std::string explain_auto();

}  // namespace garra
