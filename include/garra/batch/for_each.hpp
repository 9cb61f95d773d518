// The executors `scalar` and `lanes` (SIMD lanes): one body, applied to every problem of a batch.
#pragma once

#include <cstdint>

#include "garra/batch/device.hpp"
#include "garra/core/lanes.hpp"
#include "garra/core/scalar.hpp"

namespace garra::batch {

// A loop over lanes is one function with everything that it calls, lambdas of for_each_index
// included: a call would pass registers of lanes through memory. A loop over doubles leaves inlining
// to the compiler. The machine code of both is separate from their callers': a wheel has loops over
// lanes per instruction set and all else once (list: cmake/isas.cmake).

/// Runs loop(), which works on doubles. Other files must be able to name its type: no lambda.
template <class Loop>
__attribute__((noinline)) void scalar_loop(const Loop& loop);

/// Runs loop(), which works on lanes.
template <class Loop>
__attribute__((noinline)) void lanes_loop(const Loop& loop);

#if !defined(GARRA_QUICK_COMPILE)
template <class Loop>
__attribute__((flatten)) void lanes_loop(const Loop& loop);
#endif

#if !defined(GARRA_SCALAR_ELSEWHERE)
template <class Loop>
void scalar_loop(const Loop& loop) {
  loop();
}
#endif
#if !defined(GARRA_LANES_ELSEWHERE)
template <class Loop>
void lanes_loop(const Loop& loop) {
  loop();
}
#endif

/// Runs body.operator()<S>(i) for every problem or group of lanes; the last tile must be padded.
template <class S, class Body>
struct Each {
  std::int64_t count;
  const Body& body;

  void operator()() const {
    for (std::int64_t i = 0; i < count; i += kWidth<S>) body.template operator()<S>(i);
  }
};

/// body.operator()<double>(i) for i = 0 .. count - 1.
template <class Body>
void for_each_scalar(std::int64_t count, const Body& body) {
  scalar_loop(Each<double, Body>{count, body});
}

/// body.operator()<Lanes<double>>(i) for every group of lanes.
template <class Body>
void for_each_lanes(std::int64_t count, const Body& body) {
  if constexpr (kLanesPay)
    lanes_loop(Each<Lanes<double>, Body>{count, body});
  else
    for_each_scalar(count, body);
}

/// Runs either loop in one thread of the host.
template <class Body>
void for_each(Executor executor, std::int64_t count, const Body& body) {
  if (executor == Executor::kScalar)
    for_each_scalar(count, body);
  else
    for_each_lanes(count, body);
}

}  // namespace garra::batch
