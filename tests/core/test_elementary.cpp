// sincos, atan2, acos, asin, exp, log: accuracy against the C library in long double, IEEE edge
// cases, and equal bits in lanes and in scalar code.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "garra/core/elementary.hpp"
#include "garra/core/lanes.hpp"
#include "garra/core/philox.hpp"

namespace garra {
namespace {

constexpr int kSamples = 400000;
const double kNan = std::numeric_limits<double>::quiet_NaN();
const double kInf = std::numeric_limits<double>::infinity();

/// Error of `got` in units of the last place of R at the true value; 0 where both are the same
/// infinity or NaN.
template <class R>
double ulp_error(R got, long double truth) {
  if (std::isnan(truth)) return std::isnan(got) ? 0.0 : kInf;
  if (std::isnan(got)) return kInf;
  const long double rounded = static_cast<R>(truth);
  if (std::isinf(static_cast<R>(rounded)) || std::isinf(got)) return static_cast<R>(rounded) == got ? 0.0 : kInf;
  if (truth == 0) return got == 0 ? 0.0 : kInf;
  int exponent;
  std::frexp(truth, &exponent);
  const int last = std::max(exponent - std::numeric_limits<R>::digits,
                            std::numeric_limits<R>::min_exponent - std::numeric_limits<R>::digits);
  return static_cast<double>(std::fabs(static_cast<long double>(got) - truth) / std::ldexp(1.0L, last));
}

struct Worst {
  double ulp = 0;
  double x = 0, y = 0;
  void add(double error, double at, double at_y = 0) {
    if (!(error <= ulp)) *this = {error, at, at_y};
  }
};

/// Uniform in (lo, hi).
template <class R>
std::vector<R> uniform_inputs(double lo, double hi, std::uint32_t draw) {
  std::vector<R> x(kSamples);
  for (std::size_t i = 0; i < x.size(); ++i) {
    double u0, u1;
    uniform_pair(11u, SampleIndex<double>::consecutive(i), draw, u0, u1);
    x[i] = static_cast<R>(lo + (hi - lo) * u0);
  }
  return x;
}
/// Both signs, binary exponents uniform in [lo, hi].
template <class R>
std::vector<R> wide_inputs(int lo, int hi, std::uint32_t draw) {
  std::vector<R> x(kSamples);
  for (std::size_t i = 0; i < x.size(); ++i) {
    double u0, u1;
    uniform_pair(12u, SampleIndex<double>::consecutive(i), draw, u0, u1);
    const double mantissa = 1.0 + std::fabs(2 * u0 - 1);
    const int exponent = lo + static_cast<int>(u1 * (hi - lo + 1));
    x[i] = static_cast<R>(std::copysign(std::ldexp(mantissa, exponent), u0 - 0.5));
  }
  return x;
}
/// Zeros, infinities, NaN, ends of the range and their surroundings.
template <class R>
std::vector<R> edge_inputs() {
  using L = std::numeric_limits<R>;
  std::vector<R> edges;
  for (const R x : {R(0),
                    L::denorm_min(),
                    R(3) * L::denorm_min(),
                    L::min(),
                    L::epsilon(),
                    R(0.3),
                    R(0.41421356),
                    R(0.5),
                    R(0.70710678),
                    R(1),
                    R(1.41421356),
                    R(1.5707963267948966),
                    R(2),
                    R(3.141592653589793),
                    R(10),
                    R(88),
                    R(103),
                    R(708),
                    R(745),
                    R(9.9e4),
                    R(1e6),
                    R(1e15),
                    L::max() / 4,
                    L::max(),
                    L::infinity(),
                    L::quiet_NaN()})
    for (const R y : {x, std::nextafter(x, R(0)), std::nextafter(x, L::infinity())}) {
      edges.push_back(y);
      edges.push_back(-y);
    }
  while (edges.size() % 16 != 0) edges.push_back(R(1));
  return edges;
}

/// Largest error of f against truth over x; recorded in the test report under `name`.
template <class R, class F, class T>
Worst worst_error(const std::string& name, const std::vector<R>& inputs, F f, T truth) {
  Worst worst;
  for (const R x : inputs) worst.add(ulp_error(f(x), truth(static_cast<long double>(x))), static_cast<double>(x));
  testing::Test::RecordProperty(name, std::to_string(worst.ulp) + " ulp at " + std::to_string(worst.x));
  return worst;
}

// Bounds, in units of the last place: 1/2 for the final rounding, plus one rounding that precedes
// it at the same magnitude (sincos, exp, log: below half of that), two for asin and acos near 1/2,
// three for atan2, whose quotient, numerator and denominator are rounded. quick_sincos rounds the
// reduced angle as well.
constexpr double kSinCosUlp = 0.85;
constexpr double kQuickSinCosUlp = 1.5;
constexpr double kExpLogUlp = 1.0;
constexpr double kArcUlp = 1.5;
constexpr double kAtan2Ulp = 2.0;

template <class R>
class Elementary : public testing::Test {};
using Reals = testing::Types<double, float>;
TYPED_TEST_SUITE(Elementary, Reals);

TYPED_TEST(Elementary, SinCosAreCorrectToTheLastPlaceBelowOneHundredThousand) {
  using R = TypeParam;
  const auto sin_of = [](R x) { return garra::sincos(x).sin; };
  const auto cos_of = [](R x) { return garra::sincos(x).cos; };
  const auto sin_true = [](long double x) { return std::sin(x); };
  const auto cos_true = [](long double x) { return std::cos(x); };
  for (const double range : {1.0, 7.0, 1e3, 1e5}) {
    const std::vector<R> x = uniform_inputs<R>(-range, range, 1);
    EXPECT_LE(worst_error("sin_" + std::to_string(range), x, sin_of, sin_true).ulp, kSinCosUlp) << range;
    EXPECT_LE(worst_error("cos_" + std::to_string(range), x, cos_of, cos_true).ulp, kSinCosUlp) << range;
  }
  const std::vector<R> tiny = wide_inputs<R>(-120, 0, 2);
  EXPECT_LE(worst_error("sin_wide", tiny, sin_of, sin_true).ulp, kSinCosUlp);
  EXPECT_LE(worst_error("cos_wide", tiny, cos_of, cos_true).ulp, kSinCosUlp);
}

TYPED_TEST(Elementary, SinCosKeepTheirAccuracyBesideMultiplesOfAQuarterTurn) {
  using R = TypeParam;
  std::vector<R> near;
  for (int k = -63661; k <= 63661; k += 1) {
    const R x = static_cast<R>(k * 1.57079632679489661923132169163975144L);
    near.insert(near.end(), {x, std::nextafter(x, R(1e9)), std::nextafter(x, R(-1e9))});
  }
  EXPECT_LE(worst_error(
                "sin_near", near, [](R x) { return garra::sincos(x).sin; }, [](long double x) { return std::sin(x); })
                .ulp,
            kSinCosUlp);
  EXPECT_LE(worst_error(
                "cos_near", near, [](R x) { return garra::sincos(x).cos; }, [](long double x) { return std::cos(x); })
                .ulp,
            kSinCosUlp);
}

TYPED_TEST(Elementary, QuickSinCosAreCorrectToAPlaceAndAHalf) {
  using R = TypeParam;
  const auto sin_of = [](R x) { return quick_sincos(x).sin; };
  const auto cos_of = [](R x) { return quick_sincos(x).cos; };
  const auto sin_true = [](long double x) { return std::sin(x); };
  const auto cos_true = [](long double x) { return std::cos(x); };
  const auto expect_correct = [&](const std::string& name, const std::vector<R>& x) {
    EXPECT_LE(worst_error("quick_sin_" + name, x, sin_of, sin_true).ulp, kQuickSinCosUlp) << name;
    EXPECT_LE(worst_error("quick_cos_" + name, x, cos_of, cos_true).ulp, kQuickSinCosUlp) << name;
  };
  for (const double range : {1.0, 7.0, 1e3, 1e5})
    expect_correct(std::to_string(range), uniform_inputs<R>(-range, range, 20));
  expect_correct("wide", wide_inputs<R>(-120, 0, 21));
  std::vector<R> near;
  for (int k = -63661; k <= 63661; ++k) {
    const R x = static_cast<R>(k * 1.57079632679489661923132169163975144L);
    near.insert(near.end(), {x, std::nextafter(x, R(1e9)), std::nextafter(x, R(-1e9))});
  }
  expect_correct("near", near);
}

TYPED_TEST(Elementary, SinCosOfEveryFiniteAngleLieOnTheUnitCircle) {
  using R = TypeParam;
  for (const R x : wide_inputs<R>(-140, 127, 3)) {
    for (const SinCos<R>& r : {garra::sincos(x), quick_sincos(x)}) {
      // Two squares and a sum of half an ulp each, errors of one ulp in sin and cos.
      ASSERT_NEAR(double(r.sin) * double(r.sin) + double(r.cos) * double(r.cos), 1.0,
                  4 * double(std::numeric_limits<R>::epsilon()))
          << x;
    }
  }
  EXPECT_TRUE(std::isnan(garra::sin(std::numeric_limits<R>::infinity())));
  EXPECT_TRUE(std::isnan(garra::cos(-std::numeric_limits<R>::infinity())));
  EXPECT_TRUE(std::isnan(quick_sincos(std::numeric_limits<R>::infinity()).sin));
  EXPECT_TRUE(std::isnan(quick_sincos(std::numeric_limits<R>::quiet_NaN()).cos));
}

TYPED_TEST(Elementary, Atan2IsCorrectToTwoPlacesInAllQuadrantsAndScales) {
  using R = TypeParam;
  const int lowest = std::numeric_limits<R>::min_exponent - 20, highest = std::numeric_limits<R>::max_exponent - 1;
  Worst worst;
  const auto compare = [&worst](const std::vector<R>& y, const std::vector<R>& x) {
    for (std::size_t i = 0; i < x.size(); ++i)
      worst.add(ulp_error(garra::atan2(y[i], x[i]),
                          std::atan2(static_cast<long double>(y[i]), static_cast<long double>(x[i]))),
                static_cast<double>(x[i]), static_cast<double>(y[i]));
  };
  compare(uniform_inputs<R>(-1, 1, 4), uniform_inputs<R>(-1, 1, 5));
  compare(wide_inputs<R>(lowest, highest, 6), wide_inputs<R>(lowest, highest, 7));
  compare(wide_inputs<R>(-3, 3, 8), wide_inputs<R>(-3, 3, 9));
  compare(wide_inputs<R>(highest - 3, highest, 8), wide_inputs<R>(highest - 3, highest, 9));
  this->RecordProperty("atan2", std::to_string(worst.ulp));
  EXPECT_LE(worst.ulp, kAtan2Ulp) << "atan2(" << worst.y << ", " << worst.x << ")";
}

TYPED_TEST(Elementary, Atan2TreatsZerosAndInfinitiesLikeTheCLibrary) {
  using R = TypeParam;
  const R inf = std::numeric_limits<R>::infinity();
  for (const R y : {R(0), R(-0.0), R(1), R(-1), inf, -inf})
    for (const R x : {R(0), R(-0.0), R(2), R(-2), inf, -inf}) {
      const R got = garra::atan2(y, x);
      const R expected = std::atan2(y, x);
      EXPECT_EQ(std::signbit(got), std::signbit(expected)) << y << ' ' << x;
      EXPECT_LE(ulp_error(got, std::atan2(static_cast<long double>(y), static_cast<long double>(x))), 1.0)
          << y << ' ' << x;
    }
  const R nan = std::numeric_limits<R>::quiet_NaN();
  for (const R x : {R(0), R(1), R(-1), inf, nan}) {
    EXPECT_TRUE(std::isnan(garra::atan2(nan, x)));
    EXPECT_TRUE(std::isnan(garra::atan2(x, nan)));
  }
}

TYPED_TEST(Elementary, AsinAndAcosAreCorrectToAPlaceAndAHalf) {
  using R = TypeParam;
  std::vector<R> x = uniform_inputs<R>(-1, 1, 10);
  for (const R w : wide_inputs<R>(-60, -2, 11)) {
    x.push_back(w);
    x.push_back(static_cast<R>(w < 0 ? -1 - double(w) : 1 - double(w)));
  }
  EXPECT_LE(worst_error(
                "asin", x, [](R a) { return garra::asin(a); }, [](long double a) { return std::asin(a); })
                .ulp,
            kArcUlp);
  EXPECT_LE(worst_error(
                "acos", x, [](R a) { return garra::acos(a); }, [](long double a) { return std::acos(a); })
                .ulp,
            kArcUlp);
  EXPECT_EQ(garra::acos(R(1)), R(0));
  EXPECT_TRUE(std::signbit(garra::asin(R(-0.0))));
  for (const R outside :
       {std::nextafter(R(1), R(2)), R(-1.5), std::numeric_limits<R>::infinity(), std::numeric_limits<R>::quiet_NaN()}) {
    EXPECT_TRUE(std::isnan(garra::asin(outside)));
    EXPECT_TRUE(std::isnan(garra::acos(outside)));
  }
}

TYPED_TEST(Elementary, ExpIsCorrectToThePlaceDownToSubnormalResults) {
  using R = TypeParam;
  const auto f = [](R x) { return garra::exp(x); };
  const auto truth = [](long double x) { return std::exp(x); };
  const bool is_double = std::is_same_v<R, double>;
  EXPECT_LE(worst_error("exp", uniform_inputs<R>(-2, 2, 12), f, truth).ulp, kExpLogUlp);
  EXPECT_LE(
      worst_error("exp_range", uniform_inputs<R>(is_double ? -746 : -104, is_double ? 710 : 89, 13), f, truth).ulp,
      kExpLogUlp);
  EXPECT_LE(worst_error("exp_wide", wide_inputs<R>(-100, 20, 14), f, truth).ulp, kExpLogUlp);
  EXPECT_LE(worst_error("exp_edges", edge_inputs<R>(), f, truth).ulp, kExpLogUlp);
  EXPECT_EQ(garra::exp(R(0)), R(1));
  EXPECT_EQ(garra::exp(-std::numeric_limits<R>::infinity()), R(0));
  EXPECT_EQ(garra::exp(std::numeric_limits<R>::infinity()), std::numeric_limits<R>::infinity());
}

TYPED_TEST(Elementary, LogIsCorrectToThePlaceFromSubnormalNumbersToTheLargest) {
  using R = TypeParam;
  const auto f = [](R x) { return garra::log(x); };
  const auto truth = [](long double x) { return std::log(x); };
  using L = std::numeric_limits<R>;
  EXPECT_LE(worst_error("log", uniform_inputs<R>(0.4, 2.5, 15), f, truth).ulp, kExpLogUlp);
  EXPECT_LE(worst_error("log_wide", wide_inputs<R>(L::min_exponent - L::digits, L::max_exponent - 1, 16), f, truth).ulp,
            kExpLogUlp);
  EXPECT_LE(worst_error("log_edges", edge_inputs<R>(), f, truth).ulp, kExpLogUlp);
  EXPECT_EQ(garra::log(R(1)), R(0));
  EXPECT_EQ(garra::log(R(0)), -L::infinity());
  EXPECT_EQ(garra::log(R(-0.0)), -L::infinity());
  EXPECT_TRUE(std::isnan(garra::log(-L::denorm_min())));
}

template <class R>
bool same_bits(R a, R b) {
  return to_bits(a) == to_bits(b) || (std::isnan(a) && std::isnan(b));
}

/// Applies f to `x` in lanes and one by one; y runs through x backwards.
template <class R, class F>
void expect_same_bits(const char* name, const std::vector<R>& x, F f) {
  constexpr int kW = kWidth<Lanes<R>>;
  for (std::size_t i = 0; i + kW <= x.size(); i += kW) {
    Lanes<R> a, b;
    for (int l = 0; l < kW; ++l) {
      a.set(l, x[i + static_cast<std::size_t>(l)]);
      b.set(l, x[x.size() - 1 - i - static_cast<std::size_t>(l)]);
    }
    const Lanes<R> got = f(a, b);
    for (int l = 0; l < kW; ++l)
      ASSERT_TRUE(same_bits(R(got[l]), f(R(a[l]), R(b[l])))) << name << '(' << a[l] << ", " << b[l] << ')';
  }
}

TYPED_TEST(Elementary, GivesTheSameBitsInLanesAsInScalarCode) {
  using R = TypeParam;
  for (const std::vector<R>& x :
       {wide_inputs<R>(-149, 127, 17), wide_inputs<R>(-6, 6, 18), uniform_inputs<R>(-1, 1, 19), edge_inputs<R>()}) {
    expect_same_bits<R>("sin", x, [](auto a, auto) { return garra::sincos(a).sin; });
    expect_same_bits<R>("cos", x, [](auto a, auto) { return garra::sincos(a).cos; });
    expect_same_bits<R>("quick_sin", x, [](auto a, auto) { return quick_sincos(a).sin; });
    expect_same_bits<R>("quick_cos", x, [](auto a, auto) { return quick_sincos(a).cos; });
    expect_same_bits<R>("atan2", x, [](auto a, auto b) { return garra::atan2(a, b); });
    expect_same_bits<R>("asin", x, [](auto a, auto) { return garra::asin(a); });
    expect_same_bits<R>("acos", x, [](auto a, auto) { return garra::acos(a); });
    expect_same_bits<R>("exp", x, [](auto a, auto) { return garra::exp(a); });
    expect_same_bits<R>("log", x, [](auto a, auto) { return garra::log(a); });
  }
}

TYPED_TEST(Elementary, GivesNanForNanAndOddOrEvenBitsForTheNegatedArgument) {
  using R = TypeParam;
  const R nan = static_cast<R>(kNan);
  for (const R y :
       {garra::sin(nan), garra::cos(nan), garra::asin(nan), garra::acos(nan), garra::exp(nan), garra::log(nan)})
    EXPECT_TRUE(std::isnan(y));
  for (const R x : edge_inputs<R>()) {
    EXPECT_TRUE(same_bits(garra::sin(-x), -garra::sin(x))) << x;
    EXPECT_TRUE(same_bits(garra::cos(-x), garra::cos(x))) << x;
    EXPECT_TRUE(same_bits(garra::asin(-x), -garra::asin(x))) << x;
    EXPECT_TRUE(same_bits(garra::atan2(-x, R(0.7)), -garra::atan2(x, R(0.7)))) << x;
  }
}

}  // namespace
}  // namespace garra
