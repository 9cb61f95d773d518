// The extragradient method on the host.
#include "contact/batch/solve_batch.hpp"
#include "garra/solvers/friction_extragradient.hpp"

namespace garra::contact {

void run_extragradient(const MethodCall& call) { call.by(solvers::FrictionExtragradient{}); }

}  // namespace garra::contact
