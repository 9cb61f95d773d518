// Instances of the wrench balance of grasps with a known hand, on the host. Separate from set_hand.cpp so that the two
// compile in parallel.
#include "grasp/set/host_balance.hpp"

namespace garra::grasp {

template void balance(Executor, const HandBalanceKernel<kAnyContacts, 3>&, std::int64_t);
template void balance(Executor, const HandTorqueKernel<kAnyContacts, 3>&, std::int64_t);

}  // namespace garra::grasp
