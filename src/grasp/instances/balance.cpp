// Step 4 of a sample on the host, without limits of joint torques.
#include "grasp/sample/balance.hpp"

#include "garra/batch/for_each.hpp"

namespace garra::grasp {

template <int N, int R>
void balance(Executor executor, const BalanceBody<N, R>& body, std::int64_t count) {
  batch::for_each(executor, count, body);
}
template void balance(Executor, const BalanceBody<1>&, std::int64_t);
template void balance(Executor, const BalanceBody<2>&, std::int64_t);
template void balance(Executor, const BalanceBody<3>&, std::int64_t);
template void balance(Executor, const BalanceBody<4>&, std::int64_t);
template void balance(Executor, const BalanceBody<5>&, std::int64_t);
template void balance(Executor, const BalanceBody<6>&, std::int64_t);
template void balance(Executor, const BalanceBody<7>&, std::int64_t);
template void balance(Executor, const BalanceBody<8>&, std::int64_t);

}  // namespace garra::grasp
