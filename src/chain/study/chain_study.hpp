// A chain study in progress: its designs, what is counted, and chunks of samples. Host only.
#pragma once

#include <array>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "chain/study/chain_setup.hpp"
#include "garra/chain_study.hpp"
#include "garra/study/engine.hpp"

namespace garra::chain {

/// Whether a sample did what is asked for: it has settled in time or, where that is not asked for, reached the end.
constexpr bool is_success(StudyOutcome outcome) {
  return outcome == StudyOutcome::kSettled || outcome == StudyOutcome::kCompleted;
}

/// Whether nothing is known of a sample.
constexpr bool is_unsolved(StudyOutcome outcome) {
  return outcome >= StudyOutcome::kNonFinite && outcome != StudyOutcome::kCompleted;
}

/// What is measured of a sample. The joints' own come in groups of `joints`.
struct Measured {
  StudyOutcome outcome;
  double settling, balance, work, dissipated, largest_torque;  ///< [s]; [J]; [J]; [J]; [N m or N]
  std::vector<double> peak_torque, peak_speed;                 ///< [j]
};

/// Where the counts of one design lie, from its first count on, and its sums in a block.
struct DesignLayout {
  int outcome = 0;
  study::Histogram settling, largest_torque, work, dissipated;
  std::vector<study::Histogram> peak_torque, peak_speed;
  /// Visits every histogram with the number of its sums, in the order in which they lie.
  template <class Visit>
  void for_each(const Visit& visit) const {
    int k = 0;
    for (const study::Histogram* h : {&settling, &largest_torque, &work, &dissipated}) visit(*h, k++);
    for (const auto* list : {&peak_torque, &peak_speed})
      for (const study::Histogram& h : *list) visit(h, k++);
  }
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
  /// Of all designs.
  [[nodiscard]] double widest_interval(const study::Total& total) const override;
  [[nodiscard]] std::vector<study::DecisionCounts> decisions(const study::Total& total) const override;

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
  [[nodiscard]] int offset(int design) const { return design * counts_; }
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
  int counts_ = 0;      ///< per design
  int value_sums_ = 0;  ///< per design and block: (sum, sum of squares) of each histogram
  mutable std::once_flag once_;
  mutable std::vector<DesignLayout> layouts_;
};

}  // namespace garra::chain
