// What is said where there are no kernels.
#include "base/cuda_device.hpp"
#include "garra/batch/on_device.hpp"
#include "garra/core/error.hpp"

namespace garra {

namespace batch {
void refuse_without_kernels() {
  throw Error(ExitCode::kNoDevice, "this build has no CUDA kernels",
              "install the CUDA toolkit (nvcc) and rebuild with the preset `cuda`, or use --device cpu");
}
}  // namespace batch

#if !defined(GARRA_WITH_CUDA)
bool cuda_compiled_in() { return false; }
int cuda_device_count() { return 0; }
std::string cuda_device_name(int) { batch::refuse_without_kernels(); }
std::uint64_t cuda_free_memory(int) { batch::refuse_without_kernels(); }
#endif

}  // namespace garra
