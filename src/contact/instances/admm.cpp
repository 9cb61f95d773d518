// ADMM on the host. Each solver has a file of its own, so that they compile side by side.
#include "contact/batch/run.hpp"
#include "garra/solve/friction_admm.hpp"

namespace garra::contact {

void run_admm(const Job& job) { solve_with(solvers::FrictionAdmm{}, job); }

}  // namespace garra::contact
