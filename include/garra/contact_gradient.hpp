// Computes reverse-mode derivatives of contact forces with respect to A, b and mu, for batches of
// solved problems; and merit functions with their gradients, at any points.
// Takes: A [n][3k][3k], mu [n][k], c and a [n][3k] of solve(), regimes [n][k], cotangents dL/dc
// [n][3k].
// Gives: dL/db [n][3k], dL/dmu [n][k], margin [n]; dL/dA = dL/db c^T. merit(): value [n], gradient
// [n][v], projected gradient [n], for points that are forces [n][3k] or variables [n][v].
// Units and frames: units, axes (n, t, o) and signs as in contact.hpp (SI); the cotangent is in
// units of L per N.
// Bad input: wrong sizes throw Error(kUsage). At kinks, non-unique or NaN forces `margin` is 0 and
// the gradients are not derivatives.
// Not for: more than kMaxOwnSize (8) contacts, problems without a converged solution.
// Docs: docs/theory/contact-solver.md, "Derivatives"; docs/theory/friction-merit.md, "Values".
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "garra/batch/device.hpp"
#include "garra/contact.hpp"

namespace garra::contact {

/// Contact mode of a solved problem, which selects the equations that are differentiated.
enum class Regime : std::uint8_t {
  kStick = 0,   ///< a = 0, c inside of its cone
  kSlip = 1,    ///< a_n = 0, c_T = -mu c_n a_T / |a_T|
  kOpen = 2,    ///< c = 0, a_n > 0
  kSlides = 3,  ///< mode 1: a_n = 0, c_T = -mu c_n v; the unit slip direction v is -c_T / |c_T|
};

/// `count` solved problems in the caller's arrays, each with the cotangent dL/dc of a scalar L.
struct Solved {
  int contacts = 0;
  std::int64_t count = 0;
  std::span<const double> A;             ///< [count][3k][3k]
  std::span<const double> mu;            ///< [count][k]
  std::span<const double> c, a;          ///< [count][3k] as solve() leaves them
  std::span<const std::uint8_t> regime;  ///< [count][k] Regime: Solutions::state; mode 1 and not open: kSlides
  std::span<const double> cotangent;     ///< [count][3k] dL/dc
};

/// Gradients of the scalar L with respect to the problems.
struct Gradients {
  std::vector<double> b;   ///< [count][3k] dL/db; dL/dA is its outer product with c, dL/dA_ij = dL/db_i c_j
  std::vector<double> mu;  ///< [count][k] dL/dmu
  /// [count] smallest distance of a contact from another regime, relative to the problem's largest
  /// force or acceleration.
  /// At a positive margin the forces are differentiable. 0 at a kink or with non-unique forces:
  /// gradients are one-sided or meaningless.
  std::vector<double> margin;
};

/// Computes dL/d(A, b, mu) by the implicit function theorem at each solution.
/// @param solved problems with forces c [n][3k], accelerations a [n][3k], regimes [n][k] and
///         cotangents [n][3k].
/// @return dL/db [n][3k], dL/dmu [n][k] and the margin [n].
/// @throws Error kUsage for sizes or more than kMaxOwnSize contacts, kNoDevice if the device cannot
///         run.
[[nodiscard]] Gradients gradients(const Solved& solved, const Device& device = {});

/// Number of variables of a merit function: 8 k for papers and products, 4 k for Fischer-Burmeister, 3 k for the
/// second-order cone.
[[nodiscard]] int merit_variables(Merit function, int contacts);

/// Values of a merit function at `count` points.
struct MeritValues {
  int variables = 0;
  std::int64_t count = 0;
  std::vector<double> value;               ///< [count] f = |r(x)|^2
  std::vector<double> projected_gradient;  ///< [count] |P(x - grad f) - x|, zero at stationary points on the box
  std::vector<double> x, gradient;         ///< [count][variables]
};

/// Evaluates f, its gradient and its projected gradient.
/// @param problems A [n][3k][3k] in 1/kg, b [n][3k] in m/s^2, mu [n][k]; all contacts may roll.
/// @param at forces [n][3k] in N, whose other variables are lambda = |a_T|, a_T = A_T c + b_T, z = max(F, 0); or
///        variables [n][merit_variables()], component after component (docs/theory/friction-merit.md, (1) and (2)).
/// @throws Error kUsage for sizes and contacts that slide, kNoDevice if the device cannot run.
[[nodiscard]] MeritValues merit(const ProblemView& problems, std::span<const double> at, Merit function,
                                const Device& device = {});

/// The same into `out`, whose memory is reused.
void merit(const ProblemView& problems, std::span<const double> at, Merit function, const Device& device,
           MeritValues& out);

}  // namespace garra::contact
