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

/// Assembly modes of a pose's lengths: the poses of the platform that have them.
struct ModesOnPath {
  int segment = 0;          ///< of the finest path; 0: the start
  std::int64_t modes = 0;   ///< found
  std::int64_t within = 0;  ///< of them, with every joint within its cone and no collision of legs
  double missing = 0;       ///< estimate of those not found
};
inline constexpr int kPosesWithModes = 12;  ///< at most, evenly spread over the finest path
[[nodiscard]] std::vector<ModesOnPath> find_modes(const Platform& platform, const std::vector<double>& lengths);

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

/// A free motion at one step size.
struct SteppedMotion {
  double step = 0;                 ///< [s]
  Trajectories full;               ///< Integrator::kHybrid
  Trajectories uncorrected;        ///< the same without corrections
  Trajectories minimal;            ///< Integrator::kRk4
  std::vector<double> difference;  ///< [instants] of full and minimal poses; NaN where one has not come so far
  /// Of the last pose from that of order 8 with a small step: [m] and of Euler parameters.
  double error_full = 0, error_uncorrected = 0, error_minimal = 0;
  MotionFlops flops;
};

/// kFreeMotion.
struct FreeMotion {
  std::vector<double> force;         ///< [6] [N]
  std::vector<SteppedMotion> steps;  ///< one for each step size
  ForwardFlops flops;                ///< of one evaluation of the accelerations at rest, of which a step has four
};
[[nodiscard]] FreeMotion make_free_motion(const Platform& platform, const Experiment& experiment);

}  // namespace garra::platform
