// Simulations of chains of any number of joints: on lanes of eight and more, and the scalar executor.
#include "chain/simulate/simulate_chunks.hpp"

namespace garra::chain {

template void simulate_on_lanes<kAnyJoints>(const SimulateJob&);

void simulate_on_scalar(const SimulateJob& job) {
  const JointsInUse all(job.robot.joints);
  simulate_chunks<Executor::kScalar, SimulateKernel<kAnyJoints, Joints::kMixed, true>>(job);
}

}  // namespace garra::chain
