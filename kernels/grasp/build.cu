// Step 3 of a sample on the GPU: friction problems and metrics.
#include "grasp/build.cuh"

namespace garra::grasp {

template <int N>
void build_on_device(std::int64_t count, bool moving, const BuildBody<N>& build) {
  if (moving)
    cuda::for_each(count, build);
  else
    cuda::for_each(count, BuildBody<N, true>{build.model, build.from, build.problems, build.metrics});
}
template void build_on_device(std::int64_t, bool, const BuildBody<1>&);
template void build_on_device(std::int64_t, bool, const BuildBody<2>&);
template void build_on_device(std::int64_t, bool, const BuildBody<3>&);
template void build_on_device(std::int64_t, bool, const BuildBody<4>&);
template void build_on_device(std::int64_t, bool, const BuildBody<5>&);
template void build_on_device(std::int64_t, bool, const BuildBody<6>&);
template void build_on_device(std::int64_t, bool, const BuildBody<7>&);
template void build_on_device(std::int64_t, bool, const BuildBody<8>&);

}  // namespace garra::grasp
