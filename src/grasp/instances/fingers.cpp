// Instances of steps 1 and 2 of a sample on the host: finger bodies depend on their sizes, not on the number of
// contacts.
#include "garra/batch/for_each.hpp"
#include "grasp/sample/arm.hpp"

namespace garra::grasp {

void place_fingers(Executor executor, const GraspModel& model, const SampleParts& parts, std::int64_t count) {
  for (int j = 0; j < model.contacts; ++j)
    with_finger(model, j, &model, parts, [&](const auto& body) { batch::for_each(executor, count, body); });
  if (parts.arm != nullptr) carry_fingers(executor, model, parts, count);
}

void draw_samples(Executor executor, const DrawKernel& draw, std::int64_t count) {
  batch::for_each(executor, count, draw);
  place_fingers(executor, *draw.model, draw.parts, count);
}

}  // namespace garra::grasp
