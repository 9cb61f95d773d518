// Draws and builds the samples of a grasp study on the GPU. A file for each kind of chain: together they are most of the
// compiler's work.
#pragma once

#include "for_each.cuh"
#include "systems/grasp_model.hpp"

namespace garra::grasp {

template <int N, int J>
void build_on_device(std::int64_t count, const BuildBody<N, J>& build);

}  // namespace garra::grasp
