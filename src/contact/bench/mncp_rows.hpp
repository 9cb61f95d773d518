// Rows of problems of a family that is chosen at run time, by one minimizer. A file for each minimizer includes this,
// because every pair is compiled for every family.
#pragma once

#include <type_traits>

#include "garra/mncp.hpp"
#include "garra/solve/mncp_problems.hpp"

namespace garra::mncp {

struct RowJob {
  int family;
  Merit merit;
  Options options;
  batch::InColumn numbers, start;
  std::int64_t count;
  Device device;
};

[[nodiscard]] Solutions solve_box_quacan(const RowJob& job);
[[nodiscard]] Solutions solve_spg(const RowJob& job);
[[nodiscard]] Solutions solve_projected_lm(const RowJob& job);

namespace detail {

/// Out of line, so that a program with 135 of them compiles in reasonable time.
template <class P, class Merit, class Minimizer>
[[gnu::noinline]] solvers::MncpSolution<P, double> solve_alone(const SolverOf<P, Merit, Minimizer>& solver,
                                                               const Instance<P, double>& given) {
  auto state = solver.template start<double>(given.data, given.x);
  while (solver.running(state)) solver.step(state);
  return solvers::certify_mncp<P, double>(given.data, solver.candidate(state), solver.tol);
}

/// Every row of one family, `alone(instance)` for each.
template <class P, class Alone>
Solutions solve_each(const RowJob& job, const Alone& alone) {
  using Given = Instance<P, double>;
  using Found = solvers::MncpSolution<P, double>;
  using Tiles = batch::RowTiles<Given, Found>;
  Solutions out = make_solutions<P>(job.count);
  const batch::Rows rows{job.count, {job.numbers, job.start}, columns_of(out), job.device};
  batch::run_tiles(
      rows, kBlock, [&](std::int64_t most) { return Tiles(rows, most); },
      [&](Tiles& tiles, std::int64_t count) {
        for (std::int64_t i = 0; i < count; ++i)
          batch::store<double, Found>(tiles.out().data(), i, alone(batch::load<double, Given>(tiles.in().data(), i)));
      });
  return out;
}

template <class Minimizer>
Solutions solve_rows(const RowJob& job) {
  Solutions out;
  int family = 0;
  solvers::MncpTestSet::for_each([&]<class P>(std::type_identity<P>) {
    if (family++ != job.family) return;
    with_merit(job.merit, [&]<class M>(std::type_identity<M>) {
      const auto solver = make_solver<P, M, Minimizer>(job.options);
      out = solve_each<P>(
          job, [&](const Instance<P, double>& given) { return solve_alone<P, M, Minimizer>(solver, given); });
    });
  });
  return out;
}

}  // namespace detail

}  // namespace garra::mncp
