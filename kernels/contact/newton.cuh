// Newton's ladder on the GPU, for the files that compile it for their numbers of contacts.
#pragma once

#include "contact/solve.cuh"

namespace garra::contact {

template <int N>
void iterate_on_device(const IterateBody<solvers::FrictionNewton, N>& iterate, std::int64_t count) {
  cuda::for_each(count, iterate);
  // In a kernel of its own: the tail is rare, so it is no part of the hot body.
  if (iterate.solver.goes_on()) rescue_on_device(iterate, count);
}

}  // namespace garra::contact
