// Lanes<T>: one SIMD register of T, one problem per lane. The only header that uses the compiler's
// vectors and the processor's intrinsics; nvcc must never see it (lanes are compiled by the host
// compiler only).
//
// It uses vector types of GCC and clang, not std::experimental::simd, where each operation passes
// through five templates or more: a large part of the compile time. CMakeLists.txt gives GCC the
// options that it needs to be as fast (GARRA_LANES_GCC).
#pragma once

#include "garra/core/scalar.hpp"

#if defined(__CUDACC__)
#error "garra/core/lanes.hpp is for the host compiler: a GPU thread works on S = double"
#elif defined(__clang__) && defined(__AVX512F__)
#error "clang 14 makes wrong code of masked moves of 512 bits: compile with -mno-avx512f"
#endif

#include <immintrin.h>

namespace garra {

/// How the processor's registers hold numbers and the results of comparisons.
namespace registers {

#if defined(__AVX512F__) && defined(__AVX512DQ__)
inline constexpr int kBytes = 64;
#elif defined(__AVX2__)
inline constexpr int kBytes = 32;
#else
inline constexpr int kBytes = 16;
#endif

template <class T>
struct VectorOf {
  typedef T type __attribute__((vector_size(kBytes)));
  typedef T unaligned __attribute__((vector_size(kBytes), aligned(alignof(T))));
};
template <class T>
using Unaligned = typename VectorOf<T>::unaligned;
template <class T>
using Vector = typename VectorOf<T>::type;

enum class Order { kEqual, kLess, kLessEqual };

#if defined(__AVX512F__) && defined(__AVX512DQ__)

// One bit per lane, in a mask register. By intrinsics: the compiler would use whole registers.
template <class T>
using MaskOf = std::conditional_t<sizeof(T) == 8, __mmask8, __mmask16>;

GARRA_HD __mmask8 both(__mmask8 a, __mmask8 b) { return _kand_mask8(a, b); }
GARRA_HD __mmask16 both(__mmask16 a, __mmask16 b) { return _kand_mask16(a, b); }
GARRA_HD __mmask8 either(__mmask8 a, __mmask8 b) { return _kor_mask8(a, b); }
GARRA_HD __mmask16 either(__mmask16 a, __mmask16 b) { return _kor_mask16(a, b); }
GARRA_HD __mmask8 opposite(__mmask8 a) { return _knot_mask8(a); }
GARRA_HD __mmask16 opposite(__mmask16 a) { return _knot_mask16(a); }
template <class M>
GARRA_HD bool any(M m) {
  return m != 0;
}
template <class M>
GARRA_HD bool all(M m) {
  return m == static_cast<M>(-1);
}
template <class T>
GARRA_HD MaskOf<T> make_mask(bool b) {
  return static_cast<MaskOf<T>>(-static_cast<int>(b));
}
template <class M>
GARRA_HD bool get_lane(M m, int lane) {
  return (m >> lane & 1) != 0;
}
template <class M>
GARRA_HD void set_lane(M& m, int lane, bool value) {
  m = static_cast<M>((m & ~(1 << lane)) | static_cast<int>(value) << lane);
}

template <class T, Order kOrder>
GARRA_HD MaskOf<T> compare(const Vector<T>& a, const Vector<T>& b) {
  constexpr int how = kOrder == Order::kEqual ? 0 : kOrder == Order::kLess ? 1 : 2;  // of numbers and of words alike
  if constexpr (std::is_same_v<T, double>)
    return _mm512_cmp_pd_mask(a, b, how);
  else if constexpr (std::is_same_v<T, float>)
    return _mm512_cmp_ps_mask(a, b, how);
  else if constexpr (sizeof(T) == 8)
    return _mm512_cmp_epu64_mask(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b), how);
  else
    return _mm512_cmp_epu32_mask(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b), how);
}
template <class T>
GARRA_HD Vector<T> blend(MaskOf<T> m, const Vector<T>& a, const Vector<T>& b) {
  if constexpr (std::is_same_v<T, double>)
    return _mm512_mask_blend_pd(m, b, a);
  else if constexpr (std::is_same_v<T, float>)
    return _mm512_mask_blend_ps(m, b, a);
  else if constexpr (sizeof(T) == 8)
    return reinterpret_cast<Vector<T>>(
        _mm512_mask_blend_epi64(m, reinterpret_cast<__m512i>(b), reinterpret_cast<__m512i>(a)));
  else
    return reinterpret_cast<Vector<T>>(
        _mm512_mask_blend_epi32(m, reinterpret_cast<__m512i>(b), reinterpret_cast<__m512i>(a)));
}

