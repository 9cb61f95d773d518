// Instances for the fingers of a step on the host: one body per size of finger, for any number of contacts.
#include "grasp/time/host.hpp"

namespace garra::grasp {

void HostBackend::start_fingers(const MotionRules& rules, const MotionTiles& tiles, std::int64_t count) const {
  place_fingers(executor, rules.grasp, tiles.parts, count);
  start_all_fingers(rules, tiles, [&](const auto& body) { for_each(count, body); });
}

void HostBackend::step_fingers(const MotionRules& rules, const MotionTiles& tiles, const StepNow& step,
                               std::int64_t count) const {
  step_all_fingers(rules, &rules, tiles, step, [&](const auto& body) { for_each(count, body); });
}

}  // namespace garra::grasp
