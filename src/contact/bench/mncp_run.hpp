// One minimizer with the three merit functions on every family of the MNCP test set. A file for each minimizer includes
// this, because every pair is compiled for every family.
#pragma once

#include <algorithm>
#include <chrono>
#include <type_traits>
#include <vector>

#include "contact/bench/mncp.hpp"
#include "contact/bench/mncp_rows.hpp"

namespace garra::cli::mncp_detail {

using Results = std::vector<MncpResult>;  ///< of the test set's problems, in its order

/// One pair on one problem, timed by the best of three solves.
template <class Merit, class Minimizer, class P>
MncpResult measure(const solvers::MncpCase<P>& problem, double tol, int starts) {
  solvers::MncpSolver<P, Merit, Minimizer> solver;
  solver.tol = tol;
  solver.starts = starts;
  mncp::Instance<P, double> given{problem.data, {}};
  for (int i = 0; i < solvers::kUnknowns<P>; ++i) given.x[i] = problem.start[static_cast<std::size_t>(i)];
  MncpResult out;
  for (int run = 0; run < 3; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    const auto found = mncp::detail::solve_alone<P, Merit, Minimizer>(solver, given);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    out.seconds = run == 0 ? seconds : std::min(out.seconds, seconds);
    out.status = static_cast<Status>(static_cast<int>(found.status));
    out.error = found.residual;
    out.iterations = static_cast<int>(found.effort.outer);
    out.starts = static_cast<int>(found.effort.stage) + 1;
    out.solution = out.status == Status::kConverged ? solvers::known_solution(problem, found.x.m) : -1;
    out.x.assign(found.x.m, found.x.m + solvers::kUnknowns<P>);
  }
  return out;
}

/// One pair on every problem of the set.
template <class Merit, class Minimizer>
Results measure_all(double tol, int starts) {
  Results out;
  solvers::MncpTestSet::for_each([&]<class P>(std::type_identity<P>) {
    for (const solvers::MncpCase<P>& problem : P::cases())
      out.push_back(measure<Merit, Minimizer>(problem, tol, starts));
  });
  return out;
}

/// The merit functions in the order of mncp.cpp's names.
template <class Minimizer>
std::vector<Results> measure_minimizer(double tol, int starts) {
  return {measure_all<solvers::PapersMerit, Minimizer>(tol, starts),
          measure_all<solvers::ComponentwiseMerit, Minimizer>(tol, starts),
          measure_all<solvers::FischerBurmeisterMerit, Minimizer>(tol, starts)};
}

/// All merit functions with one minimizer, each minimizer in a file of its own.
std::vector<Results> measure_box_quacan(double tol, int starts);
std::vector<Results> measure_spg(double tol, int starts);
std::vector<Results> measure_projected_lm(double tol, int starts);

}  // namespace garra::cli::mncp_detail
