#include "garra/solve/friction_admm.hpp"
#include "systems/contact_run.hpp"

namespace garra::contact {

void run_admm(const Job& job) { solve_with(solvers::FrictionAdmm{}, job); }

}  // namespace garra::contact
