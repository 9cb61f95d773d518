// Instances for samples of grasps with soft contacts and a known hand, on the host.
#include "grasp/set/host_balance.hpp"
#include "grasp/set/host_hand.hpp"

namespace garra::grasp {

template void run_hand(const HandJob<kAnyContacts, 4>&, const Device&);
template HandReplay replay_hand(const HandJob<kAnyContacts, 4>&, std::int64_t);
template void balance(Executor, const HandBalanceKernel<kAnyContacts, 4>&, std::int64_t);
template void balance(Executor, const HandTorqueKernel<kAnyContacts, 4>&, std::int64_t);
// With kernels for each number of contacts.
template void run_hand(const HandJob<2, 4>&, const Device&);
template void run_hand(const HandJob<4, 4>&, const Device&);
template void run_hand(const HandJob<8, 4>&, const Device&);

}  // namespace garra::grasp
