// A set of grasps as `garra run` takes it. Its samples are the grasps of the set: each is decided by itself, and kept
// with its verdicts, so that a run is cut, stopped and divided among machines like any other. Ranks and differences
// come at the end, out of what is kept. Host only.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "garra/grasp_set_scenario.hpp"
#include "garra/study/engine.hpp"
#include "grasp/set/run.hpp"
#include "grasp/set/source.hpp"
#include "study/scratch.hpp"

namespace garra::grasp {

class GraspSetStudy final : public study::Study {
 public:
  /// Throws Error as rank() does, and (kInvalidFile) where only the best are asked for: that is a race of all grasps.
  GraspSetStudy(SetScenario scenario, std::unique_ptr<const SetSource> set);

  [[nodiscard]] const study::Plan& plan() const override { return scenario_.plan; }
  [[nodiscard]] study::Shape shape() const override;
  [[nodiscard]] std::vector<study::RowColumn> columns() const override;
  /// Grasps, from any one on.
  [[nodiscard]] study::Tally run(std::int64_t first, std::int64_t count, const Device& device) const override;
  [[nodiscard]] std::string summary(const study::Total& total, const std::string& stopped_by) const override;
  /// P(held) of the best grasp.
  [[nodiscard]] study::Estimate estimate(const study::Total& total) const override;
  [[nodiscard]] double widest_interval(const study::Total&) const override { return 1; }
  /// Of all samples of all grasps.
  [[nodiscard]] std::vector<study::Verdicts> verdicts(const study::Total& total) const override;

  /// With all that was not said.
  [[nodiscard]] const SetScenario& scenario() const { return scenario_; }
  [[nodiscard]] Hand hand() const { return checked_.hand(); }

  /// Hears the kept rows of consecutive grasps, in order.
  using Rows = std::function<void(const std::vector<double>& kept)>;
  /// Where the order of the grasps is kept while it is made: so much memory, and beyond that `scratch`.
  struct Aside {
    study::Scratch& scratch;
    std::size_t memory = std::size_t{1} << 26;
  };
  /// The ranking out of the kept rows, a piece at a time: `for_all_rows` goes through all of them, and is asked to
  /// twice. In memory are what it hands over and what `aside` allows. `part` hears the ranking's rows, in order.
  void rank(const std::function<void(const Rows&)>& for_all_rows, const std::function<void(const Ranking&)>& part,
            const Aside& aside) const;

 private:
  SetScenario scenario_;
  std::unique_ptr<const SetSource> source_;
  CheckedSet checked_;
};

}  // namespace garra::grasp
