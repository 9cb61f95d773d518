// The one seam between the host's code and the kernels. The host writes
//   batch::on_device(device, what, is, to, be, done);
// and a file that nvcc compiles (on_device.cuh) gives that call its instance. Where there is no nvcc, every such call
// says so. For files that nvcc compiles, too.
#pragma once

#include "garra/batch/device.hpp"

namespace garra::batch {

/// Throws Error(kNoDevice): there are no kernels.
[[noreturn]] void refuse_without_kernels();

#if defined(GARRA_WITH_CUDA) || defined(__CUDACC__)
template <class... Parts>
void on_device(const Device& device, const Parts&... parts);
#else
template <class... Parts>
[[noreturn]] void on_device(const Device&, const Parts&...) {
  refuse_without_kernels();
}
#endif

}  // namespace garra::batch
