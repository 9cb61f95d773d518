// Whether forces can balance the wrenches of grasps whose hand is known, on the host: apart from set_hand.cpp so that
// the two compile side by side.
#include "grasp/set/host_balance.hpp"

namespace garra::grasp {

template void balance(Executor, const HandBalanceBody<kAnyContacts, 3>&, std::int64_t);
template void balance(Executor, const HandTorqueBody<kAnyContacts, 3>&, std::int64_t);

}  // namespace garra::grasp
