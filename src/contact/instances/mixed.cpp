// Newton's method in mixed precision, with restarts, on the host.
#include "contact/batch/mixed.hpp"

#include "contact/batch/single_lanes.hpp"
#include "contact/batch/solve_batch.hpp"

namespace garra::contact {

template <>
void iterate(Executor executor, const IterateKernel<solvers::FrictionMixed, kAnyContacts>& body, std::int64_t count) {
  batch::Tiles<Vec<double, 3 * kAnyContacts>> guesses(count);
  with_contacts(executor, [&](auto n) {
    const SingleKernel<n> single{body.solver, body.problems, body.sliding, guesses.data()};
    if constexpr (n < 0 || !kLanesPay)
      if (executor == Executor::kScalar || !kLanesPay) return batch::for_each_scalar(count, single);
    batch::lanes_loop(batch::Each<Lanes<float>, SingleKernel<n>>{count, single});
  });
  const solvers::FrictionNewton& newton = body.solver;
  iterate(executor,
          IterateKernel<solvers::FrictionNewton, kAnyContacts>{newton, body.problems, body.sliding, body.candidates,
                                                               guesses.data(), body.contacts},
          count);
  batch::for_each(executor, count, StallKernel<kAnyContacts>{guesses.data(), body.candidates});
}

void run_mixed(const MethodCall& call) { call.by(make_newton<solvers::FrictionMixed>(call.options)); }

}  // namespace garra::contact
