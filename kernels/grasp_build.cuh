// The steps of a grasp study that take the compiler longest, each in a file of its own: fingers, whatever the number of
// contacts, and problems, whatever the fingers.
#pragma once

#include "for_each.cuh"
#include "systems/grasp_problem.hpp"

namespace garra::grasp {

/// Every finger of the hand. The model is given where the host and where the device can read it.
void fingers_on_device(std::int64_t count, const GraspModel& host, const GraspModel* device, const SampleParts& parts);

template <int N>
void build_on_device(std::int64_t count, const BuildBody<N>& build);

}  // namespace garra::grasp
