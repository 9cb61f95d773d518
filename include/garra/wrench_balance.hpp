// Decides whether forces inside the friction cones can balance a wrench, or leave every contact at
// rest.
// Takes: balance(): W [n][6][3k], w [n][6], mu [n][k]; rest(): A, b, mu and a guess c.
// Gives: a ResistanceStatus per problem, forces [n][3k] if possible, else a separating wrench.
// Units and frames: SI. Contact axes (n, t, o), c_n > 0 presses; wrench rows (force; moment /
// length), in N; contacts count from 0.
// Bad input: wrong sizes throw Error(kUsage). NaN input or an open decision is kUndecided.
// Not for: the forces that a given command produces (contact.hpp, grasp.hpp); more than
// kMaxContacts (32) contacts.
// Docs: docs/theory/grasp-model.md, section 7; methods in solvers/wrench_balance.hpp and
// solvers/rest_forces.hpp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "garra/batch/device.hpp"
#include "garra/contact.hpp"

namespace garra::contact {

/// `count` feasibility problems in the caller's arrays: find c with W c + w = 0, |(c_t, c_o)| <= mu
/// c_n and c_n <= limit at each contact. The caller divides moment rows by a length: all rows are
/// then forces. The usual length is the object's radius of gyration. It changes `gap`, not whether
/// w can be balanced.
struct Wrenches {
  int contacts = 0;  ///< 1 ... kMaxContacts
  std::int64_t count = 0;
  std::span<const double> W;           ///< [count][6][3k] wrench of contact forces (n, t, o)
  std::span<const double> w;           ///< [count][6] wrench to balance [N]
  std::span<const double> mu;          ///< [count][k]
  std::span<const double> limit = {};  ///< [count][k] of the normal force [N]; empty: none
};

/// Decision on one problem.
enum class ResistanceStatus : std::uint8_t {
  kImpossible = 0,  ///< certified: every c in the cones leaves an unbalanced wrench larger than gap * |w|
  kPossible = 1,    ///< certified: `force` balances w to 1e-9 |w|
  kUndecided = 2,   ///< neither is proved, or a number is not finite
};

/// Decisions with their proofs.
struct Balances {
  std::vector<ResistanceStatus> decision;  ///< [count]
  std::vector<double> force;               ///< [count][3k] c if kPossible [N], else 0
  std::vector<double> wrench;              ///< [count][6] unit y that separates w from the cones if kImpossible, else 0
  std::vector<double> gap;                 ///< [count] unbalanced part, relative to |w|; undecided: NaN, or 0 for w = 0
  std::vector<std::int32_t> steps;         ///< [count] steps of the interior-point method
};

/// Decides every wrench.
/// @param wrenches W [n][6][3k], w [n][6] in N, mu [n][k], limit [n][k] in N or empty.
/// @return decision, forces [n][3k] in N, separating wrench [n][6], gap [n].
/// @throws Error kUsage for sizes, kNoDevice if the device cannot run.
[[nodiscard]] Balances balance(const Wrenches& wrenches, const Device& device = {});

// --- Forces inside the friction cones that leave every contact at rest (method:
// solvers/rest_forces.hpp)

/// `count` contact problems in the caller's arrays: find c with |A_j c + b_j| <= most, |(c_t, c_o)|
/// <= mu c_n and least <= c_n <= limit at each contact j. Contacts that are left out have no force and no condition.
struct RestProblems {
  int contacts = 0;  ///< 1 ... kMaxContacts
  std::int64_t count = 0;
  std::span<const double> A;                    ///< [count][3k][3k]
  std::span<const double> b;                    ///< [count][3k] [m/s^2]
  std::span<const double> mu;                   ///< [count][k]
  std::span<const double> c;                    ///< [count][3k] initial guess in the cones [N]
  std::span<const double> limit = {};           ///< [count][k] of the normal force [N]; empty: none
  std::span<const double> least = {};           ///< [count][k] of the normal force [N]; empty: 0
  std::span<const std::uint8_t> left_out = {};  ///< [count][k] not 0: left out; empty: none
  double most = 0;                              ///< largest acceleration of a contact at rest, above 0 [m/s^2]
};

/// Decisions on the rest problems.
struct Rests {
  std::vector<ResistanceStatus> decision;  ///< [count] kPossible: forces found; kImpossible: certified that none exist
  std::vector<double> force;               ///< [count][3k] c if kPossible [N], else NaN
};

/// Decides every problem, on the CPU.
/// @param problems A [n][3k][3k] in 1/kg, b [n][3k] in m/s^2, mu [n][k], c [n][3k] in N, bounds
///         [n][k] in N.
/// @param threads CPU threads; 0: all.
/// @return decision [n] and forces [n][3k] in N.
/// @throws Error kUsage for sizes or most <= 0.
[[nodiscard]] Rests rest(const RestProblems& problems, int threads = 0);

}  // namespace garra::contact
