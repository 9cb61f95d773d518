#include "grasp_build.cuh"

namespace garra::grasp {

template <int N, int J>
void build_on_device(std::int64_t count, const BuildBody<N, J>& build) {
  cuda::for_each(count, build);
}
template void build_on_device(std::int64_t, const BuildBody<1, 6>&);
template void build_on_device(std::int64_t, const BuildBody<2, 6>&);
template void build_on_device(std::int64_t, const BuildBody<3, 6>&);
template void build_on_device(std::int64_t, const BuildBody<4, 6>&);
template void build_on_device(std::int64_t, const BuildBody<5, 6>&);
template void build_on_device(std::int64_t, const BuildBody<6, 6>&);
template void build_on_device(std::int64_t, const BuildBody<7, 6>&);
template void build_on_device(std::int64_t, const BuildBody<8, 6>&);

}  // namespace garra::grasp
