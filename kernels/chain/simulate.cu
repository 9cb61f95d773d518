// Simulations on the GPU: one thread per sample runs the body of the scalar executor. Chains of up to six turning
// joints that all samples share have kernels of their own, one for each method; all others are padded to sixteen
// joints, with numbers per sample.
#include "chain/simulate.cuh"

namespace garra::chain {

namespace {

template <Integrator kMethod>
void simulate_six_by(const SimulateJob& job) {
  simulate_cuda::simulate_all<SimulateBody<6, Joints::kRevolute, false, kMethod>>(job);
}
/// Up to six turning joints that all samples share.
void simulate_six(const SimulateJob& job) {
  switch (job.options.method) {
    case Integrator::kRk4:
      return simulate_six_by<Integrator::kRk4>(job);
    case Integrator::kDopri5:
      return simulate_six_by<Integrator::kDopri5>(job);
    case Integrator::kImplicit1:
      return simulate_six_by<Integrator::kImplicit1>(job);
    case Integrator::kImplicit2:
      return simulate_six_by<Integrator::kImplicit2>(job);
  }
}

}  // namespace

void run_kernels(const Device&, const SimulateJob& job) {
  if (job.columns.empty() && job.robot.joints <= 6 && all_revolute(setup_of<6>(job).nominal))
    simulate_six(job);
  else
    simulate_large(job);
}

}  // namespace garra::chain

template struct garra::batch::Kernels<garra::chain::SimulateJob>;
