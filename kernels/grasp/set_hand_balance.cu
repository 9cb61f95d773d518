// Decides on the GPU whether forces can balance the wrenches of grasps with a known hand.
#include "grasp/set_hand_balance.cuh"

namespace garra::grasp {

template void balance_on_device(std::int64_t, const HandBalanceBody<1>&);
template void balance_on_device(std::int64_t, const HandBalanceBody<2>&);
template void balance_on_device(std::int64_t, const HandBalanceBody<3>&);
template void balance_on_device(std::int64_t, const HandBalanceBody<4>&);
template void balance_on_device(std::int64_t, const HandBalanceBody<5>&);
template void balance_on_device(std::int64_t, const HandBalanceBody<6>&);
template void balance_on_device(std::int64_t, const HandBalanceBody<7>&);
template void balance_on_device(std::int64_t, const HandBalanceBody<8>&);
template void balance_on_device(std::int64_t, const HandTorqueBody<1>&);
template void balance_on_device(std::int64_t, const HandTorqueBody<2>&);
template void balance_on_device(std::int64_t, const HandTorqueBody<3>&);
template void balance_on_device(std::int64_t, const HandTorqueBody<4>&);
template void balance_on_device(std::int64_t, const HandTorqueBody<5>&);
template void balance_on_device(std::int64_t, const HandTorqueBody<6>&);
template void balance_on_device(std::int64_t, const HandTorqueBody<7>&);
template void balance_on_device(std::int64_t, const HandTorqueBody<8>&);

}  // namespace garra::grasp
