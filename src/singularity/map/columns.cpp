// Arrays of the host and of the GPU as columns of rows: what a configuration's measures are and the search from it.
#include "base/room.hpp"
#include "garra/core/error.hpp"
#include "garra/singularity_map.hpp"
#include "singularity/map/arm.hpp"

namespace garra::singularity {

namespace {

/// Fields that nobody wants.
struct Nowhere {};

/// column(array, width) of all fields of Measured, and of a NearSingularity, in their order: arrays of Measures or of
/// DeviceMeasures, of NearSingularities or of DeviceNearSingularities.
template <class Arrays, class Use>
void for_each_measure(Arrays& to, const Use& column) {
  column(to.sigma_min, 1);
  column(to.inverse_condition, 1);
  column(to.manipulability, 1);
  column(Nowhere{}, 2);  // logarithms of the first two
  column(to.tool, 3);
}
template <class Arrays, class Use>
void for_each_finding(const MapArm& arm, Arrays& to, const Use& column) {
  const auto of_joints = [&](auto& array) {
    column(array, arm.joints());
    column(Nowhere{}, arm.padded() - arm.joints());
  };
  column(to.search_status, 1);
  column(to.distance, 1);
  column(to.lost, 1);
  column(to.dependent_joints, 1);
  column(to.subsets, 1);
  column(to.escape_joint, 1);
  column(to.escape_order, 1);
  column(to.escape_rate, 1);
  column(to.escape_sign, 1);
  column(to.wrench, 6);
  of_joints(to.singular_q);
  of_joints(to.subset_last);
  of_joints(to.subset_joints);
}

/// Adds columns for arrays of the host, which get their size.
struct HostColumns {
  batch::Rows& rows;

  template <class T>
  void operator()(std::vector<T>& array, int width) const {
    make_room_for(array, static_cast<std::size_t>(rows.count) * static_cast<std::size_t>(width),
                  solve_threads(rows.device));
    rows.out.push_back(batch::out_column(array, width));
  }
  void operator()(Nowhere, int width) const { rows.out.push_back({nullptr, width}); }
};
struct GpuColumns {
  batch::ResidentRows& rows;

  template <class T>
  void operator()(const DeviceArray<T>& array, int width) const {
    rows.out.push_back(batch::device_column(array, width));
  }
  void operator()(Nowhere, int width) const { rows.out.push_back({nullptr, width}); }
};

batch::Rows make_rows(const MapArm& arm, const std::vector<double>& q, const Device& device) {
  batch::Rows rows;
  rows.count = static_cast<std::int64_t>(q.size()) / arm.joints();
  rows.in = {batch::in_column(q, arm.joints()), {nullptr, arm.padded() - arm.joints()}};
  rows.device = device;
  return rows;
}
batch::ResidentRows make_rows(const MapArm& arm, const DeviceConfigurations& at) {
  if (at.count < 0) throw Error(ExitCode::kUsage, "the number of configurations is negative");
  if (at.q.data == nullptr) throw Error(ExitCode::kUsage, "q is a null pointer");
  batch::ResidentRows rows;
  rows.count = at.count;
  rows.in = {batch::device_column(at.q, arm.joints()), {nullptr, arm.padded() - arm.joints()}};
  return rows;
}

/// Where `needed` is not null nothing runs, and it is set.
void run(const chain::Robot& robot, const DeviceConfigurations& at, const MeasureOptions& options,
         const DeviceMeasures& to, const DeviceCall& call, std::size_t* needed) {
  const auto arm = make_map_arm(robot, options);
  if (at.count == 0) return;
  batch::ResidentRows rows = make_rows(*arm, at);
  for_each_measure(to, GpuColumns{rows});
  rows.call = call;
  rows.needed = needed;
  arm->measure_rows(options.precision, rows);
}
void run(const chain::Robot& robot, const DeviceConfigurations& at, const MeasureOptions& options,
         const DeviceNearSingularities& to, const DeviceCall& call, std::size_t* needed) {
  const auto arm = make_map_arm(robot, options);
  if (at.count == 0) return;
  batch::ResidentRows rows = make_rows(*arm, at);
  for_each_finding(*arm, to, GpuColumns{rows});
  rows.call = call;
  rows.needed = needed;
  arm->search_rows(refine_options(options), rows);
}
template <class To>
std::size_t count_bytes(const chain::Robot& robot, const DeviceConfigurations& at, const MeasureOptions& options,
                        const To& to, int device) {
  std::size_t bytes = 0;
  run(robot, at, options, to, {.device = device}, &bytes);
  return bytes;
}

}  // namespace

void MapArm::measure(const std::vector<double>& q, Precision precision, const Device& device, Measures& out) const {
  batch::Rows rows = make_rows(*this, q, device);
  for_each_measure(out, HostColumns{rows});
  measure_rows(precision, rows);
}
void MapArm::nearest(const std::vector<double>& q, const RefineOptions& options, const Device& device,
                     NearSingularities& out) const {
  batch::Rows rows = make_rows(*this, q, device);
  for_each_finding(*this, out, HostColumns{rows});
  search_rows(options, rows);
}

void measure(const chain::Robot& robot, const DeviceConfigurations& at, const MeasureOptions& options,
             const DeviceMeasures& to, const DeviceCall& call) {
  run(robot, at, options, to, call, nullptr);
}
void nearest_singularities(const chain::Robot& robot, const DeviceConfigurations& at, const MeasureOptions& options,
                           const DeviceNearSingularities& to, const DeviceCall& call) {
  run(robot, at, options, to, call, nullptr);
}
std::size_t workspace_bytes(const chain::Robot& robot, const DeviceConfigurations& at, const MeasureOptions& options,
                            const DeviceMeasures& to, int device) {
  return count_bytes(robot, at, options, to, device);
}
std::size_t workspace_bytes(const chain::Robot& robot, const DeviceConfigurations& at, const MeasureOptions& options,
                            const DeviceNearSingularities& to, int device) {
  return count_bytes(robot, at, options, to, device);
}

}  // namespace garra::singularity
