// Samples of grasps whose hand is known, on the GPU: the steps that are compiled in files of their own.
#pragma once

#include "grasp/build.cuh"
#include "grasp/set/run_hand.hpp"

namespace garra::grasp {

/// Without and with torque limits, both in set_hand_balance.cu.
template <int N>
void balance_on_device(std::int64_t count, const HandBalanceBody<N>& body);
template <int N>
void balance_on_device(std::int64_t count, const HandTorqueBody<N>& body);

}  // namespace garra::grasp
