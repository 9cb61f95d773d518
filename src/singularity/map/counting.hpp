// What a map counts of one sample, the same for CPU and GPU. Adder: add(i) adds one to count i, least(i, x) lowers the
// smallest value i to x. Host and device.
#pragma once

#include "singularity/map/map_kernel.hpp"

namespace garra::singularity {

inline constexpr int kRecheckEvery = 16;  ///< blocks: how often single precision is compared with double

/// What counting needs to know beside the layout.
struct CountRules {
  double near = 0, tolerance = 0;
  bool task = false;
  double low[kMapJoints] = {}, high[kMapJoints] = {};  ///< of the joints' sources, a little widened
};

/// Number of the voxel, -1 outside.
GARRA_HD int find_voxel(const VoxelGrid& v, const Vec3<double>& p) {
  const double x = (p[0] - v.low[0]) / v.side, y = (p[1] - v.low[1]) / v.side, z = (p[2] - v.low[2]) / v.side;
  // Compared as doubles before the casts, which are undefined for NaN and beyond int.
  if (!(x >= 0 && y >= 0 && z >= 0 && x < v.nx && y < v.ny && z < v.nz)) return -1;
  return static_cast<int>(x) + v.nx * (static_cast<int>(y) + v.ny * static_cast<int>(z));
}

GARRA_HD MapOutcome classify_outcome(const CountRules& rules, const Measured<double>& m) {
  // On a task grid a sample without joint values is an answer, not an error.
  if (!is_finite(m.inverse_condition)) return rules.task ? MapOutcome::kUnreached : MapOutcome::kInvalid;
  if (m.inverse_condition <= rules.tolerance) return MapOutcome::kSingular;
  return m.inverse_condition <= rules.near ? MapOutcome::kNear : MapOutcome::kRegular;
}
GARRA_HD bool is_near(MapOutcome outcome) { return outcome == MapOutcome::kNear || outcome == MapOutcome::kSingular; }

/// Single precision against double.
template <class Adder>
GARRA_HD void count_recheck(const MapLayout& l, const CountRules& rules, const Measured<double>& single,
                            const Measured<double>& exact, const Adder& to) {
  const bool said = is_near(classify_outcome(rules, single)), is = is_near(classify_outcome(rules, exact));
  to.add(l.rechecked);
  if (is && !said) to.add(l.missed);
  if (said && !is) to.add(l.false_near);
  const double error = abs(single.inverse_condition - exact.inverse_condition);
  if (error == error) to.least(l.least_error, -error);
}

template <class Adder>
GARRA_HD void count_bucket(const MapLayout& l, MapQuantity of, double x, const Adder& to) {
  if (x == x) to.add(l.bucket(of, x));
}

template <class Adder>
GARRA_HD void count_voxel(const MapLayout& l, const Measured<double>& m, bool near, const Adder& to) {
  if (l.voxels.size() == 0) return;
  const int v = find_voxel(l.voxels, m.tool);
  if (v < 0) return to.add(l.outside);
  const int at = l.voxel + v * VoxelGrid::kCounts;
  to.add(at);
  if (near) to.add(at + 1);
  const double bin =
      (m.log_sigma - VoxelGrid::kLowest) * (VoxelGrid::kBins / (VoxelGrid::kHighest - VoxelGrid::kLowest));
  const double last = VoxelGrid::kBins - 1;
  to.add(at + 2 + static_cast<int>(bin > 0 ? (bin < last ? bin : last) : 0.0));
  to.least(l.least_sigma + v, m.sigma);
  to.least(l.least_minus + v, -m.sigma);
}

template <class Adder>
GARRA_HD void count_measured(const MapLayout& l, const Measured<double>& m, MapOutcome outcome, const Adder& to) {
  to.add(l.outcome + static_cast<int>(outcome));
  if (outcome == MapOutcome::kInvalid || outcome == MapOutcome::kUnreached) return;
  to.add(l.log_sigma.place(m.log_sigma));
  to.add(l.log_condition.place(m.log_condition));
  to.add(l.manipulability.place(m.manipulability));
  count_bucket(l, MapQuantity::kSigma, m.sigma, to);
  count_bucket(l, MapQuantity::kCondition, 1 / m.inverse_condition, to);
  count_bucket(l, MapQuantity::kManipulability, m.manipulability, to);
  count_voxel(l, m, is_near(outcome), to);
}

template <int J, class Adder>
GARRA_HD void count_arrival(const MapLayout& l, const CountRules& rules, std::int64_t sample,
                            const NearSingularity<double, J>& n, const Adder& to) {
  const bool converged = n.search_status == 0;
  to.add(l.near + static_cast<int>(converged ? NearOutcome::kConverged : NearOutcome::kDiverged));
  if (!converged) return;
  // A search may leave the ranges that samples are drawn from: singularities beyond them count, and are told apart.
  bool outside = false;
  for (int j = 0; j < l.joints; ++j) outside = outside || n.q[j] < rules.low[j] || n.q[j] > rules.high[j];
  if (outside) to.add(l.outside_range);
  to.add(l.lost + static_cast<int>(n.lost));
  to.add(l.distance.place(n.distance));
  count_bucket(l, MapQuantity::kDistance, n.distance, to);
  const int set = static_cast<int>(n.dependent_joints);
  to.add(l.dependent_joints + set);
  to.least(l.least_example + set, static_cast<double>(sample));
  to.add(l.subsets + static_cast<int>(n.subsets));
  for (int j = 0; j < l.joints; ++j)
    if (n.subset_last[j] >= 0) to.add(l.subset + static_cast<int>(n.subset_joints[j]));
  // Joints count from 0, so -1 is "no joint alone leads out".
  if (n.escape_joint < 0) return to.add(l.no_escape);
  to.add(l.escape + 2 * static_cast<int>(n.escape_joint) + static_cast<int>(n.escape_order) - 1);
}

}  // namespace garra::singularity
