// Newton's ladder on the host, for batches and for the grasp study.
#include "contact/batch/run.hpp"
#include "garra/solve/friction_newton.hpp"

namespace garra::contact {

template void iterate(Executor, const IterateBody<solvers::FrictionNewton, 1>&, std::int64_t);
template void iterate(Executor, const IterateBody<solvers::FrictionNewton, 2>&, std::int64_t);
template void iterate(Executor, const IterateBody<solvers::FrictionNewton, 3>&, std::int64_t);
template void iterate(Executor, const IterateBody<solvers::FrictionNewton, 4>&, std::int64_t);
template void iterate(Executor, const IterateBody<solvers::FrictionNewton, 5>&, std::int64_t);
template void iterate(Executor, const IterateBody<solvers::FrictionNewton, 6>&, std::int64_t);
template void iterate(Executor, const IterateBody<solvers::FrictionNewton, 7>&, std::int64_t);
template void iterate(Executor, const IterateBody<solvers::FrictionNewton, 8>&, std::int64_t);
template void iterate(Executor, const IterateBody<solvers::FrictionNewton, 12>&, std::int64_t);
template void iterate(Executor, const IterateBody<solvers::FrictionNewton, 16>&, std::int64_t);
template void iterate(Executor, const IterateBody<solvers::FrictionNewton, 24>&, std::int64_t);
template void iterate(Executor, const IterateBody<solvers::FrictionNewton, 32>&, std::int64_t);

void run_newton(const Job& job) {
  if (job.options.precision == Precision::kMixed) return run_mixed(job);
  solve_with(newton_of<solvers::FrictionNewton>(job.options), job);
}

}  // namespace garra::contact
