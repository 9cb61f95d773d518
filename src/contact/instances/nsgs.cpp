// Nonsmooth Gauss-Seidel on the host.
#include "contact/batch/solve_batch.hpp"
#include "garra/solvers/friction_nsgs.hpp"

namespace garra::contact {

void run_nsgs(const MethodCall& call) { call.by(solvers::FrictionNsgs{}); }

}  // namespace garra::contact
