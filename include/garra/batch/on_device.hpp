// The only interface between the host's code and the kernels. The host writes
//   batch::on_device(device, what, is, to, be, done);
// and a file that nvcc compiles (on_device.cuh) lists the parts it has kernels for. The library is
// the same with and without kernels: a program has those linked into it, and every other call
// throws. Also for files that nvcc compiles.
#pragma once

#include "garra/batch/device.hpp"

namespace garra::batch {

/// Throws Error(kNoDevice): there are no kernels.
[[noreturn]] void refuse_without_kernels();

/// The function that runs the kernels for these parts; set before main() if they are linked.
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
