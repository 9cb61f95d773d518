// Samples of grasps with soft contacts whose hand is known, on the host.
#include "grasp/set/host_balance.hpp"
#include "grasp/set/host_hand.hpp"

namespace garra::grasp {

template void run_hand(const HandJob<2, 4>&, const Device&);
template void run_hand(const HandJob<4, 4>&, const Device&);
template void run_hand(const HandJob<8, 4>&, const Device&);
template void run_hand(const HandJob<32, 4>&, const Device&);
template HandReplay replay_hand(const HandJob<2, 4>&, std::int64_t);
template HandReplay replay_hand(const HandJob<4, 4>&, std::int64_t);
template HandReplay replay_hand(const HandJob<8, 4>&, std::int64_t);
template HandReplay replay_hand(const HandJob<32, 4>&, std::int64_t);
template void balance(Executor, const HandBalanceBody<2, 4>&, std::int64_t);
template void balance(Executor, const HandBalanceBody<4, 4>&, std::int64_t);
template void balance(Executor, const HandBalanceBody<8, 4>&, std::int64_t);
template void balance(Executor, const HandBalanceBody<32, 4>&, std::int64_t);
template void balance(Executor, const HandTorqueBody<2, 4>&, std::int64_t);
template void balance(Executor, const HandTorqueBody<4, 4>&, std::int64_t);
template void balance(Executor, const HandTorqueBody<8, 4>&, std::int64_t);
template void balance(Executor, const HandTorqueBody<32, 4>&, std::int64_t);

}  // namespace garra::grasp
