// Solves batches of mixed complementarity problems with bounds, for functions that are called back: any number of
// unknowns, known at run time.
// Takes: bounds l, u and a start x0 [count][n], F and its Jacobian as functions of all rows at once.
// Gives: x with l <= x <= u and F_i(x) >= 0 where x_i = l_i, <= 0 where x_i = u_i, = 0 between; residual and Status.
// Units and frames: the user's units; problems and unknowns count from 0.
// Bad input: l > u, NaN bounds and wrong sizes throw Error. A problem that fails has a Status and NaN unknowns.
// Not for: functions written as a C++ template (mncp.hpp: derivatives, lanes, GPU).
// Docs: docs/theory/mcp.md.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "garra/mncp_batch.hpp"

namespace garra::mcp {

/// Reads x [count][n] and writes F [count][n], or its derivatives dF_i/dx_j [count][n][n]. Row k is always problem k. A
/// row whose problem is finished is evaluated again.
using Function = std::function<void(const double* x, double* out)>;

/// Problems of `size` unknowns each.
struct Problems {
  int size = 0;
  std::int64_t count = 0;
  std::span<const double> lower;  ///< [count][size], -infinity allowed
  std::span<const double> upper;  ///< [count][size], infinity allowed; equal bounds fix an unknown
  std::span<const double> start;  ///< [count][size]; moved into the bounds
  Function value, jacobian;
};

/// A merit function and its minimizer: one stage of a method.
struct Stage {
  enum class Merit { kPapers, kProducts, kFischerBurmeister, kNatural };
  enum class Minimizer { kBoxQuacan, kSpg, kProjectedLm, kSemismoothNewton };
  Merit merit = Merit::kFischerBurmeister;
  Minimizer minimizer = Minimizer::kSemismoothNewton;
  int starts = 1;  ///< starts, from the second on around the given one
};

/// Names of Stage::Merit and Stage::Minimizer.
inline constexpr const char* kMerits[] = {"papers", "products", "fischer-burmeister", "natural"};
inline constexpr const char* kMinimizers[] = {"box-quacan", "spg", "projected-lm", "semismooth-newton"};

struct Options {
  std::vector<Stage> stages;  ///< one after another until the problem is solved; empty: those of "auto"
  double tolerance = 1e-8;    ///< converged: residual <= tolerance
  int max_iterations = 0;     ///< outer iterations of one start; 0: the minimizer's own limit
};

/// Solutions of a batch; `residual` is the largest |max(min(F_i, x_i - l_i), x_i - u_i)|.
struct Solutions : mncp::Solutions {
  std::vector<std::int32_t> method;  ///< [count] number of the stage that ended the problem
  std::int64_t value_calls = 0, jacobian_calls = 0;
};

/// The stages of "auto".
[[nodiscard]] std::vector<Stage> auto_stages();

/// Solves every problem.
/// @return unknowns and one Status per problem: kInvalidInput where F is NaN or infinite at the start.
/// @throws Error(kUsage) for sizes, bounds and a pair that does not exist; what `value` and `jacobian` throw.
[[nodiscard]] Solutions solve(const Problems& problems, const Options& options = {});

}  // namespace garra::mcp
