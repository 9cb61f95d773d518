#include "grasp_build.cuh"

namespace garra::grasp {

template <int N, int J>
void build_on_device(std::int64_t count, const BuildBody<N, J>& build) {
  cuda::for_each(count, build);
}
template void build_on_device(std::int64_t, const BuildBody<1, chain::kMaxJoints>&);
template void build_on_device(std::int64_t, const BuildBody<2, chain::kMaxJoints>&);
template void build_on_device(std::int64_t, const BuildBody<3, chain::kMaxJoints>&);
template void build_on_device(std::int64_t, const BuildBody<4, chain::kMaxJoints>&);
template void build_on_device(std::int64_t, const BuildBody<5, chain::kMaxJoints>&);
template void build_on_device(std::int64_t, const BuildBody<6, chain::kMaxJoints>&);
template void build_on_device(std::int64_t, const BuildBody<7, chain::kMaxJoints>&);
template void build_on_device(std::int64_t, const BuildBody<8, chain::kMaxJoints>&);

}  // namespace garra::grasp
