// Newton's ladder in mixed precision on the host.
#include "contact/batch/mixed.hpp"

#include "contact/batch/run.hpp"
#include "contact/batch/single_lanes.hpp"

namespace garra::contact {

template <int N>
void iterate(Executor executor, const IterateBody<solvers::FrictionMixed, N>& body, std::int64_t count) {
  batch::Tiles<Vec<double, 3 * N>> guesses(count);
  const SingleBody<N> single{body.solver, body.problems, body.sliding, guesses.data()};
  if (executor == Executor::kScalar || !kLanesPay)
    batch::for_each_scalar(count, single);
  else
    batch::lanes_loop(batch::Each<Lanes<float>, SingleBody<N>>{count, single});
  const solvers::FrictionNewton& newton = body.solver;
  iterate(
      executor,
      IterateBody<solvers::FrictionNewton, N>{newton, body.problems, body.sliding, body.candidates, guesses.data(), N},
      count);
  batch::for_each(executor, count, StallBody<N>{guesses.data(), body.candidates});
}

void run_mixed(const Job& job) { solve_with(newton_of<solvers::FrictionMixed>(job.options), job); }

}  // namespace garra::contact
