// Instances of step 4 with limits of joint torques; separate bodies keep those without limits small.
#include "contact/batch/lanes.hpp"
#include "grasp/sample/balance.hpp"

namespace garra::grasp {

template <int R>
void balance(Executor executor, const BalanceKernel<kAnyContacts, R>& body, std::int64_t count) {
  contact::with_contacts(executor, [&](auto n) {
    contact::for_each_problem<n>(executor, count,
                                 BalanceKernel<n, R>{body.model, body.from, body.metrics, body.sample_results});
  });
}
template void balance(Executor, const BalanceKernel<kAnyContacts, chain::kMaxJoints>&, std::int64_t);

}  // namespace garra::grasp
