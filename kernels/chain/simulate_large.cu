// Simulations of chains that have joints that slide, more than six, or numbers of their own.
#include "chain/simulate.cuh"

namespace garra::chain {

void simulate_large(const SimulateJob& job) {
  simulate_cuda::simulate_all<SimulateBody<kMaxJoints, Joints::kMixed, true>>(job);
}

}  // namespace garra::chain
