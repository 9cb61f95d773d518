// The seam to kernels/chain.cu. Without nvcc, src/systems/no_cuda.cpp stands in and says so.
#pragma once

#include <cstdint>
#include <vector>

#include "systems/chain_eval_batch.hpp"

namespace garra::chain {

/// One chain and what is asked of it.
struct CudaChain {
  const Robot& robot;
  const EvalOptions& options;
  const std::vector<Column>& columns;  ///< empty: the numbers are the same for every state
  int device;
};

/// To how many joints a chain is padded on the GPU; `varying`: each state has numbers of its own.
[[nodiscard]] int cuda_padded(const Robot& robot, bool varying);

/// Evaluates the outputs that have an array in `host`, whose arrays are those of an EvalBuffer of cuda_padded() joints.
void cuda_evaluate(const CudaChain& chain, const EvalTiles& host, std::int64_t count);

}  // namespace garra::chain
