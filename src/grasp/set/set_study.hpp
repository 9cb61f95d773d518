// A set of grasps as a study for `garra run`. The study's samples are the grasps of the set. Each is decided by itself
// and kept with its bits, so that a run is cut, stopped and divided among machines like any other. Ranks and
// differences are computed at the end, from the kept rows. Host only.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "garra/grasp_set.hpp"
#include "garra/study/engine.hpp"
#include "grasp/set/run_set.hpp"
#include "grasp/set/source.hpp"

namespace garra::grasp {

/// Study of a grasp set: one study sample per grasp.
class GraspSetStudy final : public study::Study {
 public:
  /// Throws Error as rank() does, and (kInvalidFile) if only the best are wanted, which needs all grasps at once.
  GraspSetStudy(SetScenario scenario, std::unique_ptr<const SetSource> set);

  [[nodiscard]] const study::Plan& plan() const override { return scenario_.plan; }
  [[nodiscard]] study::Shape shape() const override;
  [[nodiscard]] std::vector<study::RowColumn> columns() const override;
  /// Decides `count` grasps, from `first` on.
  [[nodiscard]] study::Tally run(std::int64_t first, std::int64_t count, const Device& device) const override;
  [[nodiscard]] std::string summary(const study::Total& total, const std::string& stopped_by) const override;
  /// P(held) of the best grasp.
  [[nodiscard]] study::Estimate estimate(const study::Total& total) const override;
  [[nodiscard]] double widest_interval(const study::Total&) const override { return 1; }
  /// Counts over all samples of all grasps.
  [[nodiscard]] std::vector<study::DecisionCounts> decisions(const study::Total& total) const override;

  /// The scenario with every default filled in.
  [[nodiscard]] const SetScenario& scenario() const { return scenario_; }
  [[nodiscard]] Hand hand() const { return checked_.hand(); }

  /// Receives the kept rows of consecutive grasps, in order.
  using Rows = std::function<void(const std::vector<double>& kept)>;
  /// Computes the ranking from the kept rows, piece by piece. `for_all_rows` visits all of them and is called twice.
  /// Memory holds its current rows and 48 bytes per grasp. `part` receives the ranking's rows, in order.
  void rank(const std::function<void(const Rows&)>& for_all_rows,
            const std::function<void(const Ranking&)>& part) const;

 private:
  SetScenario scenario_;
  std::unique_ptr<const SetSource> source_;
  CheckedSet checked_;
};

}  // namespace garra::grasp
