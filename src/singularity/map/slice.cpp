// Pictures: two joints on a grid, and the singular configurations among them.
#include <algorithm>
#include <cmath>

#include "garra/core/error.hpp"
#include "singularity/map/prepare.hpp"

namespace garra::singularity {

namespace {

/// Grid of a slice; node number column + points * row.
struct SliceGrid {
  Slice slice;
  std::int64_t points;

  [[nodiscard]] double step(double low, double high) const {
    return points > 1 ? (high - low) / static_cast<double>(points - 1) : high - low;
  }
  [[nodiscard]] double step_x() const { return step(slice.x_low, slice.x_high); }
  [[nodiscard]] double step_y() const { return step(slice.y_low, slice.y_high); }
  [[nodiscard]] std::vector<double> node(std::int64_t i) const {
    std::vector<double> q = slice.q;
    q[static_cast<std::size_t>(slice.x)] = std::fma(static_cast<double>(i % points), step_x(), slice.x_low);
    q[static_cast<std::size_t>(slice.y)] = std::fma(static_cast<double>(i / points), step_y(), slice.y_low);
    return q;
  }
};

void check_slice(const chain::Robot& robot, const Slice& s) {
  const auto refuse = [](const std::string& problem) { throw Error(ExitCode::kUsage, "slice: " + problem); };
  if (s.x < 0 || s.y < 0 || s.x >= robot.joints || s.y >= robot.joints)
    refuse("the arm has joints 0 to " + std::to_string(robot.joints - 1));
  if (s.x == s.y) refuse("x and y are the same joint, " + std::to_string(s.x));
  if (s.q.size() != static_cast<std::size_t>(robot.joints))
    refuse("q has " + std::to_string(s.q.size()) + " values for " + std::to_string(robot.joints) + " joints");
  if (s.points < 2 || s.points > 4096) refuse("points: must be 2 to 4096");
  if (!(s.x_low < s.x_high && s.y_low < s.y_high)) refuse("a range is empty or reversed");
}

/// No neighbor is nearer to a singularity.
bool is_local_minimum(const std::vector<double>& values, std::int64_t points, std::int64_t i) {
  const std::int64_t column = i % points, row = i / points;
  for (std::int64_t r = std::max<std::int64_t>(row - 1, 0); r <= std::min(row + 1, points - 1); ++r)
    for (std::int64_t c = std::max<std::int64_t>(column - 1, 0); c <= std::min(column + 1, points - 1); ++c)
      // Not below any of them: of equal neighbors each is one, which costs a search more.
      if (values[static_cast<std::size_t>(r * points + c)] < values[static_cast<std::size_t>(i)]) return false;
  return true;
}

/// Nodes that the locus is looked for from.
std::vector<std::int64_t> candidates(const Measures& m, std::int64_t points, double near) {
  std::vector<std::int64_t> out;
  for (std::int64_t i = 0; i < points * points; ++i)
    // Near nodes, and local minima: a locus that passes between nodes of a coarse grid comes near none.
    if (m.inverse_condition[static_cast<std::size_t>(i)] <= near || is_local_minimum(m.inverse_condition, points, i))
      out.push_back(i);
  return out;
}

void find_locus(const MapArm& arm, const SliceGrid& grid, const MeasureOptions& options, const Device& device,
                SliceResult& out) {
  const std::vector<std::int64_t> nodes = candidates(out.measures, grid.points, options.near);
  std::vector<double> q;
  for (const std::int64_t i : nodes) {
    const std::vector<double> at = grid.node(i);
    q.insert(q.end(), at.begin(), at.end());
  }
  RefineOptions search = refine_options(options);
  // Within the picture: other joints stay where the slice holds them.
  search.free = 1u << grid.slice.x | 1u << grid.slice.y;
  NearSingularities found;
  arm.nearest(q, search, device, found);
  const std::size_t joints = grid.slice.q.size(), x = static_cast<std::size_t>(grid.slice.x),
                    y = static_cast<std::size_t>(grid.slice.y);
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    if (found.search_status[k] != SearchStatus::kConverged) continue;
    const double qx = found.singular_q[k * joints + x], qy = found.singular_q[k * joints + y];
    // A search that went further has left what its node stands for; the locus there has nodes of its own.
    if (!(std::abs(qx - q[k * joints + x]) < 2 * grid.step_x() && std::abs(qy - q[k * joints + y]) < 2 * grid.step_y()))
      continue;
    out.locus_x.push_back(qx);
    out.locus_y.push_back(qy);
    out.locus_dependent_joints.push_back(found.dependent_joints[k]);
    out.locus_escape.push_back(found.escape_joint[k]);
  }
}

}  // namespace

SliceResult evaluate_slice(const MapScenario& scenario, const Slice& slice, const Device& device) {
  check_slice(scenario.robot, slice);
  MeasureOptions options = scenario.measure;
  options.precision = Precision::kDouble;  // a picture is small, and its locus is exact
  const auto arm = make_map_arm(scenario.robot, options);
  const SliceGrid grid{slice, slice.points};
  std::vector<double> q;
  q.reserve(static_cast<std::size_t>(grid.points * grid.points) * slice.q.size());
  for (std::int64_t i = 0; i < grid.points * grid.points; ++i) {
    const std::vector<double> node = grid.node(i);
    q.insert(q.end(), node.begin(), node.end());
  }
  SliceResult out;
  out.slice = slice;
  arm->measure(q, Precision::kDouble, device, out.measures);
  find_locus(*arm, grid, options, device, out);
  return out;
}

}  // namespace garra::singularity
