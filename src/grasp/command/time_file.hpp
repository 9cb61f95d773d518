// Writes motion.h5, a few full trajectories of a grasp study in time, and grasp.h5, a few samples of a study at an
// instant as pictures (docs/reference/run-folder.md).
#pragma once

#include <string>
#include <vector>

#include "grasp/study/grasp_study.hpp"
#include "grasp/time/time_study.hpp"

namespace garra::cli {

/// A trajectory with its identity in the study.
struct NamedMotion {
  std::string name, title;  ///< group in the file; words for people
  std::string outcome;      ///< outcome of the trajectory, in words
  double level = 0;         ///< friction of its level; NaN: as the contacts say
  grasp::MotionSeries series;
};

/// The trajectory with every input at its median.
[[nodiscard]] NamedMotion nominal_motion(const grasp::TimeStudy& study, int instants);
/// Recomputes one sample; `what` precedes its number in the title.
[[nodiscard]] NamedMotion motion_of_sample(const grasp::TimeStudy& study, std::int64_t sample, int instants,
                                           const std::string& what);

/// Time of the loss: dropped, stopped by a joint limit, or out of reach from the start [s]. Infinite if the object was
/// held to the end, NaN if that is unknown.
[[nodiscard]] double loss_time(const grasp::Trajectory& trajectory);

/// The same at an instant: grasp.h5 of a study without [simulation].
[[nodiscard]] NamedMotion nominal_picture(const grasp::Study& study);
/// One sample; `what` precedes its number in the title.
[[nodiscard]] NamedMotion picture_of_sample(const grasp::Study& study, std::int64_t sample, const std::string& what);

/// Writes the file, whole or not at all. Throws Error(kInputOutput).
void write_motions(const std::string& path, const grasp::Scenario& scenario, const std::vector<NamedMotion>& motions);

}  // namespace garra::cli
