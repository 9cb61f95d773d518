// contact::rest: solves the problems of a batch one after another, on all threads.
#include <algorithm>
#include <limits>
#include <string>

#include "garra/batch/parallel.hpp"
#include "garra/core/error.hpp"
#include "garra/solvers/rest_forces.hpp"
#include "garra/wrench_balance.hpp"

namespace garra::contact {

namespace {

void check_rest_sizes(const RestProblems& in) {
  if (in.contacts < 1 || in.contacts > kMaxContacts)
    throw Error(ExitCode::kUsage, "contacts = " + std::to_string(in.contacts) + " per problem",
                "between 1 and " + std::to_string(kMaxContacts) + " contacts are supported");
  if (!(in.most > 0)) throw Error(ExitCode::kUsage, "acceleration = " + std::to_string(in.most), "above 0");
  const auto n = static_cast<std::size_t>(in.count), k = static_cast<std::size_t>(in.contacts);
  const auto has = [](const auto& values, std::size_t wanted) { return values.empty() || values.size() == wanted; };
  if (in.count < 0 || in.A.size() != n * 9 * k * k || in.b.size() != n * 3 * k || in.mu.size() != n * k ||
      in.c.size() != n * 3 * k || !has(in.limit, n * k) || !has(in.least, n * k) || !has(in.left_out, n * k))
    throw Error(ExitCode::kUsage,
                "A, b, mu, c, limit, least and left_out do not have the sizes [n,3k,3k], [n,3k], [n,k], [n,3k], "
                "[n,k], [n,k], [n,k] of n = " +
                    std::to_string(in.count) + ", k = " + std::to_string(in.contacts));
}

void decide(const RestProblems& in, std::int64_t i, double* room, Rests& out) {
  const std::int64_t k = in.contacts, all = 3 * k;
  std::vector<std::int64_t> kept;
  for (std::int64_t j = 0; j < k; ++j)
    if (in.left_out.empty() || in.left_out[static_cast<std::size_t>(i * k + j)] == 0) kept.push_back(j);
  const solvers::RestProblem<3> p{static_cast<int>(kept.size()), in.most, room};
  const auto row = [&](int r) { return 3 * kept[static_cast<std::size_t>(r / 3)] + r % 3; };
  const auto of = [](std::span<const double> from, std::int64_t at) { return from[static_cast<std::size_t>(at)]; };
  for (int r = 0; r < p.rows(); ++r) {
    for (int s = 0; s < p.rows(); ++s) p.A(r, s) = of(in.A, (i * all + row(r)) * all + row(s));
    p.b()[r] = of(in.b, i * all + row(r));
    p.c()[r] = of(in.c, i * all + row(r));
  }
  for (std::size_t j = 0; j < kept.size(); ++j) {
    p.mu()[j] = of(in.mu, i * k + kept[j]);
    p.least()[j] = in.least.empty() ? 0 : of(in.least, i * k + kept[j]);
    p.limit()[j] = in.limit.empty() ? std::numeric_limits<double>::infinity() : of(in.limit, i * k + kept[j]);
  }
  const double exists = solvers::rest_forces(p).exists;
  out.decision[static_cast<std::size_t>(i)] = exists == 1   ? ResistanceStatus::kPossible
                                              : exists == 0 ? ResistanceStatus::kImpossible
                                                            : ResistanceStatus::kUndecided;
  double* force = out.force.data() + i * all;
  std::fill_n(force, all, exists == 1 ? 0.0 : std::numeric_limits<double>::quiet_NaN());
  for (int r = 0; exists == 1 && r < p.rows(); ++r) force[row(r)] = p.c()[r];
}

}  // namespace

Rests rest(const RestProblems& in, int threads) {
  check_rest_sizes(in);
  Rests out;
  out.decision.resize(static_cast<std::size_t>(in.count));
  out.force.resize(static_cast<std::size_t>(in.count * 3 * in.contacts));
  const auto room = static_cast<std::size_t>(solvers::RestProblem<3>::room(in.contacts));
  batch::for_blocks(
      solve_threads({Executor::kScalar, threads, 0}), {in.count, 16}, [&] { return std::vector<double>(room); },
      [&](std::vector<double>& memory, std::int64_t first, std::int64_t count) {
        for (std::int64_t i = first; i < first + count; ++i) decide(in, i, memory.data(), out);
      });
  return out;
}

}  // namespace garra::contact
