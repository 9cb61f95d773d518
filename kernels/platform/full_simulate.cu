// Trajectories of platforms in the full form on the GPU.
#include "platform/full_simulate.cuh"

namespace garra::platform {

template <bool kOwn>
void full_on_device(std::int64_t count, const MotionKernel<FullMotionRun, kOwn>* body) {
  cuda::for_each(count, cuda::Resident<MotionKernel<FullMotionRun, kOwn>>{body});
}
template <bool kOwn>
std::uint64_t full_stacks(int device) {
  return cuda::measure_stack<cuda::Resident<MotionKernel<FullMotionRun, kOwn>>>(device);
}
template void full_on_device(std::int64_t, const MotionKernel<FullMotionRun, false>*);
template void full_on_device(std::int64_t, const MotionKernel<FullMotionRun, true>*);
template std::uint64_t full_stacks<false>(int);
template std::uint64_t full_stacks<true>(int);

}  // namespace garra::platform
