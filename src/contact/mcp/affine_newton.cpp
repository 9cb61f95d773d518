#include "contact/mcp/affine_problem.hpp"
#include "garra/solvers/mcp/semismooth_newton.hpp"

namespace garra::mcp {

namespace {

template <class Merit>
AffineEnd run(const AffineRow& row, const AffineOptions& options, const double* start) {
  const AffineProblem::Given data{&row};
  const auto solver = mncp::detail::make_solver<AffineProblem, Merit, solvers::SemismoothNewton>(
      {.tolerance = options.tolerance, .max_iterations = options.max_iterations});
  Numbers x;
  std::copy_n(start, row.n, x.m);
  auto state = solver.template start<double>(data, x);
  while (solver.running(state)) solver.step(state);
  const auto found = solver.candidate(state);
  return {{found.x.m, found.x.m + row.n},
          static_cast<Status>(static_cast<int>(found.reason)),
          static_cast<int>(found.effort.outer)};
}

}  // namespace

AffineEnd run_affine_newton(const AffineRow& row, const AffineOptions& options, bool natural, const double* start) {
  const SizesInUse sizes(row.n, 0);
  return natural ? run<solvers::NaturalMerit>(row, options, start)
                 : run<solvers::FischerBurmeisterMerit>(row, options, start);
}

}  // namespace garra::mcp
