// A map of singularities as a study: what `garra run` makes of job = "singularity". Host only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "garra/singularity.hpp"
#include "garra/study/engine.hpp"
#include "singularity/map/layout.hpp"

namespace garra::singularity {

/// Joints that are dependent together, and how often.
struct CountedSet {
  std::uint32_t joints = 0;  ///< joint k (from 0) worth 2^k
  std::int64_t count = 0;
  std::int64_t example = -1;  ///< the first sample whose nearest singularity it is; -1: not known
};

/// What lies within each voxel, x running fastest; NaN where it is empty.
struct VoxelValues {
  std::vector<std::int64_t> count, near;
  std::vector<double> sigma_min, sigma_max;
  std::vector<double> sigma_p10, sigma_p50;  ///< interpolated in 16 bins of log10 sigma_min from -4 to 0
};

/// One sample again, with the singularity next to it.
struct MapSample {
  std::int64_t sample = 0;
  MapOutcome outcome = MapOutcome::kInvalid;
  std::vector<double> q;            ///< empty: no joint values were found for its target
  chain::InverseKinematics search;  ///< where q is empty: what searches for the target find from other starts
  Measures measures;                ///< of this one
  NearSingularities nearest;        ///< of this one; nothing where q is empty
  ScrewSet screws;                  ///< at the singularity, where the search has converged
  AnalyzeOptions options;           ///< of the analysis
  std::optional<Analysis> analysis;
};

/// A singularity worth a page.
struct ChosenConfiguration {
  const char* why;              ///< "most frequent" or "worst"
  std::optional<double> share;  ///< of its set of joints, of all that converged
  MapSample sample;
};

/// "random", "even", "grid", "mixed" (grid and draws) or "task"
[[nodiscard]] const char* sampling_kind(const MapScenario& scenario);

class MapStudy final : public study::Study {
 public:
  /// Throws Error(kUsage) for an arm that has no kernel.
  explicit MapStudy(const MapScenario& scenario);

  [[nodiscard]] const study::Plan& plan() const override { return scenario_.plan; }
  [[nodiscard]] study::Shape shape() const override;
  [[nodiscard]] std::vector<study::RowColumn> columns() const override;
  [[nodiscard]] study::Tally run(std::int64_t first, std::int64_t count, const Device& device) const override;
  [[nodiscard]] std::string summary(const study::Total& total, const std::string& stopped_by) const override;
  [[nodiscard]] std::span<const study::OutcomeWords> outcome_words() const override;

  [[nodiscard]] const MapScenario& scenario() const { return scenario_; }
  [[nodiscard]] const MapLayout& layout() const { return engine_.layout(); }

  /// Sets of responsible joints, the most frequent first.
  [[nodiscard]] std::vector<CountedSet> dependent_joints(const study::Total& total) const;
  /// Minimal singular subsets met, the most frequent first.
  [[nodiscard]] std::vector<CountedSet> subsets(const study::Total& total) const;
  [[nodiscard]] VoxelValues voxels(const study::Total& total) const;
  /// Those of the scenario. Where it names none: one, over the two joints that lead out most often, through the
  /// singularity next to the example of the most frequent set of responsible joints.
  [[nodiscard]] std::vector<Slice> slices(const study::Total& total) const;
  /// Of each of the most frequent sets (at most eight) its example; then the three samples of smallest
  /// sigma_g / sigma_1.
  [[nodiscard]] std::vector<ChosenConfiguration> configurations(const study::Total& total) const;
  [[nodiscard]] MapSample sample(std::int64_t sample) const;

 private:
  [[nodiscard]] AnalyzeOptions options_at(const std::vector<double>& q) const;

  MapScenario scenario_;
  MapEngine engine_;
};

/// Joints of a set of bits, from 0.
template <class Json>
[[nodiscard]] Json joints_json(std::uint32_t set) {
  Json list = Json::array();
  for (int j = 0; set >> j != 0; ++j)
    if ((set >> j & 1) != 0) list.push_back(j);
  return list;
}

}  // namespace garra::singularity
