// Fingers of a step on the GPU, one kernel for each size of finger.
#include "grasp/build.cuh"
#include "grasp/motion.cuh"

namespace garra::grasp {

void DeviceBackend::start_fingers(const MotionRules& rules, const MotionTiles& tiles, std::int64_t count) const {
  fingers_on_device(count, rules.grasp, &model->grasp, tiles.parts);
  start_all_fingers(rules, tiles, [&](const auto& body) { for_each(count, body); });
}

void DeviceBackend::step_fingers(const MotionRules& rules, const MotionTiles& tiles, const StepNow& step,
                                 std::int64_t count) const {
  step_all_fingers(rules, model, tiles, step, [&](const auto& body) { for_each(count, body); });
}

}  // namespace garra::grasp
