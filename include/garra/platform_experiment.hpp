// Runs the three experiments of the platform paper (docs/theory/platform.md) on six-legged
// platforms, in its 91 coordinates and in the minimal form.
// Takes: an ExperimentScenario: platform and one Experiment (move, stroke or free motion).
// Gives: a Study for study::run that compares both forms.
// Units and frames: SI, rad; base axes; legs count from 0.
// Bad input: an inconsistent scenario throws Error. Failed poses are counted.
// Not for: other studies of platforms (platform_study.hpp).
// Docs: docs/reference/scenario.md (job = "platform_experiment"), docs/theory/platform-dynamics.md.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "garra/core/names.hpp"
#include "garra/platform.hpp"
#include "garra/study/study.hpp"

namespace garra::platform {

/// One experiment.
struct Experiment {
  enum class Kind {
    kMove,        ///< poses from lengths along a straight move with a turn: the paper's figure 2
    kStroke,      ///< poses from lengths while all legs grow together from their shortest: figure 3
    kFreeMotion,  ///< constant actuator forces, from rest: figures 4 and 5
  };
  /// Quantity that a move divides into equal parts. kBoth: one path for each of the two.
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
  std::vector<int> segments;  ///< numbers of segments, one path for each; a pose is the next one's initial guess
  double tolerance = 1e-10;   ///< converged: every |length - given| <= tolerance [m]

  // kFreeMotion
  std::vector<double> force;  ///< [6] of the actuators [N]; empty: force_factor times the forces that hold the start
  double force_factor = 1.2;
  double duration = 0.5;               ///< [s]
  std::vector<double> steps = {1e-3};  ///< of both integrators, shortened to meet the instants [s]; one motion for each
  double correct_above = 1e-9;         ///< constraint error that the hybrid method corrects
  int instants = 51;                   ///< evaluation times, both ends included
};

[[nodiscard]] constexpr auto names_of(Experiment::Kind) { return names("move", "stroke", "free_motion"); }
[[nodiscard]] constexpr auto names_of(Experiment::Parts) { return names("both", "pose", "lengths"); }

/// Scenario of an experiment.
struct ExperimentScenario {
  std::string title;
  std::string model, model_file;  ///< name or file as in the scenario; file that was read
  Platform platform;
  Experiment experiment;
  double max_unsolved = 0;  ///< exit code 4 above this fraction of poses or instants not reached by a form
};

/// Study for study::run (study/engine.hpp). @throws Error for an inconsistent scenario.
[[nodiscard]] std::unique_ptr<study::Study> make_study(const ExperimentScenario& scenario);

}  // namespace garra::platform
