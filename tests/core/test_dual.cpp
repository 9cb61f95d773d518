// Forward dual numbers: values keep their bits, derivatives agree with closed forms and finite differences, lanes agree
// with scalar code to the bit.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "garra/core/dual.hpp"
#include "garra/core/factor.hpp"
#include "garra/core/lanes.hpp"
#include "garra/core/philox.hpp"

namespace garra {
namespace {

std::uint64_t bits(double a) { return std::bit_cast<std::uint64_t>(a); }

double uniform(std::uint64_t i, std::uint32_t draw) {
  double u0, u1;
  uniform_pair(5u, SampleIndex<double>::consecutive(i), draw, u0, u1);
  return u0;
}

/// Everything that a functor may use, on x in (0.1, 2): five variables, so that the last sweep is not full.
struct Everything {
  template <class X>
  Vec<X, 4> operator()(const Vec<X, 5>& x) const {
    Vec<X, 4> f;
    f[0] = exp(x[0] * x[1]) - 3.0 / (x[2] + 1) + log(x[3]) * x[4];
    f[1] = sqrt(x[0] * x[0] + x[4] * x[4]) + pow(x[1], 1.7) * sin(x[2]) - cos(x[3] - x[0]);
    f[2] = fma(x[0], x[1], x[2]) / fma(2.0, x[3], x[4]) - pow(x[3], x[4]);
    f[3] = max(x[0], x[1]) * min(x[2], 0.8) + abs(x[3] - x[4]) + select(x[0] < x[4], x[1] / 2, 1 - x[2]);
    f[3] -= pow(2.0, x[4]);
    f[3] *= x[1];
    f[3] += 1;
    f[3] /= 3;
    return f;
  }
};

Vec<double, 5> drawn_point(std::uint64_t i) {
  Vec<double, 5> x;
  for (int k = 0; k < 5; ++k) x[k] = 0.1 + 1.9 * uniform(i, static_cast<std::uint32_t>(k));
  return x;
}

/// Central difference of g along variable j. Its error is about h^2 |g'''| + eps |g| / h, near 1e-9 here.
template <class G>
auto central_difference(const G& g, Vec<double, 5> x, int j) {
  const double h = 1e-5, at = x[j];
  x[j] = at + h;
  const auto above = g(x);
  x[j] = at - h;
  return 0.5 / h * (above - g(x));
}

/// Away from kinks, where finite differences mean something.
bool near_kink(const Vec<double, 5>& x) {
  const double gaps[] = {x[0] - x[1], x[2] - 0.8, x[3] - x[4], x[0] - x[4]};
  for (const double gap : gaps)
    if (std::abs(gap) < 1e-4) return true;
  return false;
}

TEST(Dual, KeepsTheBitsOfTheValues) {
  const Everything f;
  for (std::uint64_t i = 0; i < 200; ++i) {
    const Vec<double, 5> x = drawn_point(i);
    Vec<Dual<double, 3>, 5> y;
    for (int k = 0; k < 5; ++k) y[k] = dual_detail::variable<double, 3>(x[k], k, 0);
    const auto plain = f(x);
    const auto dual = f(y);
    for (int k = 0; k < 4; ++k) ASSERT_EQ(bits(plain[k]), bits(dual[k].v)) << i << " " << k;
  }
}

TEST(Dual, JacobianAgreesWithFiniteDifferences) {
  const Everything f;
  for (std::uint64_t i = 0; i < 300; ++i) {
    const Vec<double, 5> x = drawn_point(i);
    if (near_kink(x)) continue;
    const auto J = dual_jacobian<double, 4, 5>(f, x);
    for (int j = 0; j < 5; ++j) {
      const auto truth = central_difference(f, x, j);
      for (int k = 0; k < 4; ++k) ASSERT_NEAR(J(k, j), truth[k], 2e-7 * (1 + std::abs(truth[k]))) << i;
    }
  }
}

TEST(Dual, CurvatureAgreesWithDifferencesOfTheJacobian) {
  const Everything f;
  const Vec<double, 4> w{{0.7, -1.3, 2.1, 0.4}};
  const auto weighted = [&](const Vec<double, 5>& x) { return transpose_times(dual_jacobian<double, 4, 5>(f, x), w); };
  for (std::uint64_t i = 0; i < 100; ++i) {
    const Vec<double, 5> x = drawn_point(i);
    if (near_kink(x)) continue;
    auto H = Mat<double, 5, 5>::identity();
    dual_add_curvature<double, 4, 5>(f, x, w, H);
    for (int j = 0; j < 5; ++j) {
      const auto truth = central_difference(weighted, x, j);
      for (int k = 0; k < 5; ++k) {
        ASSERT_NEAR(H(k, j) - (k == j ? 1 : 0), truth[k], 2e-6 * (1 + std::abs(truth[k]))) << i << " " << k << " " << j;
        ASSERT_EQ(bits(H(k, j)), bits(H(j, k)));
      }
    }
  }
}

TEST(Dual, DerivativesAreThoseOfTheClosedForms) {
  using D = Dual<double, 1>;
  const double x = 0.7;
  const D y(x, {{1.0}});
  EXPECT_DOUBLE_EQ(exp(y).d[0], garra::exp(x));
  EXPECT_DOUBLE_EQ(log(y).d[0], 1 / x);
  EXPECT_DOUBLE_EQ(sqrt(y).d[0], 0.5 / std::sqrt(x));
  EXPECT_DOUBLE_EQ(sin(y).d[0], std::cos(x));
  EXPECT_DOUBLE_EQ(cos(y).d[0], -std::sin(x));
  EXPECT_NEAR(pow(y, 2.5).d[0], 2.5 * std::pow(x, 1.5), 1e-15);
  EXPECT_NEAR(pow(y, y).d[0], std::pow(x, x) * (std::log(x) + 1), 1e-15);
  EXPECT_NEAR(pow(3.0, y).d[0], std::pow(3.0, x) * std::log(3.0), 1e-14);
  EXPECT_DOUBLE_EQ((y / (1 + y)).d[0], 1 / ((1 + x) * (1 + x)));
  EXPECT_DOUBLE_EQ((2 / y).d[0], -2 / (x * x));
  EXPECT_EQ((3 - y * 2).d[0], -2.0);
  EXPECT_EQ(abs(-y).d[0], 1.0);
  EXPECT_EQ(min(y, 0.1).d[0], 0.0);
  EXPECT_EQ(max(y, 0.1).d[0], 1.0);
}

TEST(Dual, TheSecondDerivativeOfAQuadraticFormIsItsMatrix) {
  constexpr int n = 7;  // three sweeps of three, the last one not full
  Mat<double, n, n> A;
  for (int k = 0; k < n * n; ++k) A[k] = k % 11 - 4.0;
  const auto form = [&](const auto& x) {
    using X = std::remove_cvref_t<decltype(x[0])>;
    Vec<X, 1> f{{X(0)}};
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) f[0] += x[i] * A(i, j) * x[j];
    return f;
  };
  auto H = Mat<double, n, n>::zero();
  Vec<double, n> x;
  for (int k = 0; k < n; ++k) x[k] = 1.0 + k;
  dual_add_curvature<double, 1, n>(form, x, Vec<double, 1>{{1.0}}, H);
  const auto J = dual_jacobian<double, 1, n>(form, x);
  for (int i = 0; i < n; ++i) {
    double slope = 0;
    for (int j = 0; j < n; ++j) {
      EXPECT_EQ(H(i, j), A(i, j) + A(j, i)) << i << " " << j;
      slope += H(i, j) * x[j];
    }
    EXPECT_EQ(J(0, i), slope);  // small whole numbers: exact
  }
}

TEST(Dual, KinksGiveOneSidedOrZeroDerivativesAndNeverNan) {
  using D = Dual<double, 2>;
  const D x(0.0, {{1.0, 0.0}}), y(0.0, {{0.0, 1.0}});
  const D length = sqrt(x * x + y * y);
  EXPECT_EQ(length.d[0], 0.0);
  EXPECT_EQ(length.d[1], 0.0);
  EXPECT_EQ(sqrt(x).d[0], std::numeric_limits<double>::infinity());
  EXPECT_EQ(sqrt(x).d[1], 0.0);
  EXPECT_EQ(abs(x).d[0], 1.0);
  // A regular function with a vanishing slope keeps its second derivative: sqrt(1 + x^2)'' = 1 at 0.
  auto H = Mat<double, 1, 1>::zero();
  const auto f = [](const auto& z) { return std::remove_cvref_t<decltype(z)>{{sqrt(1 + z[0] * z[0])}}; };
  dual_add_curvature<double, 1, 1>(f, Vec<double, 1>{{0.0}}, Vec<double, 1>{{1.0}}, H);
  EXPECT_EQ(H(0, 0), 1.0);
}

TEST(Dual, GenericCodeRunsOnIt) {
  // d/dt of the solution of (B + t I) x = b is -(B + t I)^-1 x, here through an LU factorization over dual numbers.
  using D = Dual<double, 1>;
  const Mat<double, 3, 3> B{{1, 2, 0, 0, 1, 2, 2, 0, 1}};
  Mat<D, 3, 3> A = cast<D>(B);
  for (int i = 0; i < 3; ++i) A(i, i).d[0] = 1.0;
  const Vec<D, 3> x = solve(factor_lu(A), Vec<D, 3>{{D(1), D(2), D(3)}});
  Vec<double, 3> plain;
  for (int i = 0; i < 3; ++i) plain[i] = x[i].v;
  const Vec<double, 3> truth = solve(factor_lu(B), plain);
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(x[i].d[0], -truth[i], 1e-15);
  EXPECT_TRUE(is_finite(dot(x, x)));
}

TEST(Dual, LanesAgreeWithScalarsToTheBit) {
  using L = Lanes<double>;
  const Everything f;
  for (std::uint64_t first = 0; first < 512; first += L::kSize) {
    Vec<L, 5> x;
    for (int lane = 0; lane < L::kSize; ++lane)
      for (int k = 0; k < 5; ++k) x[k].set(lane, drawn_point(first + static_cast<std::uint64_t>(lane))[k]);
    const Vec<double, 4> w{{0.7, -1.3, 2.1, 0.4}};
    const auto J = dual_jacobian<L, 4, 5>(f, x);
    auto H = Mat<L, 5, 5>::zero();
    dual_add_curvature<L, 4, 5>(f, x, cast<L>(w), H);
    for (int lane = 0; lane < L::kSize; ++lane) {
      const Vec<double, 5> alone = drawn_point(first + static_cast<std::uint64_t>(lane));
      const auto J1 = dual_jacobian<double, 4, 5>(f, alone);
      auto H1 = Mat<double, 5, 5>::zero();
      dual_add_curvature<double, 4, 5>(f, alone, w, H1);
      for (int k = 0; k < 20; ++k) ASSERT_EQ(bits(J[k][lane]), bits(J1[k])) << first << " " << k;
      for (int k = 0; k < 25; ++k) ASSERT_EQ(bits(H[k][lane]), bits(H1[k])) << first << " " << k;
    }
  }
}

}  // namespace
}  // namespace garra
