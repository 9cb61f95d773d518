// Instances for samples of grasps with a known hand, on the host.
#include "grasp/set/host_hand.hpp"

namespace garra::grasp {

template void run_hand(const HandJob<kAnyContacts>&, const Device&);
template HandReplay replay_hand(const HandJob<kAnyContacts>&, std::int64_t);
// With kernels for each number of contacts.
template void run_hand(const HandJob<1>&, const Device&);
template void run_hand(const HandJob<2>&, const Device&);
template void run_hand(const HandJob<3>&, const Device&);
template void run_hand(const HandJob<4>&, const Device&);
template void run_hand(const HandJob<5>&, const Device&);
template void run_hand(const HandJob<6>&, const Device&);
template void run_hand(const HandJob<7>&, const Device&);
template void run_hand(const HandJob<8>&, const Device&);
template void run_hand(const HandJob<16>&, const Device&);

}  // namespace garra::grasp
