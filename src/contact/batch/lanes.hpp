// The iteration on the executors of the host: in SIMD lanes with refilling, or one after another.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "contact/batch/body.hpp"
#include "garra/batch/device.hpp"
#include "garra/batch/for_each.hpp"
#include "garra/batch/refill.hpp"
#include "garra/contact.hpp"
#include "garra/solve/friction_newton.hpp"

namespace garra::contact {

/// Whether lanes fit a thread's stack, which has two states and more while problems start. All do but ADMM's of 32
/// contacts: 6.7 of 8 MB in lanes of eight, and the width must not matter, for a wheel's callers are compiled once.
template <class Solver, int N>
inline constexpr bool kFitsLanes = 8 * sizeof(std::declval<IterateBody<Solver, N>>().template start<double>(0)) <=
                                   (std::size_t{1} << 20);

/// Candidates of `count` problems, with what lies beyond Newton where the solver goes on.
template <class Solver, int N>
[[gnu::noinline]] void iterate(Executor executor, const IterateBody<Solver, N>& body, std::int64_t count) {
  bool in_lanes = executor != Executor::kScalar;
  if constexpr (kFitsLanes<Solver, N>) {
    if (in_lanes) batch::iterate_lanes(body, count);
  } else {
    in_lanes = false;
  }
  if (!in_lanes) batch::for_each_scalar(count, body);
  // A second pass over candidates: the tail is rare, so it is no part of the hot body.
  if constexpr (std::is_same_v<Solver, solvers::FrictionNewton>) {
    if (!body.solver.cold) rescue_unsolved(body, true, count);
  } else {
    rescue_unsolved(without_solver<solvers::FrictionNewton>(body), false, count);
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
extern template void iterate(Executor, const IterateBody<solvers::FrictionNewton, 12>&, std::int64_t);
extern template void iterate(Executor, const IterateBody<solvers::FrictionNewton, 16>&, std::int64_t);
extern template void iterate(Executor, const IterateBody<solvers::FrictionNewton, 24>&, std::int64_t);
extern template void iterate(Executor, const IterateBody<solvers::FrictionNewton, 32>&, std::int64_t);

}  // namespace garra::contact
