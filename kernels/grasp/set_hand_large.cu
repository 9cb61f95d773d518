// The same of more than eight contacts (cmake/cuda.cmake says how it is compiled).
#include <string>

#include "garra/core/error.hpp"
#include "grasp/set_hand.cuh"

namespace garra::grasp {

template <>
void balance_on_device(std::int64_t count, const HandBalanceBody<16>& body) {
  cuda::for_each(count, body);
}
template <>
void balance_on_device(std::int64_t count, const HandTorqueBody<16>& body) {
  cuda::for_each(count, body);
}

template <>
void run_kernels(const Device&, const HandJob<kMostSetContacts>&) {
  // Compiled like this file Newton's kernel has 1.03 MB of local memory a thread, and no GPU gives a thread more than
  // 512 KiB. Optimized it would need some 300 kB, which the driver sets aside for every thread that the device can
  // hold.
  throw Error(ExitCode::kNoDevice, "hands with more than 16 contacts have no CUDA kernel", "use --device cpu");
}

}  // namespace garra::grasp

template struct garra::batch::Kernels<garra::grasp::HandJob<16>>;
template struct garra::batch::Kernels<garra::grasp::HandJob<32>>;
