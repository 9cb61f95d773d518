// An arm's numbers for the kernels, and what one thread needs to count a map. Host only.
#pragma once

#include <algorithm>
#include <vector>

#include "garra/batch/for_each.hpp"
#include "garra/batch/parallel.hpp"
#include "singularity/map/rows.hpp"

namespace garra::singularity {

template <int J>
[[nodiscard]] Arm<J> make_arm(const chain::Robot& robot, const MeasureOptions& options) {
  chain::JointForm<double> padding{};
  // A joint that does nothing: no length, no angle; the loops of J joints have no case for it.
  padding.cos_alpha = 1;
  Arm<J> arm{};
  arm.joints = robot.joints;
  for (int i = 0; i < J; ++i) {
    const bool real = i < robot.joints;
    const auto at = static_cast<std::size_t>(i);
    arm.model.joint[i] = real ? robot.form[at] : padding;
    // As a slide, padding turns no screw.
    arm.model.prismatic[i] = !real || robot.joint[at].prismatic;
  }
  arm.model.base = robot.base;
  arm.model.tool = robot.tool;
  arm.model.gravity = robot.gravity;
  for (const chain::Coupling& c : robot.coupled) arm.pitch[c.joint] = c.ratio;  // merge_helical()
  arm.helical = !robot.coupled.empty();
  arm.tolerances = arrival_tolerances(options);
  arm.center = static_cast<CenterRule>(options.scaling.center);
  arm.center_joint = options.scaling.joint;
  arm.length = options.scaling.length.value_or(0);
  arm.dims = find_interval_dims<J>([&](const Vec<double, J>& q) { return posture(arm, q).screws; });
  return arm;
}

/// In single precision.
template <int J>
[[nodiscard]] Arm<J, float> to_single(const Arm<J>& arm) {
  Arm<J, float> out{};
  const auto cast_all = [](const auto& from, auto& to) {
    constexpr std::size_t n = sizeof(from) / sizeof(double);
    // Structs of nothing but their scalar: number by number is field by field.
    static_assert(sizeof(to) == n * sizeof(float));
    const auto* a = reinterpret_cast<const double*>(&from);
    auto* b = reinterpret_cast<float*>(&to);
    for (std::size_t k = 0; k < n; ++k) b[k] = static_cast<float>(a[k]);
  };
  for (int j = 0; j < J; ++j) cast_all(arm.model.joint[j], out.model.joint[j]);
  cast_all(arm.model.base, out.model.base);
  cast_all(arm.model.tool, out.model.tool);
  cast_all(arm.model.gravity, out.model.gravity);
  std::copy(arm.model.prismatic, arm.model.prismatic + J, out.model.prismatic);
  out.dims = arm.dims;
  out.tolerances = arm.tolerances;
  out.joints = arm.joints;
  out.center = arm.center;
  out.center_joint = arm.center_joint;
  out.length = static_cast<float>(arm.length);
  out.helical = arm.helical;
  std::transform(arm.pitch, arm.pitch + J, out.pitch, [](double x) { return static_cast<float>(x); });
  return out;
}

namespace map_run {

// A study's block, so that blocks are the same whatever the chunk.
inline constexpr std::int64_t kBlock = study::kBlock;

/// A block of at most `size` configurations on its way through the steps.
template <int J>
struct Workspace {
  explicit Workspace(std::int64_t size)
      : q(size),
        searches(size),
        others(size),
        part(size),
        measured(size),
        exact(size),
        results(size),
        part_results(size) {}
  batch::Tiles<Vec<double, J>> q;
  batch::Tiles<Search<double, J>> searches, others, part;
  batch::Tiles<Measured<double>> measured, exact;
  batch::Tiles<NearSingularity<double, J>> results, part_results;
  std::vector<int> near;    ///< numbers within the block
  std::vector<int> active;  ///< of near ones
};

/// In groups of floats, which are twice as many.
template <class Body>
void for_each_single(Executor executor, std::int64_t count, const Body& body) {
  if constexpr (kLanesPay) {
    if (executor != Executor::kScalar) return batch::lanes_loop(batch::Each<Lanes<float>, Body>{count, body});
  }
  batch::scalar_loop(batch::Each<float, Body>{count, body});
}

/// Copies of the last one up to the end of its tile, so that spare lanes do ordinary arithmetic.
template <class Problem>
void pad(batch::Tiles<Problem>& tiles, std::int64_t count) {
  if (count == 0) return;
  const Problem last = tiles.get(count - 1);
  for (std::int64_t i = count; i % batch::kTile != 0; ++i) tiles.set(i, last);
}

/// Adds to plain arrays of one thread.
struct HostAdder {
  std::int64_t* counts;
  double* smallest;
  void add(int i) const { ++counts[i]; }
  void least(int i, double x) const { smallest[i] = x < smallest[i] ? x : smallest[i]; }
};

}  // namespace map_run

}  // namespace garra::singularity
