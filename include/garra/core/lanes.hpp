// Lanes<T>: one SIMD register of T, one problem per lane. The only header that knows
// std::experimental::simd; nvcc must never see it (lanes are compiled by the host compiler only).
#pragma once

#include "garra/core/scalar.hpp"

#if defined(__CUDACC__)
#error "garra/core/lanes.hpp is for the host compiler: a GPU thread works on S = double"
#elif defined(__clang__) && defined(__AVX512F__)
#error "clang 14 makes wrong code of libstdc++'s masked moves of 512 bits: compile with -mno-avx512f"
#endif

#include <immintrin.h>

#include <cstring>
#include <experimental/simd>

namespace garra {

namespace stdx = std::experimental;

/// Result of comparing Lanes<T>. Combine with &&, ||, ! (no short circuit).
template <class T>
struct LanesMask {
  using Simd = stdx::native_simd<T>;
  typename Simd::mask_type m;

  LanesMask() = default;
  GARRA_HD LanesMask(typename Simd::mask_type mask) : m(mask) {}
  GARRA_HD LanesMask(bool b) : m(b) {}

  GARRA_HD bool operator[](int lane) const { return m[static_cast<std::size_t>(lane)]; }
  GARRA_HD void set(int lane, bool value) { m[static_cast<std::size_t>(lane)] = value; }

  friend GARRA_HD LanesMask operator&&(LanesMask a, LanesMask b) { return a.m && b.m; }
  friend GARRA_HD LanesMask operator||(LanesMask a, LanesMask b) { return a.m || b.m; }
  friend GARRA_HD LanesMask operator!(LanesMask a) { return !a.m; }
};

template <class T>
GARRA_HD bool any(LanesMask<T> m) {
  return stdx::any_of(m.m);
}
template <class T>
GARRA_HD bool all(LanesMask<T> m) {
  return stdx::all_of(m.m);
}
template <class T>
GARRA_HD LanesMask<T> select_mask(LanesMask<T> m, LanesMask<T> a, LanesMask<T> b) {
  return (m && a) || (!m && b);
}

template <class T>
struct Lanes {
  using Simd = stdx::native_simd<T>;
  using Mask = LanesMask<T>;
  static constexpr int kSize = static_cast<int>(Simd::size());
  Simd v;

  Lanes() = default;
  GARRA_HD Lanes(Simd simd) : v(simd) {}
  /// Broadcast; any arithmetic constant converts to T so that `2 * x` and `S(1)` read as in scalar code.
  template <class U, class = std::enable_if_t<std::is_arithmetic_v<U>>>
  GARRA_HD Lanes(U u) : v(static_cast<T>(u)) {}

  /// Loads kSize consecutive values; `p` is aligned to the register.
  static GARRA_HD Lanes load(const T* p) { return Simd(p, stdx::vector_aligned); }
  static GARRA_HD Lanes load_unaligned(const T* p) { return Simd(p, stdx::element_aligned); }
  GARRA_HD void store(T* p) const { v.copy_to(p, stdx::vector_aligned); }
  GARRA_HD void store_unaligned(T* p) const { v.copy_to(p, stdx::element_aligned); }

  GARRA_HD T operator[](int lane) const { return v[static_cast<std::size_t>(lane)]; }
  GARRA_HD void set(int lane, T value) { v[static_cast<std::size_t>(lane)] = value; }

  friend GARRA_HD Lanes operator+(Lanes a, Lanes b) { return a.v + b.v; }
  friend GARRA_HD Lanes operator-(Lanes a, Lanes b) { return a.v - b.v; }
  friend GARRA_HD Lanes operator*(Lanes a, Lanes b) { return a.v * b.v; }
  friend GARRA_HD Lanes operator/(Lanes a, Lanes b) { return a.v / b.v; }
  friend GARRA_HD Lanes operator-(Lanes a) { return -a.v; }
  GARRA_HD Lanes& operator+=(Lanes b) {
    v += b.v;
    return *this;
  }
  GARRA_HD Lanes& operator-=(Lanes b) {
    v -= b.v;
    return *this;
  }
  GARRA_HD Lanes& operator*=(Lanes b) {
    v *= b.v;
    return *this;
  }
  GARRA_HD Lanes& operator/=(Lanes b) {
    v /= b.v;
    return *this;
  }

