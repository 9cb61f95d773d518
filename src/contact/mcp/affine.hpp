// Affine mixed complementarity problems, dense, of any size: F(x) = M x + q on l <= x <= u (docs/theory/mcp.md, 8).
// Takes: M [count][n][n], q, lower, upper and start [count][n].
// Gives: as solve.hpp; kNoSolution where a ray proves that no x is feasible.
// Units and frames: the user's units; problems and unknowns count from 0.
// Bad input: wrong sizes and bounds throw Error; NaN or infinity in M or q is kInvalidInput.
// Not for: sparse problems, more than kMostPairs pairs by Lemke's method, Lemke and interior point on a GPU.
#pragma once

#include "contact/mcp/solve.hpp"

namespace garra::mcp {

struct AffineProblems {
  int size = 0;
  std::int64_t count = 0;
  std::span<const double> M, q, lower, upper, start;
};

enum class AffineMethod { kAuto, kLemke, kPivoting, kInteriorPoint, kSemismoothNewton };
/// Names of AffineMethod.
inline constexpr const char* kAffineMethods[] = {"auto", "lemke", "pivoting", "interior-point", "semismooth-newton"};
/// Most pairs of Lemke's method: an unknown with two finite bounds counts twice, a free one not.
inline constexpr int kMostPairs = 1024;
/// Most unknowns on a GPU, where "auto" is pivoting, then semismooth Newton.
inline constexpr int kMostKernelUnknowns = 64;

struct AffineOptions {
  AffineMethod method = AffineMethod::kAuto;
  double tolerance = 1e-8;  ///< converged: residual <= tolerance
  int max_iterations = 0;   ///< of one method; 0: its own limit
};

/// Solves every problem. `method` of the answer is an AffineMethod, `outer` counts its steps or pivots.
[[nodiscard]] Solutions solve_affine(const AffineProblems& problems, const AffineOptions& options = {},
                                     const Device& device = {});

}  // namespace garra::mcp
