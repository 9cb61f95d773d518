#include "contact/bench/mncp_run.hpp"
#include "garra/solve/projected_lm.hpp"

namespace garra::cli::mncp_detail {

std::vector<Results> measure_projected_lm(double tol, int starts) {
  return measure_minimizer<solvers::ProjectedLm>(tol, starts);
}

}  // namespace garra::cli::mncp_detail

namespace garra::mncp {

Solutions solve_projected_lm(const RowJob& job) { return detail::solve_rows<solvers::ProjectedLm>(job); }

}  // namespace garra::mncp
