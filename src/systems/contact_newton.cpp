#include "garra/solve/friction_newton.hpp"
#include "systems/contact_run.hpp"

namespace garra::contact {

void run_newton(const Job& job) {
  solvers::FrictionNewton solver;
  solver.ladder = job.options.method == Method::kAuto;
  if (!solver.ladder) solver.stage_steps = solver.max_iterations;
  solve_with(solver, job);
}

}  // namespace garra::contact
