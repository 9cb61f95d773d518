#include "contact/bench/mncp_run.hpp"
#include "garra/solve/spectral_projected_gradient.hpp"

namespace garra::cli::mncp_detail {

std::vector<Results> measure_spg(double tol, int starts) {
  return measure_minimizer<solvers::SpectralProjectedGradient>(tol, starts);
}

}  // namespace garra::cli::mncp_detail
