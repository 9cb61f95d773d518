// Selects members of structs.
#pragma once

#include "garra/core/scalar.hpp"

namespace garra {

/// The members of `to` become those of `from` where the mask is true.
template <class Mask, class T, class... Members>
GARRA_HD void take_members(const Mask& where, const T& from, T& to, Members... members) {
  ((to.*members = select(where, from.*members, to.*members)), ...);
}

}  // namespace garra
