// Spectral projected gradient on the papers' merit function, on the host.
#include "contact/batch/run.hpp"

namespace garra::contact {

void run_spg(const Job& job) {
  SpgMethod solver;
  solver.starts = job.options.starts;
  solve_with(solver, job);
}

}  // namespace garra::contact
