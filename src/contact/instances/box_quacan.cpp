// BOX-QUACAN on the papers' merit function, on the host.
#include "contact/batch/run.hpp"

namespace garra::contact {

void run_box_quacan(const Job& job) {
  BoxQuacanMethod solver;
  // Merit methods may begin anew from other starts; the rest begins once.
  solver.starts = job.options.starts;
  solve_with(solver, job);
}

}  // namespace garra::contact
