// A platform study in progress: a path under uncertainty, or a map of the workspace. Host only.
#pragma once

#include <string>
#include <vector>

#include "garra/study/engine.hpp"
#include "platform/study/columns.hpp"
#include "platform/study/platform_samples.hpp"

namespace garra::platform {

/// An uncertain input: one slot, or several that belong together (the coordinates of anchors, a direction).
struct StudyUncertain {
  std::string name, unit, distribution;
  int slot = 0, slots = 1;
};

/// Numbers of a kept row before its metrics: index, outcome, instant, leg, peak_instant, peak_leg, node.
inline constexpr std::size_t kRowHead = 7;

/// Positions of counts, sums and smallest values.
struct StudyLayout {
  int outcome = 0;    ///< [kOutcomes]
  int failed = 0;     ///< [kOutcomes][7]: which leg failed first; 0: none in particular
  int failed_at = 0;  ///< [instants]
  int peak_leg = 0;   ///< [6]
  int peak_at = 0;    ///< [instants]
  study::Histogram metric[kStudyMetrics];
  int feasible_bin = 0, decided_bin = 0;    ///< [slot drawn][study::kInputBins]
  int node_feasible = 0, node_decided = 0;  ///< map: [nodes]
  int counts = 0;                           ///< of all of them
  int force_low = 0, force_high = 0;        ///< in Tally::least: [instants][6], of the force and of minus the force
  int node_sigma = 0, node_force = 0;       ///< map, in Tally::least: [nodes], of sigma and of minus the peak force
  int least = 0;                            ///< of all of them
};

/// Kinematics and forces of one machine at all instants, rows as in PathPoints.
struct StudySeries {
  std::vector<double> time;
  Poses pose;                                                       ///< of the platform's own frame
  std::vector<double> lengths, rates, force, sigma_min, condition;  ///< [t,6], [t]
  std::vector<double> stroke, universal, spherical, clearance;      ///< margins
  std::vector<double> position_error, angle_error;  ///< [t] of a simulation: at the instant, from the path; else empty
};

/// The inputs of the nominal machine: each at its median, without a disturbance of random direction.
[[nodiscard]] Drawn<double> medians(const StudyRules& rules);

/// Replayed sample.
struct StudyReplay {
  StudyMeasured<double> measured;
  std::vector<double> inputs;  ///< of all slots drawn
  StudySeries series;
};

/// Values at the nodes of a map, x running fastest. NaN without a decided sample.
struct MapValues {
  std::vector<double> axis[3];
  std::vector<double> feasible_share, sigma_min, worst_force;
};

/// How far the nominal machine goes along or about each axis of the base through the tool, from a pose, within its
/// limits: shift x, y, z [m], turn about x, y, z [rad].
struct Travel {
  Place<double> from;              ///< of the tool
  double backward[6], forward[6];  ///< both >= 0; NaN: the pose itself breaks a limit
};

class PlatformStudy final : public study::Study {
 public:
  /// Throws Error(kUsage) for an inconsistent path or platform.
  explicit PlatformStudy(const Scenario& scenario);

  [[nodiscard]] const study::Plan& plan() const override { return scenario_.plan; }
  [[nodiscard]] study::Shape shape() const override;
  [[nodiscard]] std::vector<study::RowColumn> columns() const override;
  [[nodiscard]] study::Tally run(std::int64_t first, std::int64_t count, const Device& device) const override;
  [[nodiscard]] std::string summary(const study::Total& total, const std::string& stopped_by) const override;
  [[nodiscard]] std::span<const study::OutcomeWords> outcome_words() const override;
  /// P(feasible).
  [[nodiscard]] study::Estimate estimate(const study::Total& total) const override;

  [[nodiscard]] const Scenario& scenario() const { return scenario_; }
  [[nodiscard]] const StudyLayout& layout() const { return layout_; }
  [[nodiscard]] const std::vector<StudyUncertain>& inputs() const { return inputs_; }
  /// True if nothing is random and all nodes of a map were computed: the fraction is exact and has
  /// no interval.
  [[nodiscard]] bool every_node_is_known(const study::Total& total) const;
  [[nodiscard]] const std::vector<int>& slots() const { return slots_; }
  [[nodiscard]] const StudyRules& rules() const { return rules_; }
  /// Series of the machine with every input at its median.
  [[nodiscard]] StudySeries nominal() const;
  [[nodiscard]] StudyReplay replay(std::int64_t sample) const;
  [[nodiscard]] MapValues map(const study::Total& total) const;
  /// From home, the other axes as there.
  [[nodiscard]] Travel travel_at_home() const;
  /// From the pose whose travel is as long forward as backward along every axis.
  [[nodiscard]] Travel travel_centered() const;
  [[nodiscard]] std::int64_t nodes() const;

 private:
  [[nodiscard]] bool is_map() const { return scenario_.kind == platform::Study::kMap; }
  [[nodiscard]] const TrackRules* track_rules() const { return scenario_.simulation.on ? &track_ : nullptr; }
  void make_simulation();
  [[nodiscard]] bool is_within(const StudyMachine<double>& machine, const Place<double>& tool) const;
  [[nodiscard]] double way(const StudyMachine<double>& machine, const Place<double>& from, int axis, double sign) const;
  [[nodiscard]] Travel travel_from(const StudyMachine<double>& machine, const Place<double>& from) const;
  [[nodiscard]] Place<double> home_of_tool() const;
  [[nodiscard]] Place<double> place_at(std::int64_t sample) const;
  [[nodiscard]] batch::Tiles<Place<double>> places(std::int64_t first, std::int64_t count) const;
  [[nodiscard]] std::vector<PathPoint<double>> points_at(std::int64_t sample) const;
  void evaluate(std::int64_t first, std::int64_t count, const Device& device, StudyResults& results) const;
  void make_layout();
  void count_block(std::int64_t first, std::int64_t count, const StudyResults& results, std::int64_t offset,
                   study::Tally& tally, double* sums) const;
  void count_inputs(std::int64_t sample, bool feasible, study::Tally& tally) const;
  [[nodiscard]] StudySeries make_series(const StudyMachine<double>& machine,
                                        const std::vector<PathPoint<double>>& points) const;

  Scenario scenario_;
  StudyRules rules_;
  std::vector<double> time_;
  std::vector<PathPoint<double>> points_;  ///< of the path; of a simulation at every sampling instant
  TrackRules track_;                       ///< simulation
  std::vector<StudyUncertain> inputs_;
  std::vector<int> slots_;  ///< drawn
  StudyLayout layout_;
};

}  // namespace garra::platform
