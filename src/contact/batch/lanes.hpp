// The iteration on the executors of the host: in SIMD lanes with refilling, or one after another.
#pragma once

#include <type_traits>

#include "contact/batch/body.hpp"
#include "garra/batch/device.hpp"
#include "garra/batch/for_each.hpp"
#include "garra/batch/refill.hpp"
#include "garra/contact.hpp"
#include "garra/solve/friction_newton.hpp"

namespace garra::contact {

/// The ladder beyond Newton on the problems of a block that are still unsolved; compiled once, in
/// contact/instances/rescue.cpp.
template <int N>
void rescue_unsolved(const IterateBody<solvers::FrictionNewton, N>& newton, std::int64_t count);

/// Candidates of `count` problems, with what lies beyond Newton where the solver goes on.
template <class Solver, int N>
[[gnu::noinline]] void iterate(Executor executor, const IterateBody<Solver, N>& body, std::int64_t count) {
  if (executor == Executor::kScalar)
    batch::for_each_scalar(count, body);
  else
    batch::iterate_lanes(body, count);
  if constexpr (std::is_same_v<Solver, solvers::FrictionNewton> && N <= kMaxContacts) {
    // A second pass over candidates: the tail is rare, so it is no part of the hot body.
    if (body.solver.goes_on()) rescue_unsolved(body, count);
  }
}

// The grasp study runs this one, too: it is compiled once, in contact/instances/newton.cpp.
extern template void iterate(Executor, const IterateBody<solvers::FrictionNewton, 1>&, std::int64_t);
extern template void iterate(Executor, const IterateBody<solvers::FrictionNewton, 2>&, std::int64_t);
extern template void iterate(Executor, const IterateBody<solvers::FrictionNewton, 3>&, std::int64_t);
extern template void iterate(Executor, const IterateBody<solvers::FrictionNewton, 4>&, std::int64_t);
extern template void iterate(Executor, const IterateBody<solvers::FrictionNewton, 5>&, std::int64_t);
extern template void iterate(Executor, const IterateBody<solvers::FrictionNewton, 6>&, std::int64_t);
extern template void iterate(Executor, const IterateBody<solvers::FrictionNewton, 7>&, std::int64_t);
extern template void iterate(Executor, const IterateBody<solvers::FrictionNewton, 8>&, std::int64_t);
// Without the ladder beyond Newton, for sets of grasps.
extern template void iterate(Executor, const IterateBody<solvers::FrictionNewton, 16>&, std::int64_t);
extern template void iterate(Executor, const IterateBody<solvers::FrictionNewton, 32>&, std::int64_t);

}  // namespace garra::contact
