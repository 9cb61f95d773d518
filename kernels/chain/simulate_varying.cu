// Simulations of chains of up to six joints, some of which slide or whose numbers are the sample's own.
#include "chain/simulate.cuh"

namespace garra::chain {

void simulate_varying(const SimulateJob& job) { simulate_cuda::simulate_six<Joints::kMixed, true>(job); }
void simulate_varying(const DeviceSimulateJob& job) { simulate_cuda::simulate_six<Joints::kMixed, true>(job); }

}  // namespace garra::chain
