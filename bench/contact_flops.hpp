// Operations that a contact solve takes, counted.
#pragma once

#include <algorithm>
#include <cstdint>

#include "counting.hpp"
#include "garra/contact.hpp"
#include "garra/solvers/friction_newton.hpp"

namespace garra::bench {

/// Operations per problem of Newton's restarts and the certificate, without what is beyond Newton, on the first `most`
/// problems of N contacts.
template <int N>
double flops_of_contacts(const contact::Problems& given, std::int64_t most) {
  const std::int64_t count = std::min(given.count, most);
  solvers::FrictionNewton solver;
  solver.tolerance = contact::Options{}.tolerance;
  operations = {};
  for (std::int64_t k = 0; k < count; ++k) {
    solvers::FrictionProblem<Counted, N> problem;
    std::copy_n(given.A.data() + k * 9 * N * N, 9 * N * N, problem.A.m);
    std::copy_n(given.b.data() + k * 3 * N, 3 * N, problem.b.m);
    std::copy_n(given.mu.data() + k * N, N, problem.mu.m);
    static_cast<void>(solver.solve(problem));
  }
  return operations.flops() / static_cast<double>(count);
}

}  // namespace garra::bench
