#include "contact/bench/mncp_minimizers.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <type_traits>

#include "contact/bench/any_merit.hpp"
#include "garra/solvers/mncp_problems.hpp"

namespace garra::mncp::detail {

template <class P, class Merit, class Minimizer>
using SharedSolver = SolverOf<P, Merit, OfAnyMerit<Minimizer>>;

/// Out of line, so that 135 of them compile in reasonable time.
template <class P, class Merit, class Minimizer>
[[gnu::noinline]] solvers::MncpSolution<P, double> solve_alone(const SharedSolver<P, Merit, Minimizer>& solver,
                                                               const Instance<P, double>& given) {
  auto state = solver.template start<double>(given.data, given.x);
  while (solver.running(state)) solver.step(state);
  return solvers::certify_mncp<P, double>(given.data, solver.candidate(state), solver.tolerance);
}

/// Calls use(merit, minimizer), both std::type_identity.
template <class Use>
auto with_choice(const Choice& choice, const Use& use) {
  return with_merit(choice.merit, [&](auto merit) {
    return with_minimizer(choice.minimizer, [&](auto minimizer) { return use(merit, minimizer); });
  });
}

/// A solver of one problem of a family for any merit function and minimizer: the code around it is compiled once per
/// family.
template <class P>
using Alone = std::function<solvers::MncpSolution<P, double>(const Instance<P, double>&)>;

/// Solves every row of one family.
template <class P>
Solutions solve_each(const RowJob& job, const Alone<P>& alone) {
  using Given = Instance<P, double>;
  using Found = solvers::MncpSolution<P, double>;
  using Tiles = batch::RowTiles<Given, Found>;
  Solutions out = make_solutions<P>(job.count);
  const batch::Rows rows{job.count, {job.numbers, job.start}, make_columns(out), job.device};
  batch::run_tiles(
      rows, kBlock, [&](std::int64_t most) { return Tiles(rows, most); },
      [&](Tiles& tiles, std::int64_t count) {
        for (std::int64_t i = 0; i < count; ++i) {
          check_interrupt();
          batch::store<double, Found>(tiles.out().data(), i, alone(batch::load<double, Given>(tiles.in().data(), i)));
        }
      });
  return out;
}

}  // namespace garra::mncp::detail

namespace garra::cli {
namespace {

using namespace mncp::detail;

/// Runs one pair on one problem, timed by the best of three solves.
template <class P>
MncpResult measure_case(const solvers::MncpCase<P>& problem, const Alone<P>& alone) {
  mncp::Instance<P, double> given{problem.data, {}};
  for (int i = 0; i < solvers::kUnknowns<P>; ++i) given.x[i] = problem.start[static_cast<std::size_t>(i)];
  MncpResult out;
  for (int run = 0; run < 3; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    const auto found = alone(given);
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

}  // namespace

std::vector<MncpResult> measure_mncp(const mncp::Choice& choice, double tolerance, int starts) {
  std::vector<MncpResult> out;
  with_choice(choice, [&]<class M, class Min>(std::type_identity<M>, std::type_identity<Min>) {
    solvers::MncpTestSet::for_each([&]<class P>(std::type_identity<P>) {
      SharedSolver<P, M, Min> solver;
      solver.tolerance = tolerance;
      solver.starts = starts;
      const Alone<P> alone = [&](const mncp::Instance<P, double>& given) {
        return solve_alone<P, M, Min>(solver, given);
      };
      for (const solvers::MncpCase<P>& problem : P::cases()) out.push_back(measure_case(problem, alone));
    });
  });
  return out;
}

}  // namespace garra::cli

namespace garra::mncp {

Solutions solve_rows(const RowJob& job) {
  using namespace detail;
  Solutions out;
  with_choice(job.choice, [&]<class M, class Min>(std::type_identity<M>, std::type_identity<Min>) {
    int family = 0;
    solvers::MncpTestSet::for_each([&]<class P>(std::type_identity<P>) {
      if (family++ != job.family) return;
      const auto solver = make_solver<P, M, OfAnyMerit<Min>>(job.options);
      out = solve_each<P>(job, [&](const Instance<P, double>& given) { return solve_alone<P, M, Min>(solver, given); });
    });
  });
  return out;
}

}  // namespace garra::mncp
