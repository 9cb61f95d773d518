// Do forces inside friction cones exist that leave every contact at rest? Batches from plain arrays
// (docs/grasp-model.md, section 7; solve/rest_forces.hpp has the method).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "garra/wrench_balance.hpp"

namespace garra::contact {

/// `count` contact problems in the caller's arrays: find c with |A_j c + b_j| <= most, |(c_t, c_o)| <= mu c_n,
/// least <= c_n <= limit at each contact that is not left out; those that are press with nothing.
struct RestProblems {
  int contacts = 0;  ///< 1 ... kMaxContacts
  std::int64_t count = 0;
  std::span<const double> A;           ///< [count][3k][3k]
  std::span<const double> b;           ///< [count][3k] [m/s^2]
  std::span<const double> mu;          ///< [count][k]
  std::span<const double> c;           ///< [count][3k] forces in the cones, to begin with [N]
  std::span<const double> limit = {};           ///< [count][k] of the normal force [N]; empty: none
  std::span<const double> least = {};           ///< [count][k] of the normal force [N]; empty: 0
  std::span<const std::uint8_t> left_out = {};  ///< [count][k]; empty: none
  double most = 0;                              ///< of a contact's acceleration, above 0 [m/s^2]
};

struct Rests {
  std::vector<BalanceVerdict> verdict;  ///< [count] kPossible: such forces were found; kImpossible: none exist, certified
  std::vector<double> force;            ///< [count][3k] c where possible [N], else NaN
};

/// Decides every problem. Throws Error where sizes do not match.
[[nodiscard]] Rests rest(const RestProblems& problems, int threads = 0);

}  // namespace garra::contact
