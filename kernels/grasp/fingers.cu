// Step 2 of a sample on the GPU, one kernel for each size of finger.
#include "grasp/build.cuh"

namespace garra::grasp {

void fingers_on_device(std::int64_t count, const GraspModel& host, const GraspModel* device, const SampleParts& parts) {
  for (int j = 0; j < host.contacts; ++j)
    // The host's model chooses the finger's size, the device's is what the kernel reads.
    with_finger(host, j, device, parts, [count](const auto& body) { cuda::for_each(count, body); });
  if (parts.arm != nullptr) arm_on_device(count, host.contacts, device, parts);
}

}  // namespace garra::grasp
