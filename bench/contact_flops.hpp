// Operations that a contact solve takes, counted.
#pragma once

#include <algorithm>
#include <cstdint>

#include "counting.hpp"
#include "garra/contact.hpp"
#include "garra/solvers/friction_newton.hpp"

namespace garra::bench {

/// Problem k, which counts operations; N contacts, or kAnyContacts in use.
template <int N>
solvers::FrictionProblem<Counted, N> counted_problem(const contact::Problems& given, std::int64_t k) {
  const std::int64_t n = given.contacts;
  solvers::FrictionProblem<Counted, N> problem;
  std::copy_n(given.A.data() + k * 9 * n * n, 9 * n * n, problem.A.m);
  std::copy_n(given.b.data() + k * 3 * n, 3 * n, problem.b.m);
  std::copy_n(given.mu.data() + k * n, n, problem.mu.m);
  return problem;
}

/// Operations per problem of Newton's restarts and the certificate, without what is beyond Newton, on the first `most`
/// problems of N contacts.
template <int N>
double flops_of_contacts(const contact::Problems& given, std::int64_t most) {
  const std::int64_t count = std::min(given.count, most);
  solvers::FrictionNewton solver;
  solver.tolerance = contact::Options{}.tolerance;
  operations = {};
  for (std::int64_t k = 0; k < count; ++k) {
    static_cast<void>(solver.solve(counted_problem<N>(given, k)));
  }
  return operations.flops() / static_cast<double>(count);
}

}  // namespace garra::bench
