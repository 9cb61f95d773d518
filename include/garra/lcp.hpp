// Batches of linear complementarity problems from plain arrays: 0 <= z  ⟂  w = M z + q >= 0 (docs/theory/lcp.md).
#pragma once

#include <cstdint>
#include <vector>

#include "garra/batch/device.hpp"
#include "garra/core/status.hpp"
#include "garra/solve/lcp_enumeration.hpp"

namespace garra::lcp {

inline constexpr int kMaxSize = 32;       ///< pairs of a problem, on the processor
inline constexpr int kMaxKernelSize = 8;  ///< on a GPU
inline constexpr int kMaxEnumerated = 8;  ///< where all solutions are enumerated

/// `count` problems of `size` pairs each, one after another, M row-major. (Some files of others are column-major.)
struct Problems {
  int size = 0;
  std::int64_t count = 0;
  std::vector<double> M;  ///< [count][size][size], any square matrix
  std::vector<double> q;  ///< [count][size]
};

/// Lemke's method. An option is an inequality that is tested as written.
struct Options {
  double tol = 1e-8;   ///< converged: residual <= tol
  int max_pivots = 0;  ///< iteration limit: pivots >= max_pivots; 0: size 2^(size-1), which only rounding can exceed
};

struct Solutions {
  int size = 0;
  std::int64_t count = 0;
  std::vector<double> z;         ///< [count][size]; NaN where not converged
  std::vector<double> w;         ///< [count][size] M z + q; NaN where not converged
  std::vector<double> residual;  ///< [count] scaled largest |min(z_i, w_i)| (solvers::lcp_error); NaN without a basis
  std::vector<std::int32_t> pivots;  ///< [count] 0: q >= 0, so z = 0
  std::vector<Status> status;        ///< [count] stalled: ended on a ray, which proves nothing for a general M
};

/// Solves every problem; a failed problem is a status, never an exception. Throws Error where sizes do not match
/// or the device cannot run.
[[nodiscard]] Solutions solve(const Problems& problems, const Options& options = {}, const Device& device = {});

/// All solutions of every problem: solutions first[k] .. first[k + 1] - 1 of `z` are those of problem k. See
/// solvers::LcpEnumeration for what each entry means.
struct Enumeration {
  int size = 0;
  std::int64_t count = 0;
  std::vector<solvers::LcpVerdict> verdict;  ///< [count]
  std::vector<solvers::PMatrix> p_matrix;    ///< [count]
  std::vector<std::int32_t> singular;        ///< [count]
  std::vector<std::int32_t> undecided;       ///< [count]
  std::vector<std::int64_t> first;           ///< [count + 1]
  std::vector<double> z;                     ///< [first[count]][size]
  std::vector<std::uint8_t> proved;          ///< [first[count]]
  std::vector<std::uint8_t> degenerate;      ///< [first[count]]

  /// How many distinct solutions of problem k were found.
  [[nodiscard]] std::int64_t solutions(std::int64_t k) const {
    const auto at = static_cast<std::size_t>(k);
    return first[at + 1] - first[at];
  }
};

/// By the 2^size choices of basic variables, on `threads` threads of the CPU (0: all).
[[nodiscard]] Enumeration enumerate(const Problems& problems, int threads = 0);

}  // namespace garra::lcp
