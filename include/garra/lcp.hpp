// Solves batches of linear complementarity problems 0 <= z  ⟂  w = M z + q >= 0 by Lemke's method,
// from host arrays.
// Takes: M [n][k][k], any square matrices, and q [n][k].
// Gives: z and w [n][k], residual, pivots and one Status per problem; enumerate() gives all
// solutions.
// Units and frames: the caller's units; M is row-major; pairs count from 0.
// Bad input: wrong sizes throw Error. A problem with bad numbers or without an answer has a Status
// and NaN results.
// Not for: more than kMaxSize (32) pairs, 8 on a GPU. kStalled (a ray) does not prove that a
// general M has no solution: use enumerate().
// Docs: docs/theory/lcp.md.
#pragma once

#include <cstdint>
#include <vector>

#include "garra/batch/device.hpp"
#include "garra/core/status.hpp"
#include "garra/solvers/lcp_enumeration.hpp"

namespace garra::lcp {

inline constexpr int kMaxSize = 32;       ///< largest number of pairs on the CPU
inline constexpr int kMaxKernelSize = 8;  ///< largest number of pairs on a GPU
inline constexpr int kMaxEnumerated = 8;  ///< largest number of pairs for enumerate()

/// `count` problems of `size` pairs each, one after another; M is row-major.
struct Problems {
  int size = 0;
  std::int64_t count = 0;
  std::vector<double> M;  ///< [count][size][size], any square matrix
  std::vector<double> q;  ///< [count][size]
};

/// Options of Lemke's method, as the inequalities that are tested.
struct Options {
  double tolerance = 1e-8;  ///< converged: residual <= tolerance, rounding included
  int max_pivots = 0;  ///< iteration limit: pivots >= max_pivots; 0: size 2^(size-1), which only rounding can exceed
};

/// Solutions of a batch.
struct Solutions {
  int size = 0;
  std::int64_t count = 0;
  std::vector<double> z;  ///< [count][size]; NaN where not converged or ill-conditioned
  std::vector<double> w;  ///< [count][size] M z + q; NaN as z
  /// [count] largest change of q, over the largest |q|, with which z and w are an exact solution
  /// (docs/theory/lcp.md). NaN without a basis.
  std::vector<double> residual;
  std::vector<std::int32_t> pivots;  ///< [count] 0: q >= 0, so z = 0
  std::vector<Status> status;        ///< [count] stalled: ended on a ray, which proves nothing for a general M
};

/// Solves every problem.
/// @param problems M [n][k][k] and q [n][k].
/// @return z, w [n][k] and one Status per problem. A problem that fails is a Status, never an
///         exception.
/// @throws Error for sizes, and kNoDevice for more than kMaxKernelSize pairs on a GPU or a device
///         that cannot run.
[[nodiscard]] Solutions solve(const Problems& problems, const Options& options = {}, const Device& device = {});

/// All solutions of every problem: rows first[i] .. first[i + 1] - 1 of `z` belong to problem i.
struct Enumeration {
  int size = 0;
  std::int64_t count = 0;
  std::vector<solvers::LcpStatus> decision;  ///< [count] number of solutions
  std::vector<solvers::PMatrix> p_matrix;    ///< [count] whether M is a P-matrix
  std::vector<std::int32_t> singular;        ///< [count] singular choices with solutions
  std::vector<std::int32_t> undecided;       ///< [count] choices that rounding leaves open
  std::vector<std::int64_t> first;           ///< [count + 1]
  std::vector<double> z;                     ///< [first[count]][size]
  std::vector<std::uint8_t> proved;          ///< [first[count]] 1: the solution exists
  std::vector<std::uint8_t> degenerate;      ///< [first[count]] 1: z_i = w_i = 0 for some pair

  /// Number of distinct solutions found for problem k (from 0).
  [[nodiscard]] std::int64_t solutions(std::int64_t k) const {
    const auto at = static_cast<std::size_t>(k);
    return first[at + 1] - first[at];
  }
};

/// Enumerates the solutions by the 2^size choices of basic variables.
/// @param problems at most kMaxEnumerated pairs.
/// @param threads CPU threads; 0: all.
/// @return the solutions found and, per problem, whether their number is proved.
/// @throws Error for sizes or more than kMaxEnumerated pairs.
[[nodiscard]] Enumeration enumerate(const Problems& problems, int threads = 0);

}  // namespace garra::lcp
