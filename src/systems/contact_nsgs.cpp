#include "garra/solve/friction_nsgs.hpp"
#include "systems/contact_run.hpp"

namespace garra::contact {

void run_nsgs(const Job& job) { solve_with(solvers::FrictionNsgs{}, job); }

}  // namespace garra::contact
