#include "contact/bench/mncp_run.hpp"
#include "garra/solve/box_quacan.hpp"

namespace garra::cli::mncp_detail {

std::vector<Results> measure_box_quacan(double tol, int starts) {
  return measure_minimizer<solvers::BoxQuacan>(tol, starts);
}

}  // namespace garra::cli::mncp_detail

namespace garra::mncp {

Solutions solve_box_quacan(const RowJob& job) { return detail::solve_rows<solvers::BoxQuacan>(job); }

}  // namespace garra::mncp
