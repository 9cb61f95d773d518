// A chain study in progress: its designs, what is counted, and chunks of samples. Host only.
#pragma once

#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "chain/study/chain_setup.hpp"
#include "garra/chain_study.hpp"
#include "garra/study/engine.hpp"
#include "study/columns.hpp"

namespace garra::chain {

/// A number measured of every sample, or one of every joint. Each has a histogram per design.
struct MetricRow {
  study::ColumnWords words;       ///< unit of joints that turn
  const char* sliding = nullptr;  ///< unit of joints that slide; null: one number for the arm
  bool hidden = false;            ///< not in summary.json: joints may have different units
};
inline constexpr MetricRow kMetrics[] = {
    {{"settling_time", "s", "Settling time"}},    {{"largest_torque", "", "Largest torque"}, nullptr, true},
    {{"work", "J", "Work of the torques"}},       {{"dissipated", "J", "Dissipated energy"}},
    {{"peak_torque", "N*m", "Peak torque"}, "N"}, {{"peak_speed", "rad/s", "Peak speed"}, "m/s"}};
/// Numbers of the first four in a list of all; those of joints follow.
enum Metric : std::size_t { kSettlingTime, kLargestTorque, kWorkOfTorques, kDissipatedEnergy, kOfJoints };

/// Whether a sample did what is asked for: it has settled in time or, where that is not asked for, reached the end.
constexpr bool is_success(StudyOutcome outcome) {
  return outcome == StudyOutcome::kSettled || outcome == StudyOutcome::kCompleted;
}

/// Whether nothing is known of a sample.
constexpr bool is_unsolved(StudyOutcome outcome) {
  return outcome >= StudyOutcome::kNonFinite && outcome != StudyOutcome::kCompleted;
}

/// What is measured of a sample.
struct Measured {
  StudyOutcome outcome;
  double balance;             ///< [J]
  std::vector<double> value;  ///< in the order of kMetrics
  [[nodiscard]] double settling() const { return value[kSettlingTime]; }
  [[nodiscard]] std::span<const double> of_joints() const { return std::span(value).subspan(kOfJoints); }
};

/// Where the counts of one design lie.
struct DesignLayout {
  int outcome = 0;
  std::vector<study::Histogram> metric;  ///< as Measured::value
};

/// What one design has come to.
struct DesignResult {
  std::int64_t samples = 0, settled = 0, unsolved = 0;  ///< settled: successes; unsolved: not counted as decided
  double probability = 0;                               ///< NaN where no sample is decided
  study::Interval interval;
};

/// One sample again.
struct Replay {
  std::int64_t design = 0, draw = 0;  ///< its design, and which sample of it
  std::vector<double> inputs;         ///< as uncertain_inputs()
  Measured measured;
  Trajectories trajectory;  ///< with outputs, where asked for
};

class Study final : public study::Study {
 public:
  /// Draws nothing yet. Ranges of histograms wait until they are needed (layouts()).
  explicit Study(const Scenario& scenario);

  [[nodiscard]] const study::Plan& plan() const override { return scenario_.plan; }
  [[nodiscard]] study::Shape shape() const override;
  [[nodiscard]] std::vector<study::RowColumn> columns() const override;
  [[nodiscard]] study::Tally run(std::int64_t first, std::int64_t count, const Device& device) const override;
  [[nodiscard]] std::string summary(const study::Total& total, const std::string& stopped_by) const override;
  /// P(settled in time) of the best design so far.
  [[nodiscard]] study::Estimate estimate(const study::Total& total) const override;
  [[nodiscard]] std::span<const study::OutcomeWords> outcome_words() const override;

  [[nodiscard]] const Scenario& scenario() const { return scenario_; }
  [[nodiscard]] const std::vector<Input>& inputs() const { return inputs_; }
  /// One for each design, in their order.
  [[nodiscard]] std::vector<DesignResult> results(const study::Total& total) const;
  /// Of the designs whose intervals reach that of the highest probability, those within 5 % of the smallest median of
  /// the largest peak torque; of these the highest probability, then the shortest median settling time. -1 where no
  /// sample has settled in time.
  [[nodiscard]] int best(const study::Total& total) const;
  /// Sample `sample` of the run; with its design's output times where `outputs`.
  [[nodiscard]] Replay replay(std::int64_t sample, bool outputs) const;
  /// With nominal inputs: all designs up to 64, else 64 evenly spaced ones and `best` (if >= 0).
  [[nodiscard]] NominalTrajectories nominal(int best) const;

 private:
  [[nodiscard]] int designs() const { return static_cast<int>(scenario_.designs.size()); }
  /// Ranges of histograms follow from a few samples of every design; made when they are first needed.
  [[nodiscard]] const std::vector<DesignLayout>& layouts() const;
  /// By simulating some samples of every design on the host.
  [[nodiscard]] std::vector<DesignLayout> make_layouts() const;
  /// Sample i belongs to design i modulo their number.
  [[nodiscard]] const Design& design_of(std::int64_t sample) const;
  [[nodiscard]] Drawn list_inputs(std::int64_t sample) const;
  [[nodiscard]] const Group& sample_group(int design) const;
  [[nodiscard]] std::vector<Measured> measure_samples(std::int64_t first, std::int64_t count,
                                                      const Device& device) const;
  /// The row of results.h5 that columns() describes.
  [[nodiscard]] std::vector<double> row(std::int64_t sample, const Measured& m) const;
  /// Counts one sample; `sums` is that of its block.
  void count(std::int64_t sample, const Measured& m, study::Tally& tally, double* sums) const;

  Scenario scenario_;
  std::vector<Input> inputs_;
  std::vector<Group> groups_;
  int metrics_ = 0;  ///< numbers in Measured::value
  int counts_ = 0;   ///< per design
  mutable std::once_flag once_;
  mutable std::vector<DesignLayout> layouts_;
};

}  // namespace garra::chain
