// The check of benchmark answers: the certificate of friction_problem.hpp for a number of
// contacts that is known only at run time. Every solver is checked by this one, never by its own flag.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "contact/batch/arrays.hpp"
#include "garra/contact.hpp"
#include "garra/solvers/friction_problem.hpp"

namespace garra::bench {

/// What counts as solved (docs/theory/contact-solver.md).
inline constexpr double kSolved = 1e-8;

/// Error of the forces `c` for problem `index`; infinity where it cannot be computed (NaN), so
/// that it never counts as solved.
[[nodiscard]] inline double scale_invariant_error(const contact::Problems& problems, std::int64_t index,
                                                  std::span<const double> c) {
  const ContactsInUse many(problems.contacts);
  Vec<double, 3 * kAnyContacts> force;
  std::copy_n(c.begin(), 3 * problems.contacts, force.m);
  // The tolerance only decides about NaN in c and a, which are not read here.
  const auto checked = solvers::certify(
      contact::problem_at(problems, index),
      solvers::make_candidate<double, kAnyContacts>(force, 0.0, solvers::Effort<double>::none()), kSolved);
  return checked.residual <= std::numeric_limits<double>::max() ? checked.residual
                                                                : std::numeric_limits<double>::infinity();
}

}  // namespace garra::bench
