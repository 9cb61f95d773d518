// Motions in the full form on the GPU: the kernel with the longest assembler time.
#pragma once

#include "base/for_each.cuh"
#include "platform/simulate/full_run.hpp"

namespace garra::platform {

/// Compiled once, in full_simulate.cu. `body` is in the device's memory.
template <bool kOwn>
void full_on_device(std::int64_t count, const MotionKernel<FullMotionRun, kOwn>* body);
/// cuda::measure_stack() its kernel.
template <bool kOwn>
std::uint64_t full_stacks(int device);

}  // namespace garra::platform
