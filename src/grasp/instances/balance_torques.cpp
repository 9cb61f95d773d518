// Step 4 where joint torques have limits: bodies of their own, so that those without stay as small as they are.
#include "garra/batch/for_each.hpp"
#include "grasp/sample/balance.hpp"

namespace garra::grasp {

template <int N, int R>
void balance(Executor executor, const BalanceBody<N, R>& body, std::int64_t count) {
  batch::for_each(executor, count, body);
}
template void balance(Executor, const BalanceBody<1, chain::kMaxJoints>&, std::int64_t);
template void balance(Executor, const BalanceBody<2, chain::kMaxJoints>&, std::int64_t);
template void balance(Executor, const BalanceBody<3, chain::kMaxJoints>&, std::int64_t);
template void balance(Executor, const BalanceBody<4, chain::kMaxJoints>&, std::int64_t);
template void balance(Executor, const BalanceBody<5, chain::kMaxJoints>&, std::int64_t);
template void balance(Executor, const BalanceBody<6, chain::kMaxJoints>&, std::int64_t);
template void balance(Executor, const BalanceBody<7, chain::kMaxJoints>&, std::int64_t);
template void balance(Executor, const BalanceBody<8, chain::kMaxJoints>&, std::int64_t);

}  // namespace garra::grasp
