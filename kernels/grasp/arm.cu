// Step 2 of a hand on an arm on the GPU, after the placement of its fingers.
#include "grasp/build.cuh"

namespace garra::grasp {

void arm_on_device(std::int64_t count, int contacts, const GraspModel* device, const SampleParts& parts) {
  for (int j = 0; j < contacts; ++j) cuda::for_each(count, ArmKernel{device, j, parts});
  cuda::for_each(count, JoinArmKernel{device, parts});
}

}  // namespace garra::grasp
