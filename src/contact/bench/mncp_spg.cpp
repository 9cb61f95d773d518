#include "contact/bench/mncp_run.hpp"
#include "garra/solve/spectral_projected_gradient.hpp"

namespace garra::cli::mncp_detail {

std::vector<Results> measure_spg(double tol, int starts) {
  return measure_minimizer<solvers::SpectralProjectedGradient>(tol, starts);
}

}  // namespace garra::cli::mncp_detail

namespace garra::mncp {

Solutions solve_spg(const RowJob& job) { return detail::solve_rows<solvers::SpectralProjectedGradient>(job); }

}  // namespace garra::mncp
