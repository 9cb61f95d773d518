// The steps of a grasp study that compile longest, each in its own file: fingers, for any number of
// contacts; problems, for any fingers; and balance.
#pragma once

#include "base/for_each.cuh"
#include "grasp/sample/balance.hpp"

namespace garra::grasp {

/// Runs every finger of the hand. The model is given in host memory and in device memory.
void fingers_on_device(std::int64_t count, const GraspModel& host, const GraspModel* device, const SampleParts& parts);

/// Adds the fingers' shares to the arm that carries them, if there is one: arm.cu.
void arm_on_device(std::int64_t count, int contacts, const GraspModel* device, const SampleParts& parts);

/// Builds friction problems and metrics of the samples, whether the model moves or not; compiled
/// once, in build.cu.
template <int N>
void build_on_device(std::int64_t count, bool moving, const BuildKernel<N>& build);

/// Balance with and without torque limits, balance_torques.cu and balance.cu.
template <int N, int R>
void balance_on_device(std::int64_t count, const BalanceKernel<N, R>& body);

}  // namespace garra::grasp
