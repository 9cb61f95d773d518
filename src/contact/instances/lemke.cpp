// Solves problems whose contacts all slide, as linear complementarity problems (papers, 45-48), by Lemke's method.
#include <cmath>

#include "contact/batch/solve_batch.hpp"
#include "garra/lcp.hpp"

namespace garra::contact {

void run_lemke(const MethodCall& call) {
  const Job& job = *call.job;
  lcp::Options options;
  options.tolerance = job.options.tolerance;
  // In pivots: Lemke's iteration.
  options.max_pivots = job.options.max_iterations;
  const lcp::Solutions found = lcp::solve(normal_problems(job.in), options, job.device);
  std::vector<double> c(job.in.b.size(), 0.0);
  // NaN stands for no answer of Lemke's method: no force is certified.
  for (std::size_t i = 0; i < found.z.size(); ++i) c[3 * i] = std::isnan(found.z[i]) ? 0 : found.z[i];
  check_solution(job.in, c, job.options.tolerance, solve_threads(job.device), job.out);
  job.out.iterations = found.pivots;
  job.out.stage.assign(found.pivots.size(), 0);
  job.out.stalls.assign(found.pivots.size(), 0);
  // The certificate decides first; if it fails, Lemke's status gives the reason.
  for (std::size_t k = 0; k < found.status.size(); ++k)
    if (job.out.status[k] == Status::kStalled && found.status[k] != Status::kConverged)
      job.out.status[k] = found.status[k];
}

}  // namespace garra::contact
