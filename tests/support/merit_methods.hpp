// The methods that minimize a merit function: slow where contacts are many, and with kernels for up to eight.
#pragma once

#include <algorithm>

#include "garra/contact.hpp"

namespace garra::test {

inline constexpr contact::Method kMeritMethods[] = {contact::Method::kBoxQuacan, contact::Method::kSpg,
                                                    contact::Method::kProjectedLm, contact::Method::kFischerBurmeister,
                                                    contact::Method::kMerit};

[[nodiscard]] inline bool minimizes_merit(contact::Method method) {
  return std::ranges::find(kMeritMethods, method) != std::end(kMeritMethods);
}

}  // namespace garra::test
