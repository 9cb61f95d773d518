#include "platform/study/platform_samples.hpp"

#include "garra/batch/for_each.hpp"
#include "garra/batch/on_device.hpp"

namespace garra::platform {

void run_samples(const StudyInput& input, std::int64_t first, std::int64_t count, const Device& device,
                 StudyResults& results) {
  if (device.executor == Executor::kCuda) return batch::on_device(device, DeviceSamples{input, first, count, results});
  if (input.track != nullptr)
    return batch::for_each(
        device.executor, count,
        TrackKernel{&input.rules, input.track, input.points.data(), static_cast<std::uint64_t>(first),
                    results.measured_data(), results.forces_data()});
  const StudyKernel body{&input.rules,
                         input.points.empty() ? nullptr : input.points.data(),
                         input.places == nullptr ? nullptr : input.places->data(),
                         static_cast<std::uint64_t>(first),
                         results.measured_data(),
                         results.forces_data()};
  batch::for_each(device.executor, count, body);
}

}  // namespace garra::platform
