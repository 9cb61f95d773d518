// Loops over a number known at compile time, written out: a GPU thread keeps a small matrix in registers only while
// every index is a constant, and a host compiler splits a struct of SIMD registers into registers only before it
// unrolls ordinary loops (a 9-vector of lanes otherwise travels through memory, by calls of memcpy).
#pragma once

#include <type_traits>
#include <utility>

#include "garra/core/hd.hpp"

namespace garra {

/// Longest loop that is written out. A 24 x 24 elimination written out took minutes to compile and gained nothing.
inline constexpr int kUnrolled = 9;

template <class F, int... K>
GARRA_HD void unrolled(std::integer_sequence<int, K...>, [[maybe_unused]] F f) {
  (f(std::integral_constant<int, K>{}), ...);
}

/// f(0), f(1), ... f(N - 1), written out where N is small.
template <int N, class F>
GARRA_HD void for_each_index(F f) {
  if constexpr (N <= kUnrolled)
    unrolled(std::make_integer_sequence<int, N>{}, f);
  else {
#if defined(__CUDA_ARCH__)
#pragma unroll 1  // nvcc would write it out all the same, find no registers, and spill tens of kilobytes
#endif
    for (int k = 0; k < N; ++k) f(k);
  }
}

}  // namespace garra
