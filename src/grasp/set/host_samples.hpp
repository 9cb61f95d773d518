// The executors of the host for samples of grasps whose hand is known.
#pragma once

#include "garra/batch/for_each.hpp"

namespace garra::grasp {

/// Contacts of soft grasps with code for lanes: they are seldom more. In wheels none, for their size.
#if defined(GARRA_FEW_LANES)
inline constexpr int kMostSoftLanes = 0;
#else
inline constexpr int kMostSoftLanes = 4;
#endif
template <int N, int D>
inline constexpr bool kHasLanes = D == 3 || N <= kMostSoftLanes;

/// batch::for_each(), one after another where there is no code for lanes.
template <int N, int D, class Body>
void for_samples(Executor executor, std::int64_t count, const Body& body) {
  if constexpr (kHasLanes<N, D>)
    batch::for_each(executor, count, body);
  else
    batch::for_each_scalar(count, body);
}

}  // namespace garra::grasp
