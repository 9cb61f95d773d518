// Instances for samples of candidate grasps with soft contacts, on the host.
#include "grasp/set/host_set.hpp"

namespace garra::grasp {

template void run_set(const SetJob<kAnyContacts, 4>&, const Device&);
template void run_set(const SetJob<2, 4>&, const Device&);
template void run_set(const SetJob<3, 4>&, const Device&);
template void run_set(const SetJob<4, 4>&, const Device&);
template void run_set(const SetJob<5, 4>&, const Device&);
template void run_set(const SetJob<8, 4>&, const Device&);
template void run_set(const SetJob<16, 4>&, const Device&);
template void run_set(const SetJob<32, 4>&, const Device&);

}  // namespace garra::grasp
