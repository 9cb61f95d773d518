// What the host hands to kernels/singularity/*.cu (garra/batch/on_device.hpp): an arm, and one of three works.
#pragma once

#include "garra/batch/rows.hpp"
#include "singularity/map/arm.hpp"

namespace garra::singularity {

/// Arms of J joints and generic rank G.
template <int J, int G>
struct DeviceArm {
  const Arm<J>& arm;
  const Arm<J, float>& single;
  RefineOptions options;
};

/// As MapArm::run(): the same integers as on the host are added to `tally`, which is empty.
struct DeviceRun {
  const MapPlan& plan;
  std::int64_t first, count;
  study::Tally& tally;
};
/// As MapArm::measure_rows() and search_rows(), of batch::Rows or batch::ResidentRows.
template <class Rows>
struct MeasuredRows {
  Precision precision;
  const Rows& rows;
};
template <class Rows>
struct SearchedRows {
  const Rows& rows;
};

}  // namespace garra::singularity
