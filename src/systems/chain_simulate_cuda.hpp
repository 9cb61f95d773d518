// The seam to kernels/chain_simulate.cu. Without nvcc, src/systems/no_cuda.cpp stands in and says so.
#pragma once

#include "systems/chain_simulate_job.hpp"

namespace garra::chain {

void cuda_simulate(const SimulateJob& job);

}  // namespace garra::chain
