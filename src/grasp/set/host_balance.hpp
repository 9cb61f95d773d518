// Whether forces can balance the wrenches of grasps whose hand is known, on the host: for files that compile it.
#pragma once

#include "grasp/set/hand.hpp"
#include "grasp/set/host_samples.hpp"

namespace garra::grasp {

template <int N, int D>
void balance(Executor executor, const HandBalanceBody<N, D>& body, std::int64_t count) {
  for_samples<N, D>(executor, count, body);
}
template <int N, int D>
void balance(Executor executor, const HandTorqueBody<N, D>& body, std::int64_t count) {
  for_samples<N, D>(executor, count, body);
}

}  // namespace garra::grasp
