// Newton's ladder on the GPU, for the files that compile it for their numbers of contacts.
#pragma once

#include "contact/newton_team.cuh"
#include "contact/solve.cuh"

namespace garra::contact {

/// Problems of these have a thread for each row of A; smaller ones fit the registers of one thread, larger ones have
/// more rows than a warp has lanes.
template <int N>
inline constexpr bool kHasTeam = N >= 4 && N <= 8;

template <int N>
void iterate_on_device(const IterateBody<solvers::FrictionNewton, N>& iterate, std::int64_t count) {
  if constexpr (kHasTeam<N>)
    cuda::for_each_team(count, TeamIterateBody<N>{iterate});
  else
    cuda::for_each(count, iterate);
  // In a kernel of its own: the tail is rare, so it is no part of the hot body.
  if (iterate.solver.goes_on()) rescue_on_device(iterate, count);
}

}  // namespace garra::contact
