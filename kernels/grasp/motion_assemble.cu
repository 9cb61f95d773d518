// Contact problems of a step on the GPU, one kernel for each number of contacts.
#include "grasp/motion.cuh"

namespace garra::grasp {

template <int N>
void DeviceBackend::assemble(const AssembleKernel<N>& body, std::int64_t count) const {
  for_each(count, body);
}

template void DeviceBackend::assemble(const AssembleKernel<1>&, std::int64_t) const;
template void DeviceBackend::assemble(const AssembleKernel<2>&, std::int64_t) const;
template void DeviceBackend::assemble(const AssembleKernel<3>&, std::int64_t) const;
template void DeviceBackend::assemble(const AssembleKernel<4>&, std::int64_t) const;
template void DeviceBackend::assemble(const AssembleKernel<5>&, std::int64_t) const;
template void DeviceBackend::assemble(const AssembleKernel<6>&, std::int64_t) const;
template void DeviceBackend::assemble(const AssembleKernel<7>&, std::int64_t) const;
template void DeviceBackend::assemble(const AssembleKernel<8>&, std::int64_t) const;

}  // namespace garra::grasp
