// The paper's three experiments, in its 91 coordinates and in the minimal form (docs/platform-dynamics.md).
#pragma once

#include <vector>

#include "garra/platform_simulate.hpp"
#include "systems/platform_flops.hpp"

namespace garra::platform {

/// A path in equal parts; every pose is the guess of the next.
struct PathExperiment {
  int segments = 0;
  bool joint_space = false;  ///< equal parts of the lengths, else of the pose
  std::vector<int> full;     ///< [segments] Newton steps in 91 coordinates
  std::vector<int> minimal;  ///< [segments] in six
  double difference = 0;     ///< largest of the two forms' poses, [m] and of Euler parameters
  bool converged = true;     ///< both forms, everywhere
  ForwardFlops flops;        ///< of the whole path
};

/// Constant forces from the home pose.
struct FreeMotionExperiment {
  std::vector<double> force;  ///< [6] [N]
  double until = 0;           ///< [s]
  Trajectories full;          ///< Integrator::kHybrid
  Trajectories minimal;       ///< Integrator::kRk4, the same step
  double difference = 0;      ///< of the ends' poses
  ForwardFlops flops;         ///< of one evaluation of the accelerations, of which a step has four
};

struct Experiments {
  std::vector<PathExperiment> move;  ///< 400 mm along z with 45 deg about x: 1, 2, 5, 10, 20, 40 segments, both ways
  PathExperiment stroke;             ///< all lengths from leg 1's shortest to its longest, 11 segments
  FreeMotionExperiment free_motion;  ///< 1.2 times the forces at rest, 0.5 s
};

/// One after the other on one core.
[[nodiscard]] Experiments experiments(const Platform& platform);

}  // namespace garra::platform
