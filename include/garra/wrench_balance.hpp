// Can forces inside friction cones balance a wrench at all? Batches from plain arrays (docs/theory/grasp-model.md,
// section 7; solve/wrench_balance.hpp has the method).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "garra/batch/device.hpp"
#include "garra/contact.hpp"

namespace garra::contact {

/// `count` wrenches and the contacts that are to balance them, in the caller's arrays: find c with W c + w = 0,
/// |(c_t, c_o)| <= mu c_n, c_n <= limit at each contact. Rows of moments are divided by a length of the caller's (the
/// object's radius of gyration), so that all rows are forces.
struct Wrenches {
  int contacts = 0;  ///< 1 ... kMaxContacts
  std::int64_t count = 0;
  std::span<const double> W;           ///< [count][6][3k] wrench of contact forces (n, t, o)
  std::span<const double> w;           ///< [count][6] the wrench to balance [N]
  std::span<const double> mu;          ///< [count][k]
  std::span<const double> limit = {};  ///< [count][k] of the normal force [N]; empty: none
};

enum class BalanceVerdict : std::uint8_t {
  kImpossible = 0,  ///< certified: every c of the cones leaves more than `gap` |w| over
  kPossible = 1,    ///< certified: `force` balances w to 1e-9 |w|
  kUndecided = 2,   ///< neither was shown, or a number is not finite
};

struct Balances {
  std::vector<BalanceVerdict> verdict;  ///< [count]
  std::vector<double> force;            ///< [count][3k] c where possible [N]
  std::vector<double> wrench;           ///< [count][6] unit y that separates w from the cones, where impossible
  std::vector<double> gap;              ///< [count] of |w|
  std::vector<std::int32_t> steps;      ///< [count] of the interior-point method
};

/// Decides every wrench. Throws Error where sizes do not match or the device cannot run.
[[nodiscard]] Balances balance(const Wrenches& wrenches, const Device& device = {});

// --- Do forces inside friction cones exist that leave every contact at rest? (solve/rest_forces.hpp has the method)

/// `count` contact problems in the caller's arrays: find c with |A_j c + b_j| <= most, |(c_t, c_o)| <= mu c_n,
/// least <= c_n <= limit at each contact that is not left out; those that are press with nothing.
struct RestProblems {
  int contacts = 0;  ///< 1 ... kMaxContacts
  std::int64_t count = 0;
  std::span<const double> A;                    ///< [count][3k][3k]
  std::span<const double> b;                    ///< [count][3k] [m/s^2]
  std::span<const double> mu;                   ///< [count][k]
  std::span<const double> c;                    ///< [count][3k] forces in the cones, to begin with [N]
  std::span<const double> limit = {};           ///< [count][k] of the normal force [N]; empty: none
  std::span<const double> least = {};           ///< [count][k] of the normal force [N]; empty: 0
  std::span<const std::uint8_t> left_out = {};  ///< [count][k]; empty: none
  double most = 0;                              ///< of a contact's acceleration, above 0 [m/s^2]
};

struct Rests {
  std::vector<BalanceVerdict>
      verdict;                ///< [count] kPossible: such forces were found; kImpossible: none exist, certified
  std::vector<double> force;  ///< [count][3k] c where possible [N], else NaN
};

/// Decides every problem. Throws Error where sizes do not match.
[[nodiscard]] Rests rest(const RestProblems& problems, int threads = 0);

}  // namespace garra::contact