  friend GARRA_HD Mask operator<(Lanes a, Lanes b) { return a.v < b.v; }
  friend GARRA_HD Mask operator<=(Lanes a, Lanes b) { return a.v <= b.v; }
  friend GARRA_HD Mask operator>(Lanes a, Lanes b) { return a.v > b.v; }
  friend GARRA_HD Mask operator>=(Lanes a, Lanes b) { return a.v >= b.v; }
  friend GARRA_HD Mask operator==(Lanes a, Lanes b) { return a.v == b.v; }
  friend GARRA_HD Mask operator!=(Lanes a, Lanes b) { return a.v != b.v; }

  // Integer lanes only (Philox, exponent bits).
  friend GARRA_HD Lanes operator&(Lanes a, Lanes b) { return a.v & b.v; }
  friend GARRA_HD Lanes operator|(Lanes a, Lanes b) { return a.v | b.v; }
  friend GARRA_HD Lanes operator^(Lanes a, Lanes b) { return a.v ^ b.v; }
  friend GARRA_HD Lanes operator<<(Lanes a, int n) { return a.v << n; }
  friend GARRA_HD Lanes operator>>(Lanes a, int n) { return a.v >> n; }
};

/// Without the instruction for it every lane's fma is a call: executors then take problems one by one, the same bits.
#if defined(__FMA__)
inline constexpr bool kLanesPay = true;
#else
inline constexpr bool kLanesPay = false;
#endif

template <class T>
struct ScalarTraits<Lanes<T>> {
  using Real = T;
  using Mask = LanesMask<T>;
  using Bits = Lanes<typename ScalarTraits<T>::Bits>;
  static constexpr int kWidth = Lanes<T>::kSize;
  static GARRA_HD Lanes<T> lane_numbers() {
    return typename Lanes<T>::Simd([](auto lane) { return static_cast<T>(static_cast<int>(lane)); });
  }
};

template <class T>
GARRA_HD Lanes<T> select(LanesMask<T> m, Lanes<T> a, Lanes<T> b) {
  stdx::where(m.m, b.v) = a.v;
  return b;
}
// Constants as operands of select, so that scalar and lane code read alike.
template <class T, class U, class = std::enable_if_t<std::is_arithmetic_v<U>>>
GARRA_HD Lanes<T> select(LanesMask<T> m, U a, Lanes<T> b) {
  return select(m, Lanes<T>(a), b);
}
template <class T, class U, class = std::enable_if_t<std::is_arithmetic_v<U>>>
GARRA_HD Lanes<T> select(LanesMask<T> m, Lanes<T> a, U b) {
  return select(m, a, Lanes<T>(b));
}

template <class T>
GARRA_HD Lanes<T> fma(Lanes<T> a, Lanes<T> b, Lanes<T> c) {
#if defined(__AVX512F__)
  if constexpr (std::is_same_v<T, double> && Lanes<T>::kSize == 8) {
    return typename Lanes<T>::Simd(
        _mm512_fmadd_pd(static_cast<__m512d>(a.v), static_cast<__m512d>(b.v), static_cast<__m512d>(c.v)));
  } else if constexpr (std::is_same_v<T, float> && Lanes<T>::kSize == 16) {
    return typename Lanes<T>::Simd(
        _mm512_fmadd_ps(static_cast<__m512>(a.v), static_cast<__m512>(b.v), static_cast<__m512>(c.v)));
  }
#elif defined(__FMA__)
  if constexpr (std::is_same_v<T, double> && Lanes<T>::kSize == 4) {
    return typename Lanes<T>::Simd(
        _mm256_fmadd_pd(static_cast<__m256d>(a.v), static_cast<__m256d>(b.v), static_cast<__m256d>(c.v)));
  } else if constexpr (std::is_same_v<T, float> && Lanes<T>::kSize == 8) {
    return typename Lanes<T>::Simd(
        _mm256_fmadd_ps(static_cast<__m256>(a.v), static_cast<__m256>(b.v), static_cast<__m256>(c.v)));
  }
#endif
  return typename Lanes<T>::Simd([&](auto i) { return std::fma(T(a.v[i]), T(b.v[i]), T(c.v[i])); });
}
template <class T>
GARRA_HD Lanes<T> fnma(Lanes<T> a, Lanes<T> b, Lanes<T> c) {
#if defined(__AVX512F__)
  if constexpr (std::is_same_v<T, double> && Lanes<T>::kSize == 8) {
    return typename Lanes<T>::Simd(
        _mm512_fnmadd_pd(static_cast<__m512d>(a.v), static_cast<__m512d>(b.v), static_cast<__m512d>(c.v)));
  }
#endif
  return fma(-a, b, c);
}
template <class T>
GARRA_HD Lanes<T> sqrt(Lanes<T> a) {
  return typename Lanes<T>::Simd(stdx::sqrt(a.v));
}
/// sqrt(a), to the bit, without the divider: 7 instead of 24 cycles for eight numbers (square_root.hpp).
///
/// Goldschmidt's g -> sqrt(a) and h -> 1 / (2 sqrt(a)), with e = 1/2 - g h, from the 14 bits of vrsqrt14pd:
/// (1 - 2 e)^(-1/2) = 1 + e + 3/2 e^2 + 5/2 e^3 + ... leaves less than 2^-53. Then Markstein's last step (IBM J. Res.
/// Dev. 34 (1990) 111), which rounds correctly because h is as good as g is: tests/core/test_square_root.cpp tries the
/// arguments whose roots are closest to the middle between two numbers. Where a is zero, negative, not finite or so
/// small that a - g^2 is not exact, h is NaN or large: those are left to the processor.
template <class T>
GARRA_HD Lanes<T> sqrt_by_fma(Lanes<T> a) {
#if defined(__AVX512F__)
  if constexpr (std::is_same_v<T, double> && Lanes<T>::kSize == 8) {
    const Lanes<T> half(0.5), seed = typename Lanes<T>::Simd(_mm512_rsqrt14_pd(static_cast<__m512d>(a.v)));
    Lanes<T> g = a * seed, h = seed * half;
    const Lanes<T> e = fnma(g, h, half);
    const Lanes<T> correction = e * fma(fma(Lanes<T>(2.5), e, Lanes<T>(1.5)), e, Lanes<T>(1));
    g = fma(g, correction, g);
    h = fma(h, correction, h);
    if (!all(h < Lanes<T>(0x1p480))) [[unlikely]]
      return sqrt(a);
    return fma(fnma(g, g, a), h, g);
  }
#endif
  return sqrt(a);
}
template <class T>
GARRA_HD Lanes<T> abs(Lanes<T> a) {
  return typename Lanes<T>::Simd(stdx::abs(a.v));
}
template <class T>
GARRA_HD Lanes<T> min(Lanes<T> a, Lanes<T> b) {
  return select(b < a, b, a);
}
template <class T>
GARRA_HD Lanes<T> max(Lanes<T> a, Lanes<T> b) {
  return select(a < b, b, a);
}
template <class T>
GARRA_HD BitsOf<Lanes<T>> to_bits(Lanes<T> a) {
  return std::bit_cast<BitsOf<Lanes<T>>>(a);
}
GARRA_HD Lanes<std::uint64_t> product_of_low_halves(Lanes<std::uint64_t> a, Lanes<std::uint64_t> b) {
  // Spelled out because GCC multiplies all 64 bits otherwise, which takes three instructions or more.
  using Word = Lanes<std::uint64_t>;
#if defined(__AVX512F__)
  static_assert(Word::kSize == 8);
  return Word::Simd(_mm512_mul_epu32(static_cast<__m512i>(a.v), static_cast<__m512i>(b.v)));
#elif defined(__AVX2__)
  static_assert(Word::kSize == 4);
  return Word::Simd(_mm256_mul_epu32(static_cast<__m256i>(a.v), static_cast<__m256i>(b.v)));
#else
  return (a & Word(0xffffffffu)) * (b & Word(0xffffffffu));
#endif
}
GARRA_HD Lanes<std::uint32_t> high_product(Lanes<std::uint32_t> a, Lanes<std::uint32_t> b) {
  using Pair = Lanes<std::uint64_t>;
  const Pair a2 = std::bit_cast<Pair>(a), b2 = std::bit_cast<Pair>(b);
  const Pair even = product_of_low_halves(a2, b2) >> 32;
  const Pair odd = product_of_low_halves(a2 >> 32, b2 >> 32) & Pair(0xffffffff00000000u);
  return std::bit_cast<Lanes<std::uint32_t>>(even | odd);
}
// Mixed operands: a constant is broadcast.
template <class T, class U, class = std::enable_if_t<std::is_arithmetic_v<U>>>
GARRA_HD Lanes<T> min(Lanes<T> a, U b) {
  return min(a, Lanes<T>(b));
}
template <class T, class U, class = std::enable_if_t<std::is_arithmetic_v<U>>>
GARRA_HD Lanes<T> max(Lanes<T> a, U b) {
  return max(a, Lanes<T>(b));
}

}  // namespace garra
