// The singularity next to one configuration: the search of the maps, from many starts.
#include <algorithm>
#include <cmath>

#include "garra/core/error.hpp"
#include "garra/core/philox.hpp"
#include "garra/singularity.hpp"
#include "garra/singularity_map.hpp"
#include "singularity/map/arm.hpp"

namespace garra::singularity {

namespace {

constexpr std::int64_t kStarts = 72;          ///< beside the configuration itself
constexpr int kRounds = 8, kLastRounds = 24;  ///< of all starts, then of the best one
constexpr std::uint64_t kSeed = 1;            // fixed: the same answer in every call

/// A search for the point of the singular set that is nearest to q, from anywhere. If s is singular, and s' is nearest
/// to the point halfway between q and s, then |s' - q| <= |s - q|: so the ends come nearer and nearer.
struct Approach {
  const MapArm& arm;
  const RefineOptions& refine;
  const std::vector<double>& q;
  std::vector<double> unit;  ///< of each joint: 1 rad, or L of a sliding one [m]

  [[nodiscard]] double distance(const double* s) const {
    double squares = 0;
    for (std::size_t j = 0; j < q.size(); ++j) squares += (s[j] - q[j]) / unit[j] * ((s[j] - q[j]) / unit[j]);
    return std::sqrt(squares);
  }

  /// Searches from each row of `at`, moves it halfway between q and its end, and leaves in `best` whatever is nearer.
  void round(std::vector<double>& at, Vicinity& best) const {
    const std::size_t n = q.size();
    NearSingularities found;
    arm.nearest(at, refine, {Executor::kScalar, 1}, found);
    for (std::size_t row = 0; row < found.search_status.size(); ++row) {
      const bool converged = found.search_status[row] == SearchStatus::kConverged;
      const double* s = converged ? found.singular_q.data() + row * n : at.data() + row * n;
      if (converged && (!best.found || distance(s) < best.distance)) copy_row(found, row, best);
      for (std::size_t j = 0; j < n; ++j) at[row * n + j] = 0.5 * (q[j] + s[j]);
    }
  }

 private:
  void copy_row(const NearSingularities& found, std::size_t row, Vicinity& to) const {
    const double* s = found.singular_q.data() + row * q.size();
    to.found = true;
    to.q.assign(s, s + q.size());
    to.distance = distance(s);
    to.dependent_joints.clear();
    for (int j = 0; j < arm.joints(); ++j)
      if ((found.dependent_joints[row] >> j & 1u) != 0) to.dependent_joints.push_back(j);
    to.escape_joint = found.escape_joint[row];
  }
};

/// About q, as far away as the nearest end so far or a part of that. The first and the last joint change no rank.
std::vector<double> starts_about(const Approach& a, double reach) {
  const std::size_t n = a.q.size();
  std::vector<double> starts;
  for (std::int64_t start = 0; start < kStarts; ++start) {
    const auto index = SampleIndex<double>::consecutive(static_cast<std::uint64_t>(start));
    std::vector<double> way(n + 1, 0.0);
    for (std::size_t j = 0; j < n; j += 2)
      uniform_pair<double>(kSeed, index, static_cast<std::uint32_t>(j), way[j], way[j + 1]);
    double squares = 0;
    for (std::size_t j = 0; j < n; ++j) {
      way[j] = n > 2 && (j == 0 || j + 1 == n) ? 0 : 2 * way[j] - 1;
      squares += way[j] * way[j];
    }
    const double far = reach * (0.35 + 0.3 * static_cast<double>(start % 3)) / std::sqrt(squares);
    for (std::size_t j = 0; j < n; ++j) starts.push_back(a.q[j] + far * a.unit[j] * way[j]);
  }
  return starts;
}

}  // namespace

Vicinity vicinity(const chain::Robot& robot, const std::vector<double>& q, const MeasureOptions& options) {
  Vicinity out;
  std::unique_ptr<MapArm> arm;
  try {
    arm = make_map_arm(robot, options);
  } catch (const Error&) {  // no kernel for arms of this rank or number of joints
    return out;
  }
  out.searched = true;
  RefineOptions refine = refine_options(options);
  refine.farthest = 2 * M_PI;  // the nearest one is asked for, however far
  refine.near = 1;             // two freedoms at once are tried everywhere
  Approach approach{*arm, refine, q, {}};
  const double length = natural_scaling(make_screws(robot, q)).length;
  for (const chain::Joint& joint : merge_helical(robot).joint) approach.unit.push_back(joint.prismatic ? length : 1);
  std::vector<double> here = q;
  approach.round(here, out);
  // A configuration that is singular itself needs no other starts.
  if (!out.found || out.distance > options.tolerance) {
    std::vector<double> at = starts_about(approach, out.found ? std::min(out.distance, M_PI) : M_PI);
    for (int round = 0; round < kRounds; ++round) approach.round(at, out);
    for (int round = 0; out.found && round < kLastRounds; ++round) {
      std::vector<double> half = out.q;
      for (std::size_t j = 0; j < q.size(); ++j) half[j] = 0.5 * (q[j] + out.q[j]);
      approach.round(half, out);
    }
  }
  if (out.found) out.type = singularity_type(robot, out.q);
  return out;
}

}  // namespace garra::singularity
