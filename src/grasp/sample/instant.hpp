// One sample of a grasp study without [time] as a picture needs it: where hand and object stand and what acts. Host
// only.
#pragma once

#include <cstdint>

#include "grasp/study/study.hpp"
#include "grasp/time/motion.hpp"

namespace garra::grasp {

/// A sample as replay has it, and as a series of one instant. What an instant has not (sliding speed, kinetic energy,
/// balance) is NaN, as are the links of a finger that does not reach its contact; joint torques are left out.
struct SampleAtInstant {
  Replay replay;
  MotionSeries series;
};

/// Sample `sample` of the study.
[[nodiscard]] SampleAtInstant instant(const Study& study, std::int64_t sample);
/// With every input at its median and without random loads.
[[nodiscard]] SampleAtInstant nominal_instant(const Study& study);

}  // namespace garra::grasp
