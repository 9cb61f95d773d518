// The seam between maps and the arms that they are of: one instance for each number of joints and generic rank.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "garra/batch/resident.hpp"
#include "garra/batch/rows.hpp"
#include "singularity/map/counting.hpp"

namespace garra::singularity {

/// What counts as zero where a search has converged. Its end is exact to rounding where the smallest singular value
/// falls in proportion to the distance, but at double roots, where it falls with the square, only to the root of
/// rounding, 1e-8: ranks and sets are checked well above that.
[[nodiscard]] inline Tolerances arrival_tolerances(const MeasureOptions& options) {
  const double rank = std::max(1e-6, options.tolerance);
  return {rank, 10 * rank, 10 * rank};
}

/// What one run of a map needs, whatever the arm's size.
struct MapPlan {
  MapLayout layout;
  CountRules rules;
  Sampler sampler;
  bool nearest = true, single = false;
  std::int64_t keep_from_first = 0;
};

/// An arm of some number of joints and generic rank, with everything that is done to it in batches.
class MapArm {
 public:
  virtual ~MapArm() = default;
  MapArm(const MapArm&) = delete;
  MapArm& operator=(const MapArm&) = delete;

  /// Joint values of one sample; empty where a target of the task was not reached.
  [[nodiscard]] virtual std::vector<double> configuration(const Sampler& sampler, std::int64_t sample) const = 0;
  /// [n, joints] to sigma_min, inverse condition, manipulability and tool points.
  void measure(const std::vector<double>& q, Precision precision, const Device& device, Measures& out) const;
  /// `options.free`: joints that may move.
  void nearest(const std::vector<double>& q, const RefineOptions& options, const Device& device,
               NearSingularities& out) const;
  /// The same of rows, whose columns are those of Vec<double, J>, J = padded(), and of Measured or NearSingularity.
  virtual void measure_rows(Precision precision, const batch::Rows& rows) const = 0;
  virtual void measure_rows(Precision precision, const batch::ResidentRows& rows) const = 0;
  virtual void search_rows(const RefineOptions& options, const batch::Rows& rows) const = 0;
  virtual void search_rows(const RefineOptions& options, const batch::ResidentRows& rows) const = 0;
  [[nodiscard]] virtual study::Tally run(const MapPlan& plan, std::int64_t first, std::int64_t count,
                                         const Device& device) const = 0;

  [[nodiscard]] int joints() const { return joints_; }
  [[nodiscard]] int padded() const { return padded_; }

 protected:
  MapArm(int joints, int padded) : joints_(joints), padded_(padded) {}

 private:
  int joints_, padded_;
};

/// What the kernels are told of the user's options.
[[nodiscard]] RefineOptions refine_options(const MeasureOptions& options);

/// Dimensions of the arm's generic rank, whatever the number of joints. Host only.
[[nodiscard]] int compute_generic_rank(const chain::Robot& robot);
/// Directions in which the joints that move take the tool point at almost every configuration: 2 on a surface.
[[nodiscard]] int compute_point_rank(const chain::Robot& robot, const std::vector<bool>& moves);

/// Throws Error(kUsage) for options out of range and arms without a kernel.
[[nodiscard]] std::unique_ptr<MapArm> make_map_arm(const chain::Robot& robot, const MeasureOptions& options);

/// Arms of up to J joints (exactly J where J is 6 or 7) and generic rank G, or, where G is kAnyRank, 3 to 5. Each in
/// one of singularity/instances.
template <int J, int G>
[[nodiscard]] std::unique_ptr<MapArm> make_map_arm_of(const chain::Robot& robot, const MeasureOptions& options);

}  // namespace garra::singularity
