// motion.h5 in the run folder of a grasp study in time: a few trajectories in full; grasp.h5 in that of one at an
// instant: a few samples as pictures (docs/reference/run-folder.md).
#pragma once

#include <string>
#include <vector>

#include "grasp/study/study.hpp"
#include "grasp/time/motion.hpp"

namespace garra::cli {

/// A trajectory with its place in the study.
struct NamedMotion {
  std::string name, title;  ///< group in the file; words for people
  std::string outcome;      ///< what became of it
  double level = 0;         ///< friction of its level; NaN: as the contacts say
  grasp::MotionSeries series;
};

/// The trajectory with every input at its median.
[[nodiscard]] NamedMotion nominal_motion(const grasp::Motion& motion, int instants);
/// One sample again; `what` stands before its number in the title.
[[nodiscard]] NamedMotion motion_of_sample(const grasp::Motion& motion, std::int64_t sample, int instants,
                                           const std::string& what);

/// When it was lost: dropped, stopped by a joint limit, or out of reach from the start [s]; infinite where it was held
/// to the end, NaN where that is not known.
[[nodiscard]] double loss_time(const grasp::Trajectory& trajectory);

/// The same of an instant: grasp.h5 of a study without [time].
[[nodiscard]] NamedMotion nominal_picture(const grasp::Study& study);
/// One sample; `what` stands before its number in the title.
[[nodiscard]] NamedMotion picture_of_sample(const grasp::Study& study, std::int64_t sample, const std::string& what);

/// Whole or not at all. Throws Error(kInputOutput).
void write_motions(const std::string& path, const grasp::Scenario& scenario, const std::vector<NamedMotion>& motions);

}  // namespace garra::cli
