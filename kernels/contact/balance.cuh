// Decides whether forces can balance wrenches that are in tiles on the GPU.
#pragma once

#include "contact/balance/op.hpp"
#include "garra/batch/rows.cuh"

namespace garra::contact {

/// Solves `count` problems in tiles of BalanceOp<N, D>::In; answers go to tiles of Out.
template <int N, int D = 3>
void launch_balance(std::int64_t count, const double* problems, double* answers);
/// cuda::measure_stack() its kernel.
template <int N, int D = 3>
[[nodiscard]] std::uint64_t balance_stacks(int device);

}  // namespace garra::contact
