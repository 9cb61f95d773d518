// Step 4 of a sample on the GPU, without limits of joint torques.
#include "grasp/build.cuh"

namespace garra::grasp {

template <int N, int R>
// Separate from balance_torques.cu so that the two compile in parallel; they differ in R only.
void balance_on_device(std::int64_t count, const BalanceKernel<N, R>& body) {
  cuda::for_each(count, body);
}
template void balance_on_device(std::int64_t, const BalanceKernel<1>&);
template void balance_on_device(std::int64_t, const BalanceKernel<2>&);
template void balance_on_device(std::int64_t, const BalanceKernel<3>&);
template void balance_on_device(std::int64_t, const BalanceKernel<4>&);
template void balance_on_device(std::int64_t, const BalanceKernel<5>&);
template void balance_on_device(std::int64_t, const BalanceKernel<6>&);
template void balance_on_device(std::int64_t, const BalanceKernel<7>&);
template void balance_on_device(std::int64_t, const BalanceKernel<8>&);

}  // namespace garra::grasp
