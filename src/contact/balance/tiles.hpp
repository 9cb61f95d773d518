// What the files with instances of balance_tiles() have in common.
#pragma once

#include "contact/balance/run.hpp"
#include "garra/batch/for_each.hpp"

namespace garra::contact {

template <int N, int D>
void balance_tiles(Executor executor, std::int64_t count, const double* problems, double* answers) {
  batch::for_each(executor, count, batch::RowsBody<BalanceOp<N, D>>{{}, problems, answers});
}

}  // namespace garra::contact
