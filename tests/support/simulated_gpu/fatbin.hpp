// What nvcc puts into an object file: PTX, in a container.
#pragma once

#include <string_view>

namespace simulated_gpu {

/// The PTX in what __cudaRegisterFatBinary is given. Throws Fault where there is none, or only compressed.
[[nodiscard]] std::string_view ptx_of(const void* wrapper);

}  // namespace simulated_gpu
