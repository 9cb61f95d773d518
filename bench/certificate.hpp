// The judge of benchmark answers: the certificate of friction_problem.hpp for a number of
// contacts that is known only at run time. Every solver is judged by this one, never by its own flag.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "garra/contact.hpp"
#include "garra/solve/friction_problem.hpp"

namespace garra::bench {

/// What counts as solved (docs/contact-solver.md).
inline constexpr double kSolved = 1e-8;

/// Problem `index` of a batch as the solver's own struct.
template <int N>
[[nodiscard]] solvers::FrictionProblem<double, N> problem_at(const contact::Problems& problems, std::int64_t index) {
  const std::size_t k = static_cast<std::size_t>(index);
  solvers::FrictionProblem<double, N> p;
  for (std::size_t i = 0; i < 9 * N * N; ++i) p.A.m[i] = problems.A[k * 9 * N * N + i];
  for (std::size_t i = 0; i < 3 * N; ++i) p.b.m[i] = problems.b[k * 3 * N + i];
  for (std::size_t i = 0; i < N; ++i) p.mu.m[i] = problems.mu[k * N + i];
  return p;
}

/// Error of the forces `c` for problem `index` of up to eight contacts; infinity where it cannot be computed (NaN), so
/// that it never counts as solved.
template <int N = 1>
[[nodiscard]] double scale_invariant_error(const contact::Problems& problems, std::int64_t index,
                                           std::span<const double> c) {
  if constexpr (N < contact::kMaxOwnSize) {
    if (problems.contacts > N) return scale_invariant_error<N + 1>(problems, index, c);
  }
  Vec<double, 3 * N> force;
  for (std::size_t i = 0; i < 3 * N; ++i) force.m[i] = c[i];
  // The tolerance only decides about NaN in c and a, which are not read here.
  const auto judged = solvers::certify<double, N>(
      problem_at<N>(problems, index), solvers::candidate_of<double, N>(force, 0.0, solvers::Effort<double>::none()),
      kSolved);
  return judged.residual <= std::numeric_limits<double>::max() ? judged.residual
                                                               : std::numeric_limits<double>::infinity();
}

}  // namespace garra::bench
