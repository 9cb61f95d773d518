// Instances for the contact problems of a step and the effect of their forces, on the host.
#include "grasp/time/host.hpp"

namespace garra::grasp {

void HostBackend::assemble(const AssembleKernel<kAnyContacts>& body, std::int64_t count) const {
  contact::with_contacts(executor, [&](auto n) {
    contact::for_each_problem<n>(executor, count, AssembleKernel<n>{body.rules, body.tiles, body.now});
  });
}

void HostBackend::close(std::int64_t count, const CloseKernel<kAnyContacts>& body) const {
  contact::with_contacts(executor, [&](auto n) {
    contact::for_each_problem<n>(executor, count,
                                 CloseKernel<n>{body.rules, body.tiles, body.now, body.time, body.first, body.looks});
  });
}

}  // namespace garra::grasp
