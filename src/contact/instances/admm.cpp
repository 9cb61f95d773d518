// ADMM on the host. Each solver has its own file, so that they compile in parallel.
#include "contact/batch/solve_batch.hpp"
#include "garra/solvers/friction_admm.hpp"

namespace garra::contact {

void run_admm(const MethodCall& call) { call.by(solvers::FrictionAdmm{}); }

}  // namespace garra::contact
