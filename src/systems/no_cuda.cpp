// What stands in for the kernels where the library was built without nvcc.
#if !defined(GARRA_WITH_CUDA)
#include "garra/core/error.hpp"
#include "systems/chain_cuda.hpp"
#include "systems/chain_simulate_cuda.hpp"
#include "systems/contact_cuda.hpp"
#include "systems/cuda_device.hpp"
#include "systems/grasp_analyse.hpp"
#include "systems/grasp_cuda.hpp"
#include "systems/grasp_motion_run.hpp"
#include "systems/lcp_cuda.hpp"

namespace garra {

namespace {
[[noreturn]] void refuse() {
  throw Error(ExitCode::kNoDevice, "this build has no CUDA kernels",
              "install the CUDA toolkit (nvcc) and rebuild with the preset `cuda`, or use --device cpu");
}
}  // namespace

bool cuda_compiled_in() { return false; }
int cuda_device_count() { return 0; }
std::string cuda_device_name(int) { refuse(); }
std::uint64_t cuda_free_memory(int) { refuse(); }

namespace chain {
int cuda_padded(const Robot&, bool) { refuse(); }
void cuda_evaluate(const CudaChain&, const EvalTiles&, std::int64_t) { refuse(); }
void cuda_simulate(const SimulateJob&) { refuse(); }
}  // namespace chain

namespace contact {
void cuda_solve(const solvers::FrictionNewton&, const CudaJob&, const TileArrays&) { refuse(); }
void cuda_solve(const solvers::FrictionNsgs&, const CudaJob&, const TileArrays&) { refuse(); }
void cuda_solve(const solvers::FrictionAdmm&, const CudaJob&, const TileArrays&) { refuse(); }
void cuda_solve(const solvers::FrictionExtragradient&, const CudaJob&, const TileArrays&) { refuse(); }
void cuda_solve(const BoxQuacanMethod&, const CudaJob&, const TileArrays&) { refuse(); }
void cuda_solve(const SpgMethod&, const CudaJob&, const TileArrays&) { refuse(); }
void cuda_solve(const ProjectedLmMethod&, const CudaJob&, const TileArrays&) { refuse(); }
void cuda_solve(const FischerBurmeisterMethod&, const CudaJob&, const TileArrays&) { refuse(); }
}  // namespace contact

namespace lcp {
void cuda_solve(const solvers::Lemke&, int, const CudaTiles&) { refuse(); }
}  // namespace lcp

namespace grasp {
void cuda_samples(const GraspModel&, const solvers::FrictionNewton&, bool, int, const SampleTiles&) { refuse(); }
std::uint64_t cuda_bytes_per_sample(const GraspModel&) { refuse(); }
void cuda_analyse(const AnalysisJob&, const Device&) { refuse(); }
void cuda_motion(const MotionModel&, std::int64_t, std::int64_t, const Device&, Motions&) { refuse(); }
}  // namespace grasp

}  // namespace garra
#endif
