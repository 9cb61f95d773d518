// The fallback solvers beyond Newton for problems of soft contacts, on the CPU.
#include "contact/batch/fallback.hpp"
#include "garra/batch/interrupt.hpp"

namespace garra::contact {

void solve_remaining_soft(const solvers::FrictionNewton& solver, const double* problems, double* candidates,
                          std::int64_t count) {
  using Problem = solvers::FrictionProblem<double, kAnyContacts, 4>;
  using Candidate = solvers::Candidate<double, kAnyContacts, 4>;
  solvers::FrictionFallback options = make_fallback(solver, solver.goes_on());
  options.between = check_interrupt;
  for (std::int64_t i = 0; i < count; ++i) {
    auto best = batch::load<double, Candidate>(candidates, i);
    if (best.reason != static_cast<double>(static_cast<int>(Status::kIterationLimit))) continue;
    check_interrupt();
    const auto given = batch::load<double, Problem>(problems, i);
    if (!(solvers::friction_problem_detail::defects(given) == 0)) continue;
    Problem problem, aside;
    solve_bodies<kAnyContacts, 4>(
        options, [&](int r, int k) { return given.A(r, k); }, given.b, given.mu,
        {Vec<double, 3 * kAnyContacts>::zero()}, [&](Problem& p) { p = given; }, problem, aside, best);
    batch::store<double>(candidates, i, best);
  }
}

}  // namespace garra::contact
