// Newton's method with restarts on the host, for batches and for the grasp study.
#include "contact/batch/run.hpp"
#include "garra/solvers/friction_newton.hpp"

namespace garra::contact {

template void iterate(Executor, const IterateKernel<solvers::FrictionNewton, kAnyContacts>&, std::int64_t);

void run_newton(const Job& job) {
  if (job.options.precision == Precision::kMixed) return run_mixed(job);
  solve_with(make_newton<solvers::FrictionNewton>(job.options), job);
}

}  // namespace garra::contact
