// Step 4 of a sample on the GPU with limits of joint torques.
#include "grasp/build.cuh"

namespace garra::grasp {

template <int N, int R>
void balance_on_device(std::int64_t count, const BalanceKernel<N, R>& body) {
  cuda::for_each(count, body);
}
template void balance_on_device(std::int64_t, const BalanceKernel<1, chain::kMaxJoints>&);
template void balance_on_device(std::int64_t, const BalanceKernel<2, chain::kMaxJoints>&);
template void balance_on_device(std::int64_t, const BalanceKernel<3, chain::kMaxJoints>&);
template void balance_on_device(std::int64_t, const BalanceKernel<4, chain::kMaxJoints>&);
template void balance_on_device(std::int64_t, const BalanceKernel<5, chain::kMaxJoints>&);
template void balance_on_device(std::int64_t, const BalanceKernel<6, chain::kMaxJoints>&);
template void balance_on_device(std::int64_t, const BalanceKernel<7, chain::kMaxJoints>&);
template void balance_on_device(std::int64_t, const BalanceKernel<8, chain::kMaxJoints>&);

}  // namespace garra::grasp
