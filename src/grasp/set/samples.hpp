// Every sample of one grasp, with its progress.
#pragma once

#include "garra/grasp_set.hpp"

namespace garra::grasp {

/// samples() of garra/grasp_set.hpp.
/// @param progress receives the number of samples that are done, from time to time; may be empty.
[[nodiscard]] std::vector<double> samples(const GraspSet& set, const SetStudy& study, const SetProgress& progress);

}  // namespace garra::grasp
