// What a map counts, and where it lies in the flat arrays of a tally: one text for CPU, GPU and summary.
#pragma once

#include <cstdint>

#include "garra/chain_eval.hpp"
#include "garra/singularity_map.hpp"
#include "garra/study/tally.hpp"

namespace garra::singularity {

/// Outcome of a sample.
enum class MapOutcome : int {
  kRegular = 0,  ///< sigma_g > near sigma_1
  kNear,         ///< near a singularity
  kSingular,     ///< sigma_g <= tolerance sigma_1
  kUnreached,    ///< task grid: this start led to no solution
  kInvalid,      ///< unsolved: not finite
};
inline constexpr int kMapOutcomes = 5;
[[nodiscard]] const char* to_string(MapOutcome outcome);

/// Of the second pass, over samples that are near or singular.
enum class NearOutcome : int { kConverged = 0, kDiverged };
inline constexpr int kNearOutcomes = 2;

/// Whose quantiles are asked for.
enum class MapQuantity : int { kSigma = 0, kCondition, kManipulability, kDistance };
inline constexpr int kMapQuantities = 4;

/// Cubes over a box of tool positions, world axes; number x + nx (y + ny z).
struct VoxelGrid {
  Vec3<double> low = Vec3<double>::zero();
  double side = 1;
  int nx = 0, ny = 0, nz = 0;
  static constexpr int kBins = 16;                     ///< of log10 sigma_min, from kLowest to 0 and beyond
  static constexpr double kLowest = -4, kHighest = 0;  ///< outer bins take what lies outside
  static constexpr int kCounts = 2 + kBins;            ///< samples, near ones (singular included), bins
  [[nodiscard]] GARRA_HD int size() const { return nx * ny * nz; }
};

/// Where every count lies. All offsets are into Tally::counts, `least_*` into Tally::least.
struct MapLayout {
  int joints = 0, generic_rank = 6;
  int outcome = 0;                                            ///< [kMapOutcomes]
  study::Histogram log_sigma, log_condition, manipulability;  ///< log10 of sigma_g, of sigma_1 / sigma_g
  int outside = 0;                                            ///< [1] tool points outside of the voxels
  int voxel = 0;                                              ///< [voxels][VoxelGrid::kCounts]
  VoxelGrid voxels;
  int near = 0;                                   ///< [kNearOutcomes]
  int outside_range = 0;                          ///< [1] converged where a joint is outside of its source's range
  int lost = 0;                                   ///< [7] by lost freedoms
  study::Histogram distance;                      ///< to the singularity [rad]
  int dependent_joints = 0;                       ///< [2^joints] by set of responsible joints
  int subset = 0;                                 ///< [2^joints] minimal singular subsets met, by their joints (SSM)
  int subsets = 0;                                ///< [joints + 1] by number of minimal singular intervals (SOSM)
  int escape = 0;                                 ///< [joints][order 1, order 2] by best escape joint
  int no_escape = 0;                              ///< [1] no single joint leads out
  int rechecked = 0, missed = 0, false_near = 0;  ///< [1] each: single precision against double
  int counts = 0;                                 ///< all of them
  /// Behind them while counting: [MapQuantity][study::BucketGrid::kPlaces]. In a tally that is done they are its
  /// buckets.
  [[nodiscard]] GARRA_HD int bucket(MapQuantity of, double x) const {
    return counts + static_cast<int>(of) * study::BucketGrid::kPlaces + study::BucketGrid::place(x);
  }
  [[nodiscard]] int with_buckets() const { return counts + kMapQuantities * study::BucketGrid::kPlaces; }

  int least_sigma = 0;    ///< [voxels] smallest sigma_min
  int least_minus = 0;    ///< [voxels] minus the largest
  int least_example = 0;  ///< [2^joints] smallest number of a sample whose responsible joints are these
  int least_error = 0;    ///< [1] minus the largest error of sigma_g / sigma_1 in single precision
  int least = 0;          ///< all of them
};

/// Numbers of a kept row: sample, outcome, arrival, sigma_g, inverse condition, manipulability, lost, responsible,
/// escape joint (-1: none), order, rate, sign, distance, tool [3], q [j], singular q [j], wrench [6].
// 13 numbers, the tool's 3, two configurations, the wrench's 6.
[[nodiscard]] constexpr std::size_t map_row(int joints) { return 22 + 2 * static_cast<std::size_t>(joints); }

/// A map made ready: generic rank, dimensions of intervals, ranges of the histograms and the voxels' box, from the
/// scenario alone. Holds what the executors need.
struct PreparedMap;  // prepare.hpp

/// How the samples are checked and counted; see make_map().
class MapEngine {
 public:
  explicit MapEngine(const MapScenario& scenario);
  ~MapEngine();
  MapEngine(const MapEngine&) = delete;
  MapEngine& operator=(const MapEngine&) = delete;

  [[nodiscard]] const MapLayout& layout() const;
  /// Samples first ... first + count - 1 on any executor, the same integers on each. Fills counts, least, `worst` (the
  /// ten near samples of smallest sigma_g / sigma_1, key and value that ratio) and kept rows.
  [[nodiscard]] study::Tally run(std::int64_t first, std::int64_t count, const Device& device) const;
  /// Joint values of one sample; empty where a task target was not reached.
  [[nodiscard]] std::vector<double> configuration(std::int64_t sample) const;
  /// Of a task grid: the search for its target again, from this and other starts within the joints' ranges.
  [[nodiscard]] chain::InverseKinematics search(const chain::Robot& robot, std::int64_t sample) const;

 private:
  const PreparedMap* prepared_;
};

/// What a slice shows. All arrays [points, points], y running slower.
struct SliceResult {
  Slice slice;
  Measures measures;
  /// Singular configurations within the slice, found by moving its two joints only, from every grid node that is near
  /// or a local minimum; converged less than two grid steps away. So loci thinner than the grid are seen.
  std::vector<double> locus_x, locus_y;
  std::vector<std::uint32_t> locus_dependent_joints;
  std::vector<int> locus_escape;  ///< best escape joint from 0; -1: none
};
[[nodiscard]] SliceResult evaluate_slice(const MapScenario& scenario, const Slice& slice, const Device& device);

}  // namespace garra::singularity