#else

// All bits of a lane, or none.
template <class T>
using MaskOf = Vector<std::conditional_t<sizeof(T) == 8, long long, int>>;

template <class M>
GARRA_HD M both(M a, M b) {
  return a & b;
}
template <class M>
GARRA_HD M either(M a, M b) {
  return a | b;
}
template <class M>
GARRA_HD M opposite(M a) {
  return ~a;
}
template <class M>
GARRA_HD bool get_lane(M m, int lane) {
  return m[lane] != 0;
}
template <class M>
GARRA_HD void set_lane(M& m, int lane, bool value) {
  m[lane] = -static_cast<int>(value);
}
/// One bit per byte of a register.
template <class M>
GARRA_HD unsigned bytes_set(M m) {
#if defined(__AVX2__)
  return static_cast<unsigned>(_mm256_movemask_epi8(reinterpret_cast<__m256i>(m)));
#elif defined(__SSE2__)
  return static_cast<unsigned>(_mm_movemask_epi8(reinterpret_cast<__m128i>(m)));
#else
  unsigned set = 0;
  constexpr int lanes = kBytes / static_cast<int>(sizeof m[0]), bytes = static_cast<int>(sizeof m[0]);
  for (int l = 0; l < lanes; ++l) set |= m[l] != 0 ? ((1u << bytes) - 1) << (l * bytes) : 0u;
  return set;
#endif
}
template <class M>
GARRA_HD bool any(M m) {
  return bytes_set(m) != 0;
}
template <class M>
GARRA_HD bool all(M m) {
  return bytes_set(m) == (kBytes == 32 ? 0xffffffffu : 0xffffu);
}
template <class T>
GARRA_HD MaskOf<T> make_mask(bool b) {
  return MaskOf<T>{} - static_cast<int>(b);
}

template <class T, Order kOrder>
GARRA_HD MaskOf<T> compare(const Vector<T>& a, const Vector<T>& b) {
  if constexpr (kOrder == Order::kEqual)
    return reinterpret_cast<MaskOf<T>>(a == b);
  else if constexpr (kOrder == Order::kLess)
    return reinterpret_cast<MaskOf<T>>(a < b);
  else
    return reinterpret_cast<MaskOf<T>>(a <= b);
}
template <class T>
GARRA_HD Vector<T> blend(MaskOf<T> m, const Vector<T>& a, const Vector<T>& b) {
  return m ? a : b;
}

#endif

/// a b + c with one rounding.
template <class T>
GARRA_HD Vector<T> fused(const Vector<T>& a, const Vector<T>& b, const Vector<T>& c) {
#if defined(__AVX512F__) && defined(__AVX512DQ__)
  if constexpr (std::is_same_v<T, double>)
    return _mm512_fmadd_pd(a, b, c);
  else
    return _mm512_fmadd_ps(a, b, c);
#elif defined(__AVX2__) && defined(__FMA__)
  if constexpr (std::is_same_v<T, double>)
    return _mm256_fmadd_pd(a, b, c);
  else
    return _mm256_fmadd_ps(a, b, c);
#else
  Vector<T> sum;
  for (int l = 0; l < kBytes / static_cast<int>(sizeof(T)); ++l) sum[l] = std::fma(a[l], b[l], c[l]);
  return sum;
#endif
}
/// c - a b with one rounding. The compiler does not find the instruction where it shares -a among several.
template <class T>
GARRA_HD Vector<T> fused_negative(const Vector<T>& a, const Vector<T>& b, const Vector<T>& c) {
#if defined(__AVX512F__) && defined(__AVX512DQ__)
  if constexpr (std::is_same_v<T, double>) return _mm512_fnmadd_pd(a, b, c);
#elif defined(__AVX2__) && defined(__FMA__)
  if constexpr (std::is_same_v<T, double>) return _mm256_fnmadd_pd(a, b, c);
#endif
  return fused<T>(-a, b, c);
}
template <class T>
GARRA_HD Vector<T> root(const Vector<T>& a) {
#if defined(__AVX512F__) && defined(__AVX512DQ__)
  if constexpr (std::is_same_v<T, double>)
    return _mm512_sqrt_pd(a);
  else
    return _mm512_sqrt_ps(a);
#elif defined(__AVX2__)
  if constexpr (std::is_same_v<T, double>)
    return _mm256_sqrt_pd(a);
  else
    return _mm256_sqrt_ps(a);
#else
  Vector<T> r;
  for (int l = 0; l < kBytes / static_cast<int>(sizeof(T)); ++l) r[l] = std::sqrt(a[l]);
  return r;
#endif
}

}  // namespace registers

