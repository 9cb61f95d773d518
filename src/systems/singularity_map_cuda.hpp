// The seam to kernels/singularity_map_*.cu. Without nvcc, singularity_map_no_cuda.cpp stands in and says so.
#pragma once

#include "systems/singularity_map_arm.hpp"

namespace garra::singularity {

/// Arms of J joints and generic rank G on a GPU. Arrays are tiles, as the bodies take them.
template <int J, int G>
struct CudaMap {
  const Arm<J>& arm;
  const Arm<J, float>& single;
  RefineOptions options;
  int device;

  /// As MapArm::run(): the same integers as on the host.
  [[nodiscard]] study::Tally run(const MapPlan& plan, std::int64_t first, std::int64_t count) const;
  void measure(Precision precision, std::int64_t count, const double* q, double* measured) const;
  void nearest(std::int64_t count, const double* searches, double* results) const;
};

}  // namespace garra::singularity
