// What the host hands to kernels/singularity/*.cu (garra/batch/on_device.hpp): an arm, and one of three works.
#pragma once

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
/// Tiles of Vec<double, J> to tiles of Measured.
struct DeviceMeasures {
  Precision precision;
  std::int64_t count;
  const double* q;
  double* measured;
};
/// Tiles of Search to tiles of NearSingularity.
struct DeviceSearches {
  std::int64_t count;
  const double* searches;
  double* results;
};

}  // namespace garra::singularity
