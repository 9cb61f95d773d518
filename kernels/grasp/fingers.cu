// Step 2 of a sample on the GPU, one kernel for each size of finger.
#include "grasp/build.cuh"

namespace garra::grasp {

void fingers_on_device(std::int64_t count, const GraspModel& host, const GraspModel* device, const SampleParts& parts) {
  for (int j = 0; j < host.contacts; ++j)
    // The host's model determines the finger's size, the kernel reads the device's.
    with_finger_size(host.finger[j].size, [&](auto joints, auto size) {
      if constexpr (size <= 8)  // above, a thread stores its matrices in memory in either case
        if (!host.moving) return cuda::for_each(count, FingerKernel<joints, size, true>{device, j, parts});
      cuda::for_each(count, FingerKernel<joints, size>{device, j, parts});
    });
  if (parts.arm != nullptr) arm_on_device(count, host.contacts, device, parts);
}

}  // namespace garra::grasp
