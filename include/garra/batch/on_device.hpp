// The one seam between the host's code and the kernels. The host writes
//   batch::on_device(device, what, is, to, be, done);
// and a file that nvcc compiles (on_device.cuh) says for which parts it has kernels. The library is the same with and
// without them: a program has the kernels that are linked into it, and every other call says that there are none. For
// files that nvcc compiles, too.
#pragma once

#include "garra/batch/device.hpp"

namespace garra::batch {

/// Throws Error(kNoDevice): there are no kernels.
[[noreturn]] void refuse_without_kernels();

/// What runs the kernels for these parts; set before main() where they are linked.
template <class... Parts>
struct Launch {
  static inline void (*kernels)(const Device&, const Parts&...) = nullptr;
};

template <class... Parts>
void on_device(const Device& device, const Parts&... parts) {
  if (Launch<Parts...>::kernels == nullptr) refuse_without_kernels();
  Launch<Parts...>::kernels(device, parts...);
}

}  // namespace garra::batch
