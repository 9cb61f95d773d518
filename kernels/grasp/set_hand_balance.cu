// Decides on the GPU whether forces can balance the wrenches of grasps with a known hand.
#include "grasp/set_hand_balance.cuh"

namespace garra::grasp {

template void balance_on_device(std::int64_t, const HandBalanceKernel<1>&);
template void balance_on_device(std::int64_t, const HandBalanceKernel<2>&);
template void balance_on_device(std::int64_t, const HandBalanceKernel<3>&);
template void balance_on_device(std::int64_t, const HandBalanceKernel<4>&);
template void balance_on_device(std::int64_t, const HandBalanceKernel<5>&);
template void balance_on_device(std::int64_t, const HandBalanceKernel<6>&);
template void balance_on_device(std::int64_t, const HandBalanceKernel<7>&);
template void balance_on_device(std::int64_t, const HandBalanceKernel<8>&);
template void balance_on_device(std::int64_t, const HandTorqueKernel<1>&);
template void balance_on_device(std::int64_t, const HandTorqueKernel<2>&);
template void balance_on_device(std::int64_t, const HandTorqueKernel<3>&);
template void balance_on_device(std::int64_t, const HandTorqueKernel<4>&);
template void balance_on_device(std::int64_t, const HandTorqueKernel<5>&);
template void balance_on_device(std::int64_t, const HandTorqueKernel<6>&);
template void balance_on_device(std::int64_t, const HandTorqueKernel<7>&);
template void balance_on_device(std::int64_t, const HandTorqueKernel<8>&);

}  // namespace garra::grasp
