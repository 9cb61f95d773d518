// The logarithm to the base of 10 over S, for axes in decades.
#pragma once

#include "garra/core/elementary.hpp"

namespace garra {

/// Within 2 ulp of the result; powers of 10 may miss the whole number.
template <class S>
GARRA_HD S log10(const S& x) {
  // log10(e).
  return S(RealOf<S>(0.43429448190325182765)) * log(x);
}

}  // namespace garra
