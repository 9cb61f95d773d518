// Common definition for the files that instantiate balance_tiles().
#pragma once

#include "contact/balance/resistance_rows.hpp"
#include "contact/batch/lanes.hpp"
#include "garra/batch/for_each.hpp"

namespace garra::contact {

template <int D>
void balance_tiles(Executor executor, std::int64_t count, const double* problems, double* answers, const int* pad) {
  if (pad != nullptr) return balance_pads<D>(executor, count, problems, answers, pad);
  dispatch_contacts<D>(executor, [&](auto n) {
    for_each_problem<n>(executor, count, batch::RowsKernel<BalanceOp<n, D>>{{}, problems, answers});
  });
}

}  // namespace garra::contact
