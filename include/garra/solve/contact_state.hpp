// What a contact does, judged by the accelerations of a solution (docs/monte-carlo.md, Outcomes).
#pragma once

#include "garra/core/elementary.hpp"
#include "garra/core/mat.hpp"

namespace garra::solvers {

/// Accelerations above this share of the problem's own size (FrictionScale::size_b) count as motion.
inline constexpr double kMotion = 1e-6;

/// 2 where the contact opens (a_n > eps), else 1 where it slips (|a_T| > eps), else 0: it sticks. a in (n, t, o) and
/// eps in m/s^2.
template <class S, int D>
GARRA_HD S contact_state(const Vec<S, D>& a, const S& eps) {
  const auto open = a[0] > eps;
  const auto slip = tangential_length(a) > eps;
  return select(open, S(2), select(slip, S(1), S(0)));
}

}  // namespace garra::solvers
