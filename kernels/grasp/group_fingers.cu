// Fingers of a group's step on the GPU, one kernel for each size of finger.
#include "grasp/group.cuh"

namespace garra::grasp {

void GroupBackend::run_finger(const GroupMemory& at, bool first, int finger) const {
  with_finger_size(job.run.model.fingers[static_cast<std::size_t>(finger)].size, [&](auto, auto size) {
    run(GroupFingerKernel<size>{there, at, first, finger});
  });
}

}  // namespace garra::grasp
