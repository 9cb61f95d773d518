// Wrench balance of grasps with a known hand, on the host: templates for the files that compile it.
#pragma once

#include "contact/batch/lanes.hpp"
#include "grasp/set/hand.hpp"

namespace garra::grasp {

template <int D>
void balance(Executor executor, const HandBalanceKernel<kAnyContacts, D>& body, std::int64_t count) {
  contact::dispatch_contacts<D>(executor, [&](auto n) {
    contact::for_each_problem<n>(executor, count,
                                 HandBalanceKernel<n, D, kAnyContacts>{body.grasps, body.hands, body.samples, body.at});
  });
}
template <int D>
void balance(Executor executor, const HandTorqueKernel<kAnyContacts, D>& body, std::int64_t count) {
  contact::dispatch_contacts<D>(executor, [&](auto n) {
    const HandBalanceKernel<n, D, kAnyContacts> of{body.of.grasps, body.of.hands, body.of.samples, body.of.at};
    contact::for_each_problem<n>(executor, count, HandTorqueKernel<n, D, kAnyContacts>{of, body.joints});
  });
}

}  // namespace garra::grasp
