// Contact problems of a step on the host, one body for each number of contacts.
#include "grasp/time/host.hpp"

namespace garra::grasp {

template <int N>
void HostBackend::assemble(const AssembleBody<N>& body, std::int64_t count) const {
  for_each(count, body);
}

template void HostBackend::assemble(const AssembleBody<1>&, std::int64_t) const;
template void HostBackend::assemble(const AssembleBody<2>&, std::int64_t) const;
template void HostBackend::assemble(const AssembleBody<3>&, std::int64_t) const;
template void HostBackend::assemble(const AssembleBody<4>&, std::int64_t) const;
template void HostBackend::assemble(const AssembleBody<5>&, std::int64_t) const;
template void HostBackend::assemble(const AssembleBody<6>&, std::int64_t) const;
template void HostBackend::assemble(const AssembleBody<7>&, std::int64_t) const;
template void HostBackend::assemble(const AssembleBody<8>&, std::int64_t) const;

}  // namespace garra::grasp
