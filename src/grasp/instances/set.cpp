// Instances for samples of candidate grasps on the host.
#include "grasp/set/host_set.hpp"

namespace garra::grasp {

template void run_set(const SetJob<kAnyContacts>&, const Device&);
// With kernels for each number of contacts.
template void run_set(const SetJob<1>&, const Device&);
template void run_set(const SetJob<2>&, const Device&);
template void run_set(const SetJob<3>&, const Device&);
template void run_set(const SetJob<4>&, const Device&);
template void run_set(const SetJob<5>&, const Device&);
template void run_set(const SetJob<6>&, const Device&);
template void run_set(const SetJob<7>&, const Device&);
template void run_set(const SetJob<8>&, const Device&);
template void run_set(const SetJob<12>&, const Device&);
template void run_set(const SetJob<16>&, const Device&);
template void run_set(const SetJob<24>&, const Device&);
template void run_set(const SetJob<32>&, const Device&);

}  // namespace garra::grasp
