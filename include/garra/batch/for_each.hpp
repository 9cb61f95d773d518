// The executors `scalar` and `lanes`: one body, applied to every problem of a batch.
#pragma once

#include <cstdint>

#include "garra/batch/device.hpp"
#include "garra/core/lanes.hpp"

namespace garra::batch {

// `flatten`: everything below inlines into the loop, lambdas of for_each_index included; a call would send registers of
// lanes through memory.

/// body.operator()<double>(i) for i = 0 .. count - 1.
template <class Body>
__attribute__((noinline, flatten)) void for_each_scalar(std::int64_t count, const Body& body) {
  for (std::int64_t i = 0; i < count; ++i) body.template operator()<double>(i);
}

/// body.operator()<Lanes<double>>(i) for every group of lanes; the last tile must be padded.
template <class Body>
__attribute__((flatten)) void for_each_lanes(std::int64_t count, const Body& body) {
  if constexpr (kLanesPay) {
    using S = Lanes<double>;
    for (std::int64_t i = 0; i < count; i += S::kSize) body.template operator()<S>(i);
  } else {
    for_each_scalar(count, body);
  }
}

/// Either of them: one thread of the host.
template <class Body>
void for_each(Executor executor, std::int64_t count, const Body& body) {
  if (executor == Executor::kScalar)
    for_each_scalar(count, body);
  else
    for_each_lanes(count, body);
}

}  // namespace garra::batch
