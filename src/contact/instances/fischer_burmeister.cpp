// Projected Levenberg-Marquardt on the Fischer-Burmeister function, on the host.
#include "contact/batch/run.hpp"

namespace garra::contact {

void run_fischer_burmeister(const Job& job) {
  FischerBurmeisterMethod solver;
  solver.starts = job.options.starts;
  solve_with(solver, job);
}

}  // namespace garra::contact
