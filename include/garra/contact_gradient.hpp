// Derivatives of contact forces with respect to the problem, in reverse: batches from plain arrays
// (docs/theory/contact-solver.md, "Derivatives").
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "garra/batch/device.hpp"
#include "garra/contact.hpp"

namespace garra::contact {

/// What a contact of a solved problem does.
enum class Regime : std::uint8_t {
  kStick = 0,   ///< a = 0, c inside of its cone
  kSlip = 1,    ///< a_n = 0, c_T = -mu c_n a_T / |a_T|
  kOpen = 2,    ///< c = 0, a_n > 0
  kSlides = 3,  ///< a_n = 0, c_T = -mu c_n v for a given direction v
};

/// `count` solved problems in the caller's arrays, and a cotangent for the forces of each: the derivative of some
/// number L with respect to c.
struct Solved {
  int contacts = 0;
  std::int64_t count = 0;
  std::span<const double> A;             ///< [count][3k][3k]
  std::span<const double> mu;            ///< [count][k]
  std::span<const double> c, a;          ///< [count][3k] as solve() leaves them
  std::span<const std::uint8_t> regime;  ///< [count][k] Regime
  std::span<const double> cotangent;     ///< [count][3k] dL/dc
};

struct Gradients {
  std::vector<double> b;   ///< [count][3k] dL/db; dL/dA is its outer product with c, dL/dA_ij = dL/db_i c_j
  std::vector<double> mu;  ///< [count][k] dL/dmu
  /// [count] by how much every contact is clear of changing what it does, of the problem's own sizes: there the forces
  /// have derivatives. 0 at a kink and where the forces are not unique: the gradients are then one-sided or
  /// meaningless.
  std::vector<double> margin;
};

/// dL/d(A, b, mu) by the implicit function theorem at each solution. Throws Error where sizes do not match or the
/// device cannot run.
[[nodiscard]] Gradients gradients(const Solved& solved, const Device& device = {});

}  // namespace garra::contact
