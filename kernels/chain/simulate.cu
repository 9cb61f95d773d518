// Simulations on the GPU: one thread per sample runs the body of the scalar executor. Chains of up to six joints have
// kernels of their own, one for each method: where all turn and all samples share one chain, and for all others. Longer
// chains are padded to sixteen joints. Each in a file of its own, so that they compile side by side.
#include "chain/simulate.cuh"

namespace garra::chain {

void run_kernels(const Device&, const SimulateJob& job) {
  if (job.robot.joints > 6) return simulate_large(job);
  if (!job.columns.empty() || !all_revolute(setup_of<6>(job).nominal)) return simulate_varying(job);
  simulate_cuda::simulate_six<Joints::kRevolute, false>(job);
}

}  // namespace garra::chain

template struct garra::batch::Kernels<garra::chain::SimulateJob>;