/// Result of comparing Lanes<T>. Combine with &&, ||, ! (no short circuit).
template <class T>
struct LanesMask {
  using Register = registers::MaskOf<T>;
  Register m;

  LanesMask() = default;
  GARRA_HD LanesMask(bool b) : m(registers::make_mask<T>(b)) {}
  static GARRA_HD LanesMask of(Register m) {
    LanesMask mask;
    mask.m = m;
    return mask;
  }

  GARRA_HD bool operator[](int lane) const { return registers::get_lane(m, lane); }
  GARRA_HD void set(int lane, bool value) { registers::set_lane(m, lane, value); }

  friend GARRA_HD LanesMask operator&&(LanesMask a, LanesMask b) { return of(registers::both(a.m, b.m)); }
  friend GARRA_HD LanesMask operator||(LanesMask a, LanesMask b) { return of(registers::either(a.m, b.m)); }
  friend GARRA_HD LanesMask operator!(LanesMask a) { return of(registers::opposite(a.m)); }
};

template <class T>
GARRA_HD bool any(LanesMask<T> m) {
  return registers::any(m.m);
}
template <class T>
GARRA_HD bool all(LanesMask<T> m) {
  return registers::all(m.m);
}
template <class T>
GARRA_HD LanesMask<T> select_mask(LanesMask<T> m, LanesMask<T> a, LanesMask<T> b) {
  return (m && a) || (!m && b);
}

template <class T>
struct Lanes {
  using Register = registers::Vector<T>;
  using Mask = LanesMask<T>;
  static constexpr int kSize = registers::kBytes / static_cast<int>(sizeof(T));
  Register v;

  Lanes() = default;
  GARRA_HD Lanes(Register r) : v(r) {}
  /// Broadcast; any arithmetic constant converts to T so that `2 * x` and `S(1)` read as in scalar code.
  template <class U, class = std::enable_if_t<std::is_arithmetic_v<U>>>
  GARRA_HD Lanes(U u) : v(static_cast<T>(u) - Register{}) {}  // the compilers' word for it: x - 0 is x, -0 too

  /// Loads kSize consecutive values; `p` is aligned to the register.
  static GARRA_HD Lanes load(const T* p) { return *reinterpret_cast<const Register*>(p); }
  static GARRA_HD Lanes load_unaligned(const T* p) { return *reinterpret_cast<const registers::Unaligned<T>*>(p); }
  GARRA_HD void store(T* p) const { *reinterpret_cast<Register*>(p) = v; }
  GARRA_HD void store_unaligned(T* p) const { *reinterpret_cast<registers::Unaligned<T>*>(p) = v; }

  GARRA_HD T operator[](int lane) const { return v[lane]; }
  GARRA_HD void set(int lane, T value) { v[lane] = value; }

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

