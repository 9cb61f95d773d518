// Samples of grasps with soft contacts and a known hand, on the GPU.
#include "grasp/set_hand_balance.cuh"

namespace garra::grasp {

template void balance_on_device(std::int64_t, const HandBalanceKernel<2, 4>&);
template void balance_on_device(std::int64_t, const HandBalanceKernel<4, 4>&);
template void balance_on_device(std::int64_t, const HandBalanceKernel<8, 4>&);
template void balance_on_device(std::int64_t, const HandTorqueKernel<2, 4>&);
template void balance_on_device(std::int64_t, const HandTorqueKernel<4, 4>&);
template void balance_on_device(std::int64_t, const HandTorqueKernel<8, 4>&);

}  // namespace garra::grasp

template struct garra::batch::Kernels<garra::grasp::HandJob<2, 4>>;
template struct garra::batch::Kernels<garra::grasp::HandJob<4, 4>>;
template struct garra::batch::Kernels<garra::grasp::HandJob<8, 4>>;
