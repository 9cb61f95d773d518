// Unrolled loops over a number known at compile time. A GPU thread keeps a small matrix in
// registers only while every index is a constant. A host compiler splits a struct of SIMD registers
// into registers only before it unrolls ordinary loops: a 9-vector of lanes otherwise goes through
// memory, by calls of memcpy.
#pragma once

#include <type_traits>
#include <utility>

#include "garra/core/extent.hpp"
#include "garra/core/hd.hpp"

namespace garra {

/// Longest unrolled loop. A 24 x 24 elimination, unrolled, took minutes to compile for no gain.
inline constexpr int kUnrolled = 9;

template <class F, int... K>
GARRA_HD void unrolled(std::integer_sequence<int, K...>, [[maybe_unused]] F f) {
  (f(std::integral_constant<int, K>{}), ...);
}

/// Runs f(0), f(1), ... f(extent<N>() - 1), unrolled if N is small.
template <int N, class F>
GARRA_HD void for_each_index(F f) {
  if constexpr (N >= 0 && N <= kUnrolled)
    unrolled(std::make_integer_sequence<int, N>{}, f);
  else {
#if defined(__CUDA_ARCH__)
#pragma unroll 1  // otherwise nvcc unrolls it, runs out of registers and spills tens of kilobytes
#endif
    for (int k = 0, n = extent<N>(); k < n; ++k) f(k);
  }
}

/// Runs f(1), f(2), ... f(extent<N>() - 1), for a sum that begins with its first term.
template <int N, class F>
GARRA_HD void for_each_further_index(const F& f) {
  if constexpr (N >= 0)
    for_each_index<N - 1>([&](int k) { f(k + 1); });
  else
    for (int k = 1, n = extent<N>(); k < n; ++k) f(k);
}

/// Runs f(k) for first <= k < last, indices below extent<N>().
template <int N, class F>
GARRA_HD void for_indices_between(int first, int last, const F& f) {
  if constexpr (N >= 0 && N <= kUnrolled) {
    for_each_index<N>([&](int k) {
      if (k >= first && k < last) f(k);
    });
  } else {
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#endif
    for (int k = first; k < last; ++k) f(k);
  }
}

/// Runs f(k) for each number of a matrix of R rows and C columns.
template <int R, int C, class F>
GARRA_HD void for_each_entry(F f) {
  if constexpr (R >= 0 && C >= 0)
    for_each_index<R * C>(f);
  else
    for (int k = 0, n = extent<R>() * extent<C>(); k < n; ++k) f(k);
}

}  // namespace garra
