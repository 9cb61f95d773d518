#include "systems/platform_study_run.hpp"

#include "garra/batch/for_each.hpp"
#include "garra/core/error.hpp"

namespace garra::platform {

void run_samples(const StudyInput& input, std::int64_t first, std::int64_t count, const Device& device,
                 StudyResults& results) {
  if (device.executor == Executor::kCuda) {
#if defined(GARRA_WITH_CUDA)
    return cuda_samples(input, first, count, device, results);
#else
    throw Error(ExitCode::kNoDevice, "this build has no CUDA kernels",
                "install the CUDA toolkit (nvcc) and rebuild with the preset `cuda`, or use --device cpu");
#endif
  }
  const StudyBody body{&input.rules,
                       input.points.empty() ? nullptr : input.points.data(),
                       input.places == nullptr ? nullptr : input.places->data(),
                       static_cast<std::uint64_t>(first),
                       results.measured_data(),
                       results.forces_data()};
  batch::for_each(device.executor, count, body);
}

}  // namespace garra::platform
