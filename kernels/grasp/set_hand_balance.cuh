// Decides on the GPU whether forces can balance the wrenches of grasps with a known hand: for files
// that compile it.
#pragma once

#include "grasp/set_hand.cuh"

namespace garra::grasp {

template <int N, int D>
void balance_on_device(std::int64_t count, const HandBalanceKernel<N, D>& body) {
  cuda::for_each(count, body);
}
template <int N, int D>
void balance_on_device(std::int64_t count, const HandTorqueKernel<N, D>& body) {
  cuda::for_each(count, body);
}

}  // namespace garra::grasp
