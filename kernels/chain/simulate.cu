// Simulations on the GPU: one thread per sample runs the body of the scalar executor. Chains of up to six joints have
// kernels of their own, one for each method: where all turn and all samples share one chain, and for all others. Longer
// chains are padded to sixteen joints. Each in a file of its own, so that they compile side by side.
#include "chain/simulate.cuh"

namespace garra::chain {

namespace {

template <class Job>
void run(const Job& job) {
  const SimulateJob& shared = shared_job(job);
  if (shared.robot.joints > 6 || shared.followers.any) return simulate_large(job);
  if (!shared.columns.empty() || !fits_revolute(make_setup<6>(shared).nominal)) return simulate_varying(job);
  simulate_cuda::simulate_six<Joints::kRevolute, false>(job);
}

}  // namespace

void run_kernels(const Device&, const SimulateJob& job) { run(job); }
void run_kernels(const Device&, const DeviceSimulateJob& job) { run(job); }

}  // namespace garra::chain

template struct garra::batch::Kernels<garra::chain::SimulateJob>;
template struct garra::batch::Kernels<garra::chain::DeviceSimulateJob>;
