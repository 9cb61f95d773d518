// Doubles to floats and back.
#pragma once

#include "garra/core/scalar.hpp"

namespace garra {

/// The type that holds the doubles of floats F: double; in lanes (single_lanes.hpp) a register of
/// half as many problems.
template <class F>
struct DoublesOf {
  using type = double;
};
/// Rounds doubles to the nearest floats, and converts floats to doubles.
GARRA_HD float narrow(const double (&a)[1]) { return static_cast<float>(a[0]); }
GARRA_HD void widen(float a, double (&to)[1]) { to[0] = static_cast<double>(a); }

}  // namespace garra
