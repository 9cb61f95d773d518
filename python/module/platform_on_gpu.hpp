// Poses of platforms that are on a GPU.
#pragma once

#include "garra/platform_kinematics.hpp"
#include "on_gpu.hpp"

namespace garra::python {

/// The poses of `given`, and where a call on them runs.
struct PosesOnGpu {
  platform::DevicePoses poses;
  GpuPlace place;
};
inline PosesOnGpu poses_on_gpu(const nb::dict& given, std::uintptr_t stream, const nb::callable& allocate) {
  const auto position = nb::cast<OnGpu<const double>>(given["position"]);
  PosesOnGpu there{{static_cast<std::int64_t>(position.shape(0)), make_view<const double>(position)},
                   {position.device_id(), stream, allocate}};
  take<const double>(given, "quaternion", there.poses.quaternion);
  return there;
}

}  // namespace garra::python
