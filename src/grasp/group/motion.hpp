// Trajectories of a group of objects (docs/theory/grasp-groups.md, "In time"): the step of docs/theory/grasp-time.md
// with several bodies. Host only.
#pragma once

#include <memory>

#include "grasp/group/model.hpp"
#include "grasp/time/motion.hpp"

namespace garra::grasp {

/// The samples of a group with [simulation].
class GroupMotion {
 public:
  /// Throws Error if the nominal grasp is impossible, or for options that groups do not take.
  explicit GroupMotion(const Scenario& scenario);
  /// Runs samples first ... first + count - 1 on this thread; the solver on the device's executor. The bits do not
  /// depend on executor or block.
  [[nodiscard]] Motions run(std::int64_t first, std::int64_t count, const Device& device) const;
  /// One sample in full, and the one with every input at its median and the nominal friction, as of Motion.
  [[nodiscard]] MotionSeries series(std::int64_t sample, int instants) const;
  [[nodiscard]] MotionSeries nominal(int instants) const;

 private:
  Scenario scenario_;
  std::shared_ptr<const GroupModel> model_;
};

}  // namespace garra::grasp
