// One sample of a grasp study without [simulation] for a picture: poses of hand and object, and the loads. Host only.
#pragma once

#include <cstdint>

#include "grasp/study/grasp_study.hpp"
#include "grasp/time/motion.hpp"

namespace garra::grasp {

/// A sample as in replay, and as a series of one instant. Quantities that an instant lacks (sliding speed, kinetic
/// energy, balance) are NaN, as are the links of a finger that does not reach its contact; joint torques are left out.
struct SampleAtInstant {
  Replay replay;
  MotionSeries series;
};

/// Sample `sample` of the study.
[[nodiscard]] SampleAtInstant instant(const Study& study, std::int64_t sample);
/// The sample with every input at its median and without random loads.
[[nodiscard]] SampleAtInstant nominal_instant(const Study& study);

}  // namespace garra::grasp
