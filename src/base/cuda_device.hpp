// What the host asks of CUDA, implemented in kernels/base/device.cu or in no_cuda.cpp.
#pragma once

#include <cstdint>
#include <string>

namespace garra {

[[nodiscard]] bool cuda_compiled_in();
[[nodiscard]] int cuda_device_count();  ///< 0 where there is no driver or no device
[[nodiscard]] std::string cuda_device_name(int index);
[[nodiscard]] std::uint64_t cuda_free_memory(int index);  ///< bytes

}  // namespace garra