  friend GARRA_HD Mask operator<(Lanes a, Lanes b) { return compared<registers::Order::kLess>(a, b); }
  friend GARRA_HD Mask operator<=(Lanes a, Lanes b) { return compared<registers::Order::kLessEqual>(a, b); }
  friend GARRA_HD Mask operator>(Lanes a, Lanes b) { return compared<registers::Order::kLess>(b, a); }
  friend GARRA_HD Mask operator>=(Lanes a, Lanes b) { return compared<registers::Order::kLessEqual>(b, a); }
  friend GARRA_HD Mask operator==(Lanes a, Lanes b) { return compared<registers::Order::kEqual>(a, b); }
  friend GARRA_HD Mask operator!=(Lanes a, Lanes b) { return !(a == b); }

  // Integer lanes only (Philox, exponent bits).
  friend GARRA_HD Lanes operator&(Lanes a, Lanes b) { return a.v & b.v; }
  friend GARRA_HD Lanes operator|(Lanes a, Lanes b) { return a.v | b.v; }
  friend GARRA_HD Lanes operator^(Lanes a, Lanes b) { return a.v ^ b.v; }
  friend GARRA_HD Lanes operator<<(Lanes a, int n) { return a.v << static_cast<T>(n); }
  friend GARRA_HD Lanes operator>>(Lanes a, int n) { return a.v >> static_cast<T>(n); }

 private:
  template <registers::Order kOrder>
  static GARRA_HD Mask compared(const Lanes& a, const Lanes& b) {
    return Mask::of(registers::compare<T, kOrder>(a.v, b.v));
  }
};

/// Without FMA every lane's fma is a call: problems are solved one by one, with the same bits.
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
    Lanes<T> numbers;
    for (int lane = 0; lane < kWidth; ++lane) numbers.set(lane, static_cast<T>(lane));
    return numbers;
  }
};

template <class T>
GARRA_HD Lanes<T> select(LanesMask<T> m, Lanes<T> a, Lanes<T> b) {
  return registers::blend<T>(m.m, a.v, b.v);
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
  return registers::fused<T>(a.v, b.v, c.v);
}
template <class T>
GARRA_HD Lanes<T> fnma(Lanes<T> a, Lanes<T> b, Lanes<T> c) {
  return registers::fused_negative<T>(a.v, b.v, c.v);
}
template <class T>
GARRA_HD Lanes<T> sqrt(Lanes<T> a) {
  return registers::root<T>(a.v);
}
/// sqrt(a), to the bit, without the divider: 7 instead of 24 cycles for eight numbers
/// (square_root.hpp).
///
/// Goldschmidt's g -> sqrt(a) and h -> 1 / (2 sqrt(a)), with e = 1/2 - g h, from the 14 bits of
/// vrsqrt14pd. The series (1 - 2 e)^(-1/2) = 1 + e + 3/2 e^2 + 5/2 e^3 + ... leaves less than
/// 2^-53. Markstein's last step (IBM J. Res. Dev. 34 (1990) 111) rounds correctly because h is as
/// good as g. Test: tests/core/test_square_root.cpp tries the arguments whose roots are closest to
/// the middle between two numbers. If a is zero, negative, not finite or so small that a - g^2 is
/// not exact, h is NaN or large; the processor's square root computes these lanes.
template <class T>
GARRA_HD Lanes<T> sqrt_by_fma(Lanes<T> a) {
#if defined(__AVX512F__) && defined(__AVX512DQ__)
  if constexpr (std::is_same_v<T, double>) {
    const Lanes<T> half(0.5), seed(_mm512_rsqrt14_pd(a.v));
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
  using Bits = BitsOf<Lanes<T>>;
  constexpr auto sign = static_cast<RealOf<Bits>>(1) << (8 * sizeof(T) - 1);
  return std::bit_cast<Lanes<T>>(std::bit_cast<Bits>(a) & Bits(~sign));
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
  // Written with halves: GCC otherwise multiplies all 64 bits, in three instructions or more.
  using Word = Lanes<std::uint64_t>;
#if defined(__AVX512F__) && defined(__AVX512DQ__)
  return reinterpret_cast<Word::Register>(
      _mm512_mul_epu32(reinterpret_cast<__m512i>(a.v), reinterpret_cast<__m512i>(b.v)));
#elif defined(__AVX2__)
  return reinterpret_cast<Word::Register>(
      _mm256_mul_epu32(reinterpret_cast<__m256i>(a.v), reinterpret_cast<__m256i>(b.v)));
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
