// Integrator::kHybrid on the host; apart, for its lanes compile long.
#include "garra/batch/for_each.hpp"
#include "garra/batch/interrupt.hpp"
#include "platform/simulate/full_run.hpp"
#include "platform/simulate/simulate_job.hpp"

namespace garra::platform {

template <bool kOwn>
void run_full_chunk(const MotionJob& job, const MotionArrays& arrays) {
  batch::for_each(job.device.executor, arrays.count,
                  Interruptible<MotionKernel<FullMotionRun, kOwn>>{{{job.setup, arrays}}});
}
template void run_full_chunk<false>(const MotionJob&, const MotionArrays&);
template void run_full_chunk<true>(const MotionJob&, const MotionArrays&);

}  // namespace garra::platform
