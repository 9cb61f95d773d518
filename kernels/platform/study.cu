// Samples of a platform study on the GPU: a thread draws a machine and moves it along the path.
// Counting stays on the host.
#include "garra/batch/on_device.cuh"
#include "platform/study/platform_samples.hpp"

namespace garra::platform {

void run_kernels(const Device&, const DeviceSamples& samples) {
  const auto& [input, first, count, results] = samples;
  cuda::Buffer<StudyRules> rules(1);
  rules.upload(&input.rules);
  cuda::Buffer<PathPoint<double>> points(static_cast<std::int64_t>(input.points.size()));
  if (!input.points.empty()) points.upload(input.points.data());
  cuda::Buffer<double> places(input.places == nullptr ? 0 : input.places->doubles());
  if (input.places != nullptr) places.upload(input.places->data());
  cuda::Buffer<double> measured(results.measured_doubles()), forces(results.forces_doubles());
  cuda::Buffer<TrackRules> track(input.track == nullptr ? 0 : 1);
  if (input.track != nullptr) {
    track.upload(input.track);
    cuda::for_each(count, TrackKernel{rules.data(), track.data(), points.data(), static_cast<std::uint64_t>(first),
                                      measured.data(), results.forces_doubles() > 0 ? forces.data() : nullptr});
  } else {
    cuda::for_each(count, StudyKernel{rules.data(), input.points.empty() ? nullptr : points.data(), places.data(),
                                      static_cast<std::uint64_t>(first), measured.data(),
                                      results.forces_doubles() > 0 ? forces.data() : nullptr});
  }
  measured.download(results.measured_data());
  if (results.forces_doubles() > 0) forces.download(results.forces_data());
}

}  // namespace garra::platform

template struct garra::batch::Kernels<garra::platform::DeviceSamples>;
