// What stands in for kernels that are not there: all of them where the library was built without nvcc, and everywhere
// those for arms of generic rank below 6, which would take as long to compile as all others together.
#include "garra/core/error.hpp"
#include "systems/singularity_map_cuda.hpp"

namespace garra::singularity {

namespace {

[[noreturn]] void refuse([[maybe_unused]] int generic_rank) {
#if defined(GARRA_WITH_CUDA)
  throw Error(
      ExitCode::kNoDevice,
      "maps of arms of generic rank " + std::to_string(generic_rank) + " have no CUDA kernels, only those of rank 6",
      "use --device cpu");
#else
  throw Error(ExitCode::kNoDevice, "this build has no CUDA kernels",
              "install the CUDA toolkit (nvcc) and rebuild with the preset `cuda`, or use --device cpu");
#endif
}

}  // namespace

template <int J, int G>
study::Tally CudaMap<J, G>::run(const MapPlan&, std::int64_t, std::int64_t) const {
  refuse(G);
}
template <int J, int G>
void CudaMap<J, G>::measure(Precision, std::int64_t, const double*, double*) const {
  refuse(G);
}
template <int J, int G>
void CudaMap<J, G>::nearest(std::int64_t, const double*, double*) const {
  refuse(G);
}

template struct CudaMap<6, 3>;
template struct CudaMap<6, 4>;
template struct CudaMap<6, 5>;
#if !defined(GARRA_WITH_CUDA)
template struct CudaMap<6, 6>;
template struct CudaMap<7, 6>;
template struct CudaMap<16, 6>;
#endif

}  // namespace garra::singularity
