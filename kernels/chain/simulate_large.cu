// Simulations of chains of seven to sixteen joints.
#include "chain/simulate.cuh"

namespace garra::chain {

using LargeKernel = SimulateKernel<kMaxJoints, Joints::kMixed, true>;
void simulate_large(const SimulateJob& job) { simulate_cuda::simulate_all<LargeKernel>(job); }
void simulate_large(const DeviceSimulateJob& job) { simulate_cuda::simulate_all<LargeKernel>(job); }

}  // namespace garra::chain
