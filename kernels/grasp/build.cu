// Step 3 of a sample on the GPU: friction problems and metrics.
#include "grasp/build.cuh"

namespace garra::grasp {

template <int N>
void build_on_device(std::int64_t count, const BuildBody<N>& build) {
  cuda::for_each(count, build);
}
template void build_on_device(std::int64_t, const BuildBody<1>&);
template void build_on_device(std::int64_t, const BuildBody<2>&);
template void build_on_device(std::int64_t, const BuildBody<3>&);
template void build_on_device(std::int64_t, const BuildBody<4>&);
template void build_on_device(std::int64_t, const BuildBody<5>&);
template void build_on_device(std::int64_t, const BuildBody<6>&);
template void build_on_device(std::int64_t, const BuildBody<7>&);
template void build_on_device(std::int64_t, const BuildBody<8>&);

}  // namespace garra::grasp
