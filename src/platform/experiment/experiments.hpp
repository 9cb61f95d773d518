// The paper's three experiments, in its 91 coordinates and in the minimal form (docs/reference/platform-study.md).
#pragma once

#include <vector>

#include "garra/platform_experiment.hpp"
#include "garra/platform_kinematics.hpp"
#include "garra/platform_simulate.hpp"
#include "platform/experiment/flops.hpp"

namespace garra::platform {

/// Results of one form at the poses of a path.
struct FormOnPath {
  std::vector<PoseStatus> status;  ///< [segments]
  std::vector<int> iterations;     ///< [segments] Newton steps
};

/// A path in equal parts; every pose is the guess of the next.
struct PathExperiment {
  bool equal_lengths = false;  ///< equal parts of the lengths, else of the pose
  FormOnPath full, minimal;
  std::vector<double> difference;   ///< [segments] largest of the two forms' poses, [m] and of Euler parameters
  std::vector<ForwardFlops> flops;  ///< [segments]
  std::vector<double> lengths;      ///< [segments,6] [m]
  Poses pose;                       ///< [segments] of the minimal form

  [[nodiscard]] int segments() const { return static_cast<int>(difference.size()); }
  [[nodiscard]] bool solved(int segment) const;  ///< both forms have converged
};

/// kMove, kStroke: a path for each number of segments, first in parts of the pose, then of the lengths. All start at
/// `start`. One after the other on one core.
[[nodiscard]] std::vector<PathExperiment> make_path_experiments(const Platform& platform, const Experiment& experiment,
                                                                const Poses& start);

/// Initial pose of the experiment: Experiment::start; for kStroke the pose with all legs at their
/// shortest, next to home. Throws Error(kInvalidFile) if no pose is found.
[[nodiscard]] Poses make_start(const Platform& platform, const Experiment& experiment);

/// kFreeMotion.
struct FreeMotion {
  std::vector<double> force;       ///< [6] [N]
  Trajectories full;               ///< Integrator::kHybrid
  Trajectories minimal;            ///< Integrator::kRk4, the same step
  std::vector<double> difference;  ///< [instants] of the two forms' poses; NaN where one has not come so far
  ForwardFlops flops;              ///< of one evaluation of the accelerations, of which a step has four
};
inline constexpr int kEvaluationsPerStep = 4;
[[nodiscard]] FreeMotion make_free_motion(const Platform& platform, const Experiment& experiment);

}  // namespace garra::platform
