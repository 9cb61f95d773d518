// BOX-QUACAN on the papers' merit function, on the host.
#include "contact/batch/run.hpp"

namespace garra::contact {

void run_box_quacan(const Job& job) {
  BoxQuacanMethod solver;
  // Merit methods may restart from other starts; the rest starts once.
  solver.starts = job.options.starts;
  solve_with(solver, job);
}

}  // namespace garra::contact
