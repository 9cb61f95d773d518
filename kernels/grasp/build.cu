// Step 3 of a sample on the GPU: friction problems and metrics.
#include "grasp/build.cuh"

namespace garra::grasp {

template <int N>
void build_on_device(std::int64_t count, bool moving, const BuildKernel<N>& build) {
  if (moving)
    cuda::for_each(count, build);
  else
    cuda::for_each(count, BuildKernel<N, true>{build.model, build.from, build.problems, build.metrics});
}
template void build_on_device(std::int64_t, bool, const BuildKernel<1>&);
template void build_on_device(std::int64_t, bool, const BuildKernel<2>&);
template void build_on_device(std::int64_t, bool, const BuildKernel<3>&);
template void build_on_device(std::int64_t, bool, const BuildKernel<4>&);
template void build_on_device(std::int64_t, bool, const BuildKernel<5>&);
template void build_on_device(std::int64_t, bool, const BuildKernel<6>&);
template void build_on_device(std::int64_t, bool, const BuildKernel<7>&);
template void build_on_device(std::int64_t, bool, const BuildKernel<8>&);

}  // namespace garra::grasp
