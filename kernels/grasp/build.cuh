// The steps of a grasp study that take the compiler longest, each in a file of its own: fingers, whatever the number of
// contacts, problems, whatever the fingers, and balance.
#pragma once

#include "base/for_each.cuh"
#include "grasp/sample/balance.hpp"

namespace garra::grasp {

/// Every finger of the hand. The model is given where the host and where the device can read it.
void fingers_on_device(std::int64_t count, const GraspModel& host, const GraspModel* device, const SampleParts& parts);

/// What they give to the arm that carries them, where there is one: arm.cu.
void arm_on_device(std::int64_t count, int contacts, const GraspModel* device, const SampleParts& parts);

/// Friction problems and metrics of the samples, whether the model moves or not; compiled once, in build.cu.
template <int N>
void build_on_device(std::int64_t count, bool moving, const BuildBody<N>& build);

/// With and without torque limits, balance_torques.cu and balance.cu.
template <int N, int R>
void balance_on_device(std::int64_t count, const BalanceBody<N, R>& body);

}  // namespace garra::grasp
