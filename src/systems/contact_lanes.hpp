// The iteration in SIMD lanes with refilling. Host only.
#pragma once

#include "garra/batch/refill.hpp"
#include "systems/contact_batch.hpp"

namespace garra::contact {

/// Iterates `count` problems of one block in SIMD lanes; a finished lane takes the next problem.
template <class Solver, int N>
void iterate_lanes(const IterateBody<Solver, N>& body, std::int64_t count) {
  using S = Lanes<double>;
  const auto& solver = body.solver;
  const auto start = [&](std::int64_t i) __attribute__((noinline, flatten)) {
    return solver.template start<S, N>(load_problem<S, N>(body.problems, body.sliding, i));
  };
  const auto step = [&](auto& state) __attribute__((flatten)) { solver.step(state); };
  const auto running = [&](const auto& state) { return solver.running(state); };
  const auto finish = [&](std::int64_t i, const auto& state, int lane) __attribute__((noinline, flatten)) {
    batch::store_lane<S>(body.candidates, i, solver.candidate(state), lane);
  };
  batch::solve_refilling<double>(count, start, step, running, finish);
}

}  // namespace garra::contact
