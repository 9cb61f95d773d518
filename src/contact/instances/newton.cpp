// Newton's method with restarts on the host, for batches and for the grasp study.
#include "contact/batch/solve_batch.hpp"
#include "garra/solvers/friction_newton.hpp"

namespace garra::contact {

template void iterate(Executor, const IterateKernel<solvers::FrictionNewton, kAnyContacts>&, std::int64_t);

void run_newton(const MethodCall& call) {
  if (call.options.precision == Precision::kMixed) return run_mixed(call);
  call.by(make_newton<solvers::FrictionNewton>(call.options));
}

}  // namespace garra::contact
