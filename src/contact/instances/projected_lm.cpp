// Projected Levenberg-Marquardt on componentwise products, on the host.
#include "contact/batch/run.hpp"

namespace garra::contact {

void run_projected_lm(const Job& job) {
  ProjectedLmMethod solver;
  solver.starts = job.options.starts;
  solve_with(solver, job);
}

}  // namespace garra::contact
