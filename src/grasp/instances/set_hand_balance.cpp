// Whether forces can balance the wrenches of grasps whose hand is known, on the host: apart from set_hand.cpp so that
// the two compile side by side.
#include "grasp/set/host_balance.hpp"

namespace garra::grasp {

template void balance(Executor, const HandBalanceBody<1>&, std::int64_t);
template void balance(Executor, const HandBalanceBody<2>&, std::int64_t);
template void balance(Executor, const HandBalanceBody<3>&, std::int64_t);
template void balance(Executor, const HandBalanceBody<4>&, std::int64_t);
template void balance(Executor, const HandBalanceBody<5>&, std::int64_t);
template void balance(Executor, const HandBalanceBody<6>&, std::int64_t);
template void balance(Executor, const HandBalanceBody<7>&, std::int64_t);
template void balance(Executor, const HandBalanceBody<8>&, std::int64_t);
template void balance(Executor, const HandBalanceBody<16>&, std::int64_t);
template void balance(Executor, const HandBalanceBody<32>&, std::int64_t);
template void balance(Executor, const HandTorqueBody<1>&, std::int64_t);
template void balance(Executor, const HandTorqueBody<2>&, std::int64_t);
template void balance(Executor, const HandTorqueBody<3>&, std::int64_t);
template void balance(Executor, const HandTorqueBody<4>&, std::int64_t);
template void balance(Executor, const HandTorqueBody<5>&, std::int64_t);
template void balance(Executor, const HandTorqueBody<6>&, std::int64_t);
template void balance(Executor, const HandTorqueBody<7>&, std::int64_t);
template void balance(Executor, const HandTorqueBody<8>&, std::int64_t);
template void balance(Executor, const HandTorqueBody<16>&, std::int64_t);
template void balance(Executor, const HandTorqueBody<32>&, std::int64_t);

}  // namespace garra::grasp
