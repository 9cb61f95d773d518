// Wrench balance of contacts that share the force limits of pads, compiled for size: few sets have them.
#include "contact/balance/op.hpp"
#include "contact/balance/resistance_rows.hpp"
#include "garra/batch/for_each.hpp"

namespace garra::contact {

template <int D>
void balance_pads(Executor executor, std::int64_t count, const double* problems, double* answers, const int* pad) {
  using Op = BalanceOp<kAnyContacts, D, solvers::kPads>;
  batch::for_each(executor, count, batch::RowsKernel<Op>{{{pad}}, problems, answers});
}
template void balance_pads<3>(Executor, std::int64_t, const double*, double*, const int*);
template void balance_pads<4>(Executor, std::int64_t, const double*, double*, const int*);

}  // namespace garra::contact
