// Whether a stationary point of a merit function is a solution of a friction contact problem, decided at the point
// where its minimization ends. `garra.contact.equivalence` in C++ (docs/theory/equivalence.md).
//
// Takes: problems as for contact::solve() whose contacts may all roll, and a merit function.
//
// Gives: per problem a decision, whether the point is stationary, and the status by the certificate.
//
// Bad input: sliding contacts and wrong sizes throw Error. A problem with NaN is kUndecided and not stationary.
//
// Not for: second-order-cone, to which the theorems do not apply (Error); more than 4 contacts are kUndecided.
#pragma once

#include "garra/contact.hpp"
#include "garra/solvers/merit/equivalence.hpp"

namespace garra::contact {

struct Equivalences {
  std::int64_t count = 0;
  std::vector<solvers::Equivalence> hypothesis;  ///< [count] of the hypothesis at the point
  std::vector<std::uint8_t> stationary;          ///< [count] 1 if the projected gradient is at most 1e-6 |r|
  std::vector<double> minimum;                   ///< [count] f there (scaled problem)
  std::vector<Status> status;                    ///< [count] of the certificate
};

/// Minimizes by projected Levenberg-Marquardt from one start and judges the point where it ends.
/// @param problems as for solve(), without sliding contacts.
/// @param merit kPapers, kProducts or kFischerBurmeister.
/// @param start the first start; kOwn: sweeps.
/// @param tolerance of the certificate.
/// @throws Error kUsage for sliding contacts, the merit function or the number of contacts, kInvalidFile for array
/// sizes.
[[nodiscard]] Equivalences equivalence(const ProblemView& problems, Merit merit, Start start = Start::kOwn,
                                       double tolerance = 1e-8);

}  // namespace garra::contact
