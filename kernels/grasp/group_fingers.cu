// Fingers of a group on the GPU, of a step in time and of samples at one instant: a kernel for each size of finger.
#include "grasp/group.cuh"

namespace garra::grasp {

void GroupBackend::run_finger(const GroupMemory& at, bool first, int finger) const {
  with_finger_size(job.run.model.fingers[static_cast<std::size_t>(finger)].size, [&](auto, auto size) {
    run(GroupFingerKernel<size>{there, at, first, finger});
  });
}

void stand_on_device(const GroupTask& task, const GroupParts<Shown>* there, const InstantMemory& at) {
  for (std::size_t f = 0; f < task.model.fingers.size(); ++f)
    with_finger_size(task.model.fingers[f].size, [&](auto joints, auto size) {
      cuda::for_each(task.count, GroupStandKernel<joints, size>{there, at, f});
    });
}

}  // namespace garra::grasp
