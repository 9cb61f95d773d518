// Shared code of the files with instances of launch_balance().
#pragma once

#include "contact/balance.cuh"

namespace garra::contact {

template <int N, int D>
void launch_balance(std::int64_t count, const double* problems, double* answers) {
  cuda::for_each(count, batch::RowsKernel<BalanceOp<N, D>>{{}, problems, answers});
}
template <int N, int D>
std::uint64_t balance_stacks(int device) {
  return cuda::measure_stack<batch::RowsKernel<BalanceOp<N, D>>>(device);
}

}  // namespace garra::contact
