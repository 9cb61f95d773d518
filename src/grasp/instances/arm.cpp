// Instance of step 2 of a hand on an arm, on the host, after its fingers have been placed.
#include "grasp/sample/arm.hpp"

#include "garra/batch/for_each.hpp"

namespace garra::grasp {

void carry_fingers(Executor executor, const GraspModel& model, const SampleParts& parts, std::int64_t count) {
  for (int j = 0; j < model.contacts; ++j) batch::for_each(executor, count, ArmKernel{&model, j, parts});
  batch::for_each(executor, count, JoinArmKernel{&model, parts});
}

}  // namespace garra::grasp
