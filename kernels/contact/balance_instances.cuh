// Shared code of the files with instances of launch_balance().
#pragma once

#include "contact/balance.cuh"

namespace garra::contact {

template <int N, int D>
void launch_balance(std::int64_t count, const double* problems, double* answers) {
  cuda::for_each(count, batch::RowsBody<BalanceOp<N, D>>{{}, problems, answers});
}
template <int N, int D>
std::uint64_t balance_stacks(int device) {
  return cuda::stacks_of<batch::RowsBody<BalanceOp<N, D>>>(device);
}

}  // namespace garra::contact
