// The iteration in SIMD lanes with refilling. Host only.
#pragma once

#include "garra/batch/refill.hpp"
#include "systems/contact_batch.hpp"

namespace garra::contact {

/// Iterates `count` problems of one block in SIMD lanes; a finished lane takes the next problem.
template <int N>
void iterate_lanes(const IterateBody<N>& body, std::int64_t count) {
  using S = Lanes<double>;
  using Problem = solvers::FrictionProblem<S, N>;
  const auto& solver = body.solver;
  const auto start = [&](std::int64_t i) __attribute__((flatten)) {
    return solver.template start<S, N>(batch::load<S, Problem>(body.problems, i));
  };
  const auto step = [&](auto& state) __attribute__((flatten)) { solver.step(state); };
  const auto running = [&](const auto& state) { return solver.running(state); };
  const auto finish = [&](std::int64_t i, const auto& state, int lane) {
    solvers::Candidate<double, N> found;
    for (int k = 0; k < 3 * N; ++k) found.c[k] = state.unit[lane] * state.c[k][lane];
    found.steps = state.steps[lane];
    batch::store<double>(body.candidates, i, found);
  };
  batch::solve_refilling<double>(count, start, step, running, finish);
}

}  // namespace garra::contact
