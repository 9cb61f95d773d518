// Lanes<T>: every operation does in each lane what the scalar does, to the bit.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "garra/core/lanes.hpp"
#include "garra/core/philox.hpp"
#include "garra/core/scalar.hpp"

namespace garra {
namespace {

template <class R>
bool same_bits(R a, R b) {
  return to_bits(a) == to_bits(b) || (std::isnan(a) && std::isnan(b));
}

/// Ordinary numbers, zeros of both signs, subnormal numbers, infinities and NaN, in pairs that meet
/// each other.
template <class R>
std::vector<R> inputs() {
  using L = std::numeric_limits<R>;
  std::vector<R> x = {
      R(0),          R(-0.0),        R(1),           R(-1),  L::denorm_min(),     -L::min(), L::max(), -L::max(),
      L::infinity(), -L::infinity(), L::quiet_NaN(), R(0.1), R(1) + L::epsilon(), R(3),      R(-7.5),  R(1e-20)};
  for (std::uint64_t i = 0; i < 240; ++i) {
    R u0, u1;
    uniform_pair(1u, SampleIndex<R>::consecutive(i), 0u, u0, u1);
    x.push_back((u0 - R(0.5)) / u1);
  }
  return x;
}

/// Compares f in lanes with f lane by lane for all pairs of inputs.
template <class R, class F>
void expect_same_bits(F f) {
  using S = Lanes<R>;
  const std::vector<R> x = inputs<R>();
  for (std::size_t shift = 0; shift < x.size(); ++shift)
    for (std::size_t i = 0; i + kWidth<S> <= x.size(); i += kWidth<S>) {
      S a, b;
      for (int l = 0; l < kWidth<S>; ++l) {
        a.set(l, x[i + static_cast<std::size_t>(l)]);
        b.set(l, x[(i + static_cast<std::size_t>(l) + shift) % x.size()]);
      }
      const S got = f(a, b);
      for (int l = 0; l < kWidth<S>; ++l)
        ASSERT_TRUE(same_bits(R(got[l]), f(R(a[l]), R(b[l])))) << a[l] << ' ' << b[l] << " gives " << got[l];
    }
}

template <class R>
class LanesOf : public testing::Test {};
using Reals = testing::Types<double, float>;
TYPED_TEST_SUITE(LanesOf, Reals);

TYPED_TEST(LanesOf, ComputeTheScalarBitsInArithmetic) {
  using R = TypeParam;
  expect_same_bits<R>([](auto a, auto b) { return a + b; });
  expect_same_bits<R>([](auto a, auto b) { return a - b; });
  expect_same_bits<R>([](auto a, auto b) { return a * b; });
  expect_same_bits<R>([](auto a, auto b) { return a / b; });
  expect_same_bits<R>([](auto a, auto) { return -a; });
  expect_same_bits<R>([](auto a, auto) { return abs(a); });
  expect_same_bits<R>([](auto a, auto) { return sqrt(a); });
  expect_same_bits<R>([](auto a, auto b) {
    a += b;
    a *= b;
    a -= b;
    a /= b;
    return a;
  });
}

TYPED_TEST(LanesOf, FuseAMultiplyAddAsTheScalarDoesWithOneRounding) {
  using R = TypeParam;
  expect_same_bits<R>([](auto a, auto b) { return fma(a, b, a); });
  expect_same_bits<R>([](auto a, auto b) { return fma(-a, b, b); });
  // (1 + e)^2 - (1 + 2 e) is e^2 with one rounding and 0 with two.
  const R e = std::numeric_limits<R>::epsilon();
  const Lanes<R> x(R(1) + e);
  EXPECT_EQ(fma(x, x, Lanes<R>(-(R(1) + 2 * e)))[0], e * e);
}

TYPED_TEST(LanesOf, KeepMultiplyThenAddAsTwoRoundings) {
  // The compiler flag -ffp-contract=off is part of the numerical contract.
  using R = TypeParam;
  const volatile R one_plus = R(1) + std::numeric_limits<R>::epsilon();
  const R x = one_plus, c = R(1) + 2 * std::numeric_limits<R>::epsilon();
  EXPECT_EQ(x * x - c, R(0));
  EXPECT_EQ((Lanes<R>(x) * Lanes<R>(x) - Lanes<R>(c))[0], R(0));
}

TYPED_TEST(LanesOf, TakeTheFirstOperandOfMinAndMaxWhenEitherIsNan) {
  using R = TypeParam;
  expect_same_bits<R>([](auto a, auto b) { return min(a, b); });
  expect_same_bits<R>([](auto a, auto b) { return max(a, b); });
  const R nan = std::numeric_limits<R>::quiet_NaN();
  EXPECT_EQ(min(Lanes<R>(2), Lanes<R>(nan))[0], R(2));
  EXPECT_TRUE(std::isnan(max(Lanes<R>(nan), Lanes<R>(2))[0]));
  EXPECT_TRUE(std::signbit(min(Lanes<R>(R(-0.0)), Lanes<R>(R(0)))[0]));
  EXPECT_FALSE(std::signbit(max(Lanes<R>(R(0)), Lanes<R>(R(-0.0)))[0]));
}

TYPED_TEST(LanesOf, CompareAndSelectLaneByLane) {
  using R = TypeParam;
  expect_same_bits<R>([](auto a, auto b) { return select(a < b, a, b); });
  expect_same_bits<R>([](auto a, auto b) { return select(a <= b, a, b); });
  expect_same_bits<R>([](auto a, auto b) { return select(a > b, a, b); });
  expect_same_bits<R>([](auto a, auto b) { return select(a >= b, a, b); });
  expect_same_bits<R>([](auto a, auto b) { return select(a == b, a, b); });
  expect_same_bits<R>([](auto a, auto b) { return select(a != b, a, b); });
  expect_same_bits<R>([](auto a, auto b) { return select(!(a < b) && (a == a || b == b), a, b); });
  expect_same_bits<R>([](auto a, auto b) { return select(select_mask(a < b, a == a, b == b), a, b); });
  expect_same_bits<R>([](auto a, auto) { return select(is_finite(a), a, decltype(a)(R(5))); });
}

TYPED_TEST(LanesOf, ReduceMasksOverAllLanes) {
  using S = Lanes<TypeParam>;
  LanesMask<TypeParam> m(false);
  EXPECT_FALSE(any(m));
  m.set(S::kSize - 1, true);
  EXPECT_TRUE(any(m));
  EXPECT_FALSE(all(m));
  EXPECT_TRUE(m[S::kSize - 1]);
  EXPECT_FALSE(m[0]);
  EXPECT_TRUE(all(m || !m));
}

TYPED_TEST(LanesOf, LoadAndStoreConsecutiveValues) {
  using S = Lanes<TypeParam>;
  alignas(64) TypeParam in[2 * S::kSize], out[2 * S::kSize];
  for (int l = 0; l < 2 * S::kSize; ++l) in[l] = static_cast<TypeParam>(l);
  S::load(in).store(out);
  S::load_unaligned(in + 1).store_unaligned(out + S::kSize);
  for (int l = 0; l < S::kSize; ++l) {
    EXPECT_EQ(out[l], in[l]);
    EXPECT_EQ(out[S::kSize + l], in[l + 1]);
  }
}

TYPED_TEST(LanesOf, TakeBitsApartAndTogether) {
  using R = TypeParam;
  using S = Lanes<R>;
  static_assert(kWidth<BitsOf<S>> == kWidth<S>);
  for (const R x : inputs<R>()) {
    const S a(x);
    EXPECT_EQ(BitsOf<R>(to_bits(a)[S::kSize - 1]), to_bits(x));
    EXPECT_TRUE(same_bits(R(from_bits<S>(to_bits(a))[0]), x));
  }
}

TEST(IntegerLanes, MultiplyHalvesAndTakeHighProductsAsTheScalarDoes) {
  using W = Lanes<std::uint64_t>;
  using V = Lanes<std::uint32_t>;
  for (std::uint64_t i = 0; i < 100; ++i) {
    const auto a = random_block<double>(3u, SampleIndex<double>::consecutive(i), 0u);
    for (int shift = 0; shift < 4; ++shift) {
      const std::uint64_t x = a.word[0] << (8 * shift), y = a.word[1] << (31 - shift);
      EXPECT_EQ(product_of_low_halves(W(x), W(y))[W::kSize - 1], product_of_low_halves(x, y));
    }
    V p, q;
    for (int l = 0; l < V::kSize; ++l) {
      p.set(l, static_cast<std::uint32_t>(a.word[0] * static_cast<unsigned>(l + 1)));
      q.set(l, static_cast<std::uint32_t>(a.word[1] ^ static_cast<unsigned>(l << 20)));
    }
    const V h = high_product(p, q);
    for (int l = 0; l < V::kSize; ++l) EXPECT_EQ(h[l], high_product(std::uint32_t{p[l]}, std::uint32_t{q[l]}));
  }
  const W number = ScalarTraits<W>::lane_numbers();
  for (int l = 0; l < W::kSize; ++l) EXPECT_EQ(number[l], static_cast<std::uint64_t>(l));
}

}  // namespace
}  // namespace garra
