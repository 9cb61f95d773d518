// Instances for samples of grasps with soft contacts and a known hand, on the host.
#include "grasp/set/host_balance.hpp"
#include "grasp/set/host_hand.hpp"

namespace garra::grasp {

void iterate_soft(Executor executor, const HandIterateKernel<kAnyContacts, 4>& body, std::int64_t count) {
  if (executor == Executor::kScalar)
    batch::for_each_scalar(count, body);
  else
    batch::iterate_lanes(body, count);
  if (!body.solver.cold) contact::solve_remaining_soft(body.solver, body.problems, body.candidates, count);
}

solvers::FrictionSolution<double, kAnyContacts, 4> certify_soft(
    const solvers::FrictionProblem<double, kAnyContacts, 4>& problem,
    const solvers::Candidate<double, kAnyContacts, 4>& found, double tolerance) {
  return solvers::certified(problem, found, tolerance);
}

template void run_hand(const HandJob<kAnyContacts, 4>&, const Device&);
template HandReplay replay_hand(const HandJob<kAnyContacts, 4>&, std::int64_t);
template void balance(Executor, const HandBalanceKernel<kAnyContacts, 4>&, std::int64_t);
template void balance(Executor, const HandTorqueKernel<kAnyContacts, 4>&, std::int64_t);
// With kernels for each number of contacts.
template void run_hand(const HandJob<2, 4>&, const Device&);
template void run_hand(const HandJob<4, 4>&, const Device&);
template void run_hand(const HandJob<8, 4>&, const Device&);

}  // namespace garra::grasp
