// The paper's three experiments on six-legged platforms: the same motion in its 91 coordinates and in the minimal form.
// What `garra run` makes of a scenario with job = "platform_experiment". docs/reference/scenario.md,
// docs/theory/platform-dynamics.md.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "garra/core/names.hpp"
#include "garra/platform.hpp"
#include "garra/study/study.hpp"

namespace garra::platform {

struct Experiment {
  enum class Kind {
    kMove,        ///< poses from lengths along a straight move with a turn: the paper's figure 2
    kStroke,      ///< the same while all legs grow together from their shortest: figure 3
    kFreeMotion,  ///< constant actuator forces, from rest: figures 4 and 5
  };
  /// What a move is cut into equal parts of.
  enum class Parts { kBoth, kPose, kLengths };

  Kind kind = Kind::kMove;
  Place<double> start = {};  ///< kMove, kFreeMotion

  // kMove
  Vec3<double> translation = Vec3<double>::zero();  ///< base axes [m]
  Vec3<double> axis = {{1, 0, 0}};                  ///< of the turn, base axes, unit
  double angle = 0;                                 ///< of the turn [rad]
  Parts parts = Parts::kBoth;

  // kStroke
  double travel = 0;  ///< of every leg [m]

  // kMove, kStroke
  std::vector<int> segments;  ///< a path for each number; every pose is the guess of the next
  double tolerance = 1e-10;   ///< converged: every |length - given| <= tolerance [m]

  // kFreeMotion
  std::vector<double> force;  ///< [6] of the actuators [N]; empty: force_factor times those that hold the start
  double force_factor = 1.2;
  double duration = 0.5;  ///< [s]
  double step = 1e-3;     ///< of both integrators, shortened to meet the instants [s]
  int instants = 51;      ///< looked at, both ends included
};

[[nodiscard]] constexpr auto names_of(Experiment::Kind) { return names("move", "stroke", "free_motion"); }
[[nodiscard]] constexpr auto names_of(Experiment::Parts) { return names("both", "pose", "lengths"); }

struct ExperimentScenario {
  std::string title;
  std::string model, model_file;  ///< as the scenario gives it; the file that it was read from
  Platform platform;
  Experiment experiment;
  double max_unsolved = 0;  ///< exit code 4 above this share of poses or instants that a form has not come to
};

/// The study for study::run (study/engine.hpp). Throws Error where the scenario makes no sense.
[[nodiscard]] std::unique_ptr<study::Study> make_study(const ExperimentScenario& scenario);

}  // namespace garra::platform
