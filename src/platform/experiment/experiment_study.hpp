// Experiment as a study of `garra run`: its samples are the poses of its paths, or the instants of
// its motion. Nothing is random. Host only.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "garra/study/engine.hpp"
#include "platform/experiment/experiments.hpp"

namespace garra::platform {

/// Computed results of an experiment.
struct ExperimentResults {
  std::vector<PathExperiment> paths;  ///< kMove, kStroke
  std::vector<ModesOnPath> modes;     ///< of the finest path
  FreeMotion motion;                  ///< kFreeMotion
};

/// The finest path as an animation takes it: start and every pose, one row each.
struct ShownPath {
  Poses pose;
  InverseKinematics at;  ///< lengths, margins, conditioning
};

class ExperimentStudy final : public study::Study {
 public:
  /// Throws Error(kInvalidFile) if the experiment cannot start.
  explicit ExperimentStudy(const ExperimentScenario& scenario);

  [[nodiscard]] const study::Plan& plan() const override { return plan_; }
  [[nodiscard]] study::Shape shape() const override;
  [[nodiscard]] std::vector<study::RowColumn> columns() const override;
  /// Runs on one core with any device.
  [[nodiscard]] study::Tally run(std::int64_t first, std::int64_t count, const Device& device) const override;
  [[nodiscard]] std::string summary(const study::Total& total, const std::string& stopped_by) const override;
  /// Fraction solved by both forms. Nothing is random: the interval has no width.
  [[nodiscard]] study::Estimate estimate(const study::Total& total) const override;
  [[nodiscard]] double widest_interval(const study::Total&) const override { return 0; }
  [[nodiscard]] std::vector<study::DecisionCounts> decisions(const study::Total& total) const override;

  [[nodiscard]] const ExperimentScenario& scenario() const { return scenario_; }
  [[nodiscard]] bool is_motion() const { return scenario_.experiment.kind == Experiment::Kind::kFreeMotion; }
  /// Computed when first asked for.
  [[nodiscard]] const ExperimentResults& results() const;
  /// A row of results.h5, in the order of columns().
  [[nodiscard]] std::vector<double> row(std::int64_t sample) const;
  [[nodiscard]] ShownPath shown_path() const;
  /// The motion at the first step size.
  [[nodiscard]] const SteppedMotion& shown_motion() const { return results().motion.steps.front(); }

 private:
  [[nodiscard]] bool solved(std::int64_t sample) const;
  [[nodiscard]] std::vector<double> path_row(std::int64_t sample) const;
  [[nodiscard]] std::vector<double> motion_row(std::int64_t sample) const;

  ExperimentScenario scenario_;
  Poses start_;
  study::Plan plan_;
  mutable std::once_flag once_;
  mutable ExperimentResults results_;  ///< see results()
};

}  // namespace garra::platform
