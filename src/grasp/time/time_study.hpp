// A grasp study in time: trajectories of samples, their counts and estimates. SI units. Host only.
// docs/theory/grasp-time.md.
#pragma once

#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "garra/study/engine.hpp"
#include "grasp/time/bands.hpp"
#include "grasp/time/columns.hpp"
#include "grasp/time/motion.hpp"

namespace garra::grasp {

/// Largest values over the decided samples.
enum Audit : int { kEnergy, kMomentum, kGap, kCone, kResidual, kRatio, kAudits };
/// Values recorded for an extreme sample.
enum Remembered : int { kEndTime, kItsDrift, kItsSlip, kRemembered };
/// Rankings of samples: Tally::groups[ranking * kRemembered + value], then for each level its losses by time.
inline constexpr int kLosses = 0, kInHand = 1, kLevelLosses = 2 * kRemembered;

/// Offsets of the counts of one friction level. Times are counted at the first instant at or after them; the last place
/// is for never.
struct TimeLevel {
  int outcome = 0;                       ///< [kMotionEnds]
  int lost = 0, lost_unknown = 0;        ///< [instants + 1]: lost; stopped undecided
  int slipped = 0, slipped_unknown = 0;  ///< [instants + 1]: slipped or lost; stopped undecided before it slipped
  int held_bin = 0, decided_bin = 0;     ///< [input][study::kInputBins]
  int objects_held = 0;  ///< of each object of a group: samples that held it to the end, and that stopped before
  study::Histogram shown[kTimeMetrics];  ///< bins from 0
  TimeBands bands;
};

/// Offsets of all counts and sums.
struct TimeLayout {
  int contacts = 0, inputs = 0, instants = 0;
  int objects = 0;  ///< of a group; else 0
  std::vector<TimeLevel> level;
  std::vector<int> band_instant;  ///< the instants that bands have: all, or evenly spaced ones
  int slipped_first = 0;          ///< [contacts]
  study::Histogram slip[kMaxGroupContacts], force[kMaxGroupContacts];  ///< over all levels
  int counts = 0, buckets = 0;                                         ///< in all; numbers with buckets

  /// Offsets in a block: sum and sum of squares of the numbers with histograms; then the following ones.
  [[nodiscard]] int metric_sum(int of_level, int metric) const { return 2 * (of_level * kTimeMetrics + metric); }
  [[nodiscard]] int slip_sum(int contact) const { return metric_sum(levels(), 0) + 4 * contact; }
  [[nodiscard]] int force_sum(int contact) const { return slip_sum(contact) + 2; }
  [[nodiscard]] int iterations() const { return slip_sum(contacts); }
  [[nodiscard]] int steps() const { return iterations() + 1; }
  [[nodiscard]] int unstable() const { return iterations() + 2; }
  [[nodiscard]] int tracked() const { return iterations() + 3; }  ///< [levels]: in hand, undecided
  [[nodiscard]] int sums() const { return tracked() + 2 * levels(); }
  [[nodiscard]] int levels() const { return static_cast<int>(level.size()); }
};

/// The study's layout. Ranges of bins (upper end, decades below it) follow from the scenario alone:
///   - drift: 1.5 drop, 4 decades; slip path: 4 max(drop, slip), 4 decades; turn: pi, 4 decades;
///   - force: 0.05 to 20 times the larger of squeeze and weight; torque over limit 0 ... 2; margin 0 ... 1.
[[nodiscard]] TimeLayout make_time_layout(const Scenario& scenario);

class GroupMotion;  // grasp/group/motion.hpp

/// Study of one grasp in time: one trajectory per sample.
class TimeStudy final : public study::Study {
 public:
  using Run = std::function<Motions(std::int64_t first, std::int64_t count, const Device& device)>;

  /// Throws Error as Motion does.
  explicit TimeStudy(const Scenario& scenario);
  /// Uses trajectories of another source (tests); has no motion().
  TimeStudy(const Scenario& scenario, Run run);

  [[nodiscard]] const study::Plan& plan() const override { return scenario_.plan; }
  [[nodiscard]] study::Shape shape() const override;
  [[nodiscard]] std::vector<study::RowColumn> columns() const override;
  [[nodiscard]] study::Tally run(std::int64_t first, std::int64_t count, const Device& device) const override;
  [[nodiscard]] std::string gpu_refusal() const override;
  [[nodiscard]] std::string summary(const study::Total& total, const std::string& stopped_by) const override;
  [[nodiscard]] std::span<const study::OutcomeWords> outcome_words() const override;
  /// Number of samples with this end, at all levels.
  [[nodiscard]] std::int64_t ended(const study::Total& total, MotionEnd end) const;
  /// Samples of a ranking, kLosses or kInHand, in its order.
  [[nodiscard]] std::vector<std::int64_t> ranked(const study::Total& total, int ranking) const;
  /// The first lost sample of each level with losses (other than out of reach from the start), level by level.
  [[nodiscard]] std::vector<std::int64_t> first_losses(const study::Total& total) const;

  /// Not of a group.
  [[nodiscard]] const Motion& motion() const { return *motion_; }
  /// As Motion::series() and Motion::nominal().
  [[nodiscard]] MotionSeries series(std::int64_t sample, int instants) const;
  [[nodiscard]] MotionSeries nominal(int instants) const;
  [[nodiscard]] const Scenario& scenario() const { return scenario_; }
  [[nodiscard]] const InTime& time() const { return *scenario_.time; }
  [[nodiscard]] const std::vector<Input>& inputs() const { return inputs_; }
  [[nodiscard]] const TimeLayout& layout() const { return layout_; }

 private:
  Scenario scenario_;
  std::vector<Input> inputs_;
  TimeLayout layout_;
  std::unique_ptr<Motion> motion_;
  std::shared_ptr<const GroupMotion> group_;  ///< in place of motion_
  Run run_;
};

}  // namespace garra::grasp
