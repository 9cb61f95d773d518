// Simulations of chains of seven to sixteen joints.
#include "chain/simulate.cuh"

namespace garra::chain {

void simulate_large(const SimulateJob& job) {
  simulate_cuda::simulate_all<SimulateBody<kMaxJoints, Joints::kMixed, true>>(job);
}

}  // namespace garra::chain
