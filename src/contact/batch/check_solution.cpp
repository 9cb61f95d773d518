// The certificate for forces from elsewhere, and the elimination of sliding contacts for solvers that lack them.
#include "contact/batch/arrays.hpp"
#include "contact/batch/body.hpp"
#include "garra/batch/parallel.hpp"
#include "garra/core/error.hpp"

namespace garra::contact {
namespace {

void eliminate_all(const ProblemView& in, Problems& out) {
  const ContactsInUse many(in.contacts);
  for (std::int64_t k = 0; k < in.count; ++k) {
    auto p = problem_at(in, k);
    solvers::eliminate_sliding(p, sliding_at(in, k));
    const std::int64_t n = in.contacts;
    std::copy_n(p.A.m, 9 * n * n, out.A.data() + k * 9 * n * n);
    std::copy_n(p.b.m, 3 * n, out.b.data() + k * 3 * n);
    std::copy_n(p.mu.m, n, out.mu.data() + k * n);
  }
}

}  // namespace

void check_solution(const ProblemView& in, std::span<const double> c, double tolerance, int threads, Solutions& out) {
  constexpr std::int64_t kProblems = 1024;  // at once
  batch::for_blocks(threads, {in.count, kProblems}, [&](std::int64_t first, std::int64_t count) {
    const ContactsInUse many(in.contacts);
    for (std::int64_t k = first; k < first + count; ++k) {
      Vec<double, 3 * kAnyContacts> force;
      std::copy_n(c.data() + k * 3 * in.contacts, 3 * in.contacts, force.m);
      const auto found = given_candidate<double, kAnyContacts>(force);
      store_solution(in, k, solvers::certify(problem_at(in, k), sliding_at(in, k), found, tolerance), out);
    }
  });
}

Solutions check_solution(const ProblemView& problems, std::span<const double> c, double tolerance) {
  check_sizes(problems);
  if (c.size() != problems.b.size())
    throw Error(ExitCode::kUsage, "check_solution: " + std::to_string(c.size()) + " force components for " +
                                      std::to_string(problems.b.size()) + " of the problems");
  Solutions out = unsolved(problems);
  check_solution(problems, c, tolerance, solve_threads(Device{}), out);
  return out;
}

Problems without_sliding(const Problems& problems) {
  check_sizes(problems);
  // Copies everything, so that arrays that elimination does not touch stay as they are.
  Problems out = problems;
  out.mode.clear();
  out.slip_velocity.clear();
  eliminate_all(problems, out);
  return out;
}

}  // namespace garra::contact
