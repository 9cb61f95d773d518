// The executors `scalar` and `lanes`: one body, applied to every problem of a batch.
#pragma once

#include <cstdint>

#include "garra/batch/device.hpp"
#include "garra/core/lanes.hpp"
#include "garra/core/scalar.hpp"

namespace garra::batch {

// A loop is one function with all that it calls, lambdas of for_each_index included: a call would send registers of
// lanes through memory. Its instructions stand apart from what calls it, so that a wheel has its loops over lanes for
// each instruction set, and everything else once (cmake/isas.cmake defines what is elsewhere).

/// loop(), which works on doubles; of a type that other files can name: no lambda.
template <class Loop>
__attribute__((noinline)) void scalar_loop(const Loop& loop);

/// loop(), which works on lanes.
template <class Loop>
__attribute__((noinline)) void lanes_loop(const Loop& loop);

#if !defined(GARRA_QUICK_COMPILE)
template <class Loop>
__attribute__((flatten)) void scalar_loop(const Loop& loop);
template <class Loop>
__attribute__((flatten)) void lanes_loop(const Loop& loop);
#endif

/// A body that says kCalls has its matrices in memory anyway (solvers::kInMemory): its loop over doubles leaves
/// inlining to the compiler, which is as fast, and less to compile.
template <class Body>
inline constexpr bool kCalls = requires {
  requires Body::kCalls;
};

/// loop() with what the compiler inlines into it.
template <class Loop>
__attribute__((noinline)) void calling(const Loop& loop) {
  loop();
}

#if !defined(GARRA_SCALAR_ELSEWHERE)
template <class Loop>
void scalar_loop(const Loop& loop) {
  if constexpr (kCalls<Loop>)
    calling(loop);
  else
    loop();
}
#endif
#if !defined(GARRA_LANES_ELSEWHERE)
template <class Loop>
void lanes_loop(const Loop& loop) {
  loop();
}
#endif

/// body.operator()<S>(i) for every problem, or every group of lanes; the last tile must be padded.
template <class S, class Body>
struct Each {
  static constexpr bool kCalls = batch::kCalls<Body>;
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

/// Either of them: one thread of the host.
template <class Body>
void for_each(Executor executor, std::int64_t count, const Body& body) {
  if (executor == Executor::kScalar)
    for_each_scalar(count, body);
  else
    for_each_lanes(count, body);
}

}  // namespace garra::batch
