// Results of platforms as dictionaries of arrays, and poses that are on a GPU.
#pragma once

#include "garra/platform_simulate.hpp"
#include "on_gpu.hpp"

namespace garra::python {

/// The arrays of a result of n samples by their names in files, but those that are empty.
template <class Result>
nb::dict to_dict(Result&& r, std::size_t n) {
  nb::dict out;
  platform::each_array(r, [&]<class T>(const char* name, std::vector<T>& values, platform::Axes axes) {
    std::vector<std::size_t> shape{n};
    shape.insert(shape.end(), axes.begin(), axes.end());
    if (!values.empty() || n == 0)
      out[name] = taken_as<std::conditional_t<std::is_enum_v<T>, std::int32_t, T>>(std::move(values), std::move(shape));
  });
  return out;
}

/// Sets an array of a result, if the caller keeps it in `out`. A capsule in `out` can be taken once.
struct TakeResult {
  const nb::dict& out;
  template <class T>
  void operator()(const char* name, DeviceArray<T>& array, platform::Axes) const {
    if (out.contains(name)) take<std::conditional_t<std::is_same_v<T, double>, double, std::int32_t>>(out, name, array);
  }
};

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
