// LDLT, LU, QR and symmetric eigenvalues: residuals against the definition, known answers, singular
// input, and equal bits in lanes and in scalar code.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "garra/core/factor.hpp"
#include "garra/core/lanes.hpp"
#include "garra/core/philox.hpp"

namespace garra {
namespace {

constexpr double kEps = std::numeric_limits<double>::epsilon();
constexpr int kTrials = 200;

/// Entries uniform in (-1, 1).
template <int R, int C>
Mat<double, R, C> random_matrix(std::uint64_t trial, std::uint32_t what) {
  Mat<double, R, C> a;
  for (int k = 0; k < R * C; ++k) {
    double u0, u1;
    uniform_pair(321u, SampleIndex<double>::consecutive(trial), what * 1000u + static_cast<unsigned>(k), u0, u1);
    a.m[k] = 2 * u0 - 1;
  }
  return a;
}
/// g g^T / N + shift: symmetric to the bit, positive definite for shift > 0, of rank `rank` for
/// shift = 0. The leading block is well-conditioned, since without pivoting its condition
/// multiplies the noise of later pivots.
template <int N>
Mat<double, N, N> random_definite(std::uint64_t trial, double shift, int rank = N) {
  Mat<double, N, N> g = random_matrix<N, N>(trial, 1);
  for (int i = 0; i < N; ++i) {
    g(i, i) += 2;
    for (int k = rank; k < N; ++k) g(i, k) = 0;
  }
  return (1.0 / N) * (g * transpose(g)) + shift * Mat<double, N, N>::identity();
}
template <int R, int C>
double largest(const Mat<double, R, C>& a) {
  double m = 0;
  for (const double x : a.m) m = std::isnan(x) ? x : std::fmax(m, std::fabs(x));
  return m;
}
template <int R, int C>
bool all_finite(const Mat<double, R, C>& a) {
  for (const double x : a.m)
    if (!std::isfinite(x)) return false;
  return true;
}
/// Bound of a backward stable solve: |b - a x| <= 10 N eps |a| |x| (largest entries, N terms each).
template <int N>
double residual_bound(const Mat<double, N, N>& a, const Vec<double, N>& x) {
  return 10 * N * kEps * N * largest(a) * largest(x);
}

template <class Size>
class Factor : public testing::Test {};
template <int N>
using Size = std::integral_constant<int, N>;
using Sizes = testing::Types<Size<1>, Size<2>, Size<3>, Size<4>, Size<6>, Size<9>>;
TYPED_TEST_SUITE(Factor, Sizes);

TYPED_TEST(Factor, LdltSolvesDefiniteSystemsToBackwardStability) {
  constexpr int N = TypeParam::value;
  for (int t = 0; t < kTrials; ++t) {
    const auto a = random_definite<N>(static_cast<unsigned>(t), 0.1);
    const auto b = random_matrix<N, 1>(static_cast<unsigned>(t), 2);
    const auto f = factor_ldlt(a);
    const Vec<double, N> x = solve(f, b);
    EXPECT_EQ(f.bad_pivots, 0);
    EXPECT_LE(largest(a * x - b), residual_bound(a, x));
    Mat<double, N, N> ld = f.l;
    for (int i = 0; i < N; ++i)
      for (int j = 0; j < N; ++j) ld(i, j) *= f.d[j];
    EXPECT_LE(largest(ld * transpose(f.l) - a), 4 * N * kEps * largest(a));
    const Vec<double, N> y = solve_lower(f, b);
    EXPECT_LE(largest(f.l * y - b), 4 * N * kEps * (largest(b) + N * largest(f.l) * largest(y)));
  }
}

TYPED_TEST(Factor, LdltOfASemidefiniteMatrixCountsTheMissingRankAndSolvesConsistentSystems) {
  constexpr int N = TypeParam::value;
  for (int rank = 0; rank < N; ++rank) {
    const auto a = random_definite<N>(5, 0.0, rank);
    const auto b = a * random_matrix<N, 1>(5, 2);
    const auto f = factor_ldlt(a);
    const Vec<double, N> x = solve(f, b);
    EXPECT_EQ(f.bad_pivots, N - rank);
    EXPECT_LE(largest(a * x - b), 1e3 * residual_bound(a, x))
        << "rank " << rank;  // the kept block may be ill-conditioned
  }
}

TYPED_TEST(Factor, LdltCountsNegativePivotsAndStaysFinite) {
  constexpr int N = TypeParam::value;
  const auto f = factor_ldlt(-random_definite<N>(6, 0.1));
  EXPECT_EQ(f.bad_pivots, N);
  const auto g = random_matrix<N, N>(6, 3);
  const auto indefinite = factor_ldlt(g + transpose(g));
  EXPECT_TRUE(all_finite(indefinite.l) && all_finite(solve(indefinite, random_matrix<N, 1>(6, 2))));
}

TYPED_TEST(Factor, SeveralRightHandSidesGiveTheBitsOfOneAfterTheOther) {
  constexpr int N = TypeParam::value;
  const auto a = random_definite<N>(7, 0.1);
  const auto b = random_matrix<N, 3>(7, 2);
  const auto from_ldlt = solve(factor_ldlt(a), b);
  const auto from_lu = solve(factor_lu(a), b);
  const auto from_qr = solve(factor_qr(a), b);
  for (int c = 0; c < 3; ++c) {
    const Vec<double, N> rhs = column(b, c);
    const auto one_ldlt = solve(factor_ldlt(a), rhs), one_lu = solve(factor_lu(a), rhs),
               one_qr = solve(factor_qr(a), rhs);
    for (int i = 0; i < N; ++i) {
      EXPECT_EQ(from_ldlt(i, c), one_ldlt[i]);
      EXPECT_EQ(from_lu(i, c), one_lu[i]);
      EXPECT_EQ(from_qr(i, c), one_qr[i]);
    }
  }
}

TYPED_TEST(Factor, LuSolvesGeneralSystemsToBackwardStability) {
  constexpr int N = TypeParam::value;
  for (int t = 0; t < kTrials; ++t) {
    auto a = random_matrix<N, N>(static_cast<unsigned>(t), 3);
    if (N > 1) a(0, 0) = 0;  // cannot do without an exchange
    const auto b = random_matrix<N, 1>(static_cast<unsigned>(t), 2);
    const auto f = factor_lu(a);
    const Vec<double, N> x = solve(f, b);
    EXPECT_EQ(f.bad_pivots, 0);
    EXPECT_LE(largest(a * x - b), residual_bound(a, x));
    for (int i = 0; i < N; ++i)
      for (int k = 0; k < i; ++k) EXPECT_LE(std::fabs(f.lu(i, k)), 1.0);
  }
}

TYPED_TEST(Factor, LuAndQrAgreeOnTheAbsoluteDeterminant) {
  constexpr int N = TypeParam::value;
  for (int t = 0; t < kTrials; ++t) {
    const auto a = random_matrix<N, N>(static_cast<unsigned>(t), 3);
    EXPECT_NEAR(abs_determinant(factor_qr(a)), std::fabs(determinant(factor_lu(a))), 40 * N * kEps);
  }
}

TYPED_TEST(Factor, LuAndQrOfSingularMatricesAreFiniteCountTheMissingRankAndSolveConsistentSystems) {
  constexpr int N = TypeParam::value;
  auto a = random_matrix<N, N>(9, 3);
  for (int i = 0; i < N; ++i) a(i, N - 1) = N > 1 ? a(i, 0) : 0.0;  // the last column repeats the first
  const auto b = a * random_matrix<N, 1>(9, 2);
  const auto lu = factor_lu(a);
  const auto qr = factor_qr(a);
  EXPECT_EQ(lu.bad_pivots, 1);
  EXPECT_EQ(qr.bad_pivots, 1);
  EXPECT_LE(largest(a * solve(lu, b) - b), 100 * N * kEps);
  EXPECT_LE(largest(a * solve(qr, b) - b), 100 * N * kEps);
  const auto zero = Mat<double, N, N>::zero();
  EXPECT_EQ(factor_lu(zero).bad_pivots, N);
  EXPECT_EQ(factor_qr(zero).bad_pivots, N);
  EXPECT_EQ(largest(solve(factor_lu(zero), b)), 0);
  EXPECT_EQ(largest(solve(factor_qr(zero), b)), 0);
  EXPECT_EQ(largest(solve(factor_ldlt(zero), b)), 0);
}

TYPED_TEST(Factor, QrLeastSquaresResidualIsOrthogonalToTheColumns) {
  constexpr int C = TypeParam::value, R = C + 3;
  for (int t = 0; t < kTrials; ++t) {
    const auto a = random_matrix<R, C>(static_cast<unsigned>(t), 4);
    const auto b = random_matrix<R, 1>(static_cast<unsigned>(t), 5);
    const auto f = factor_qr(a);
    const Vec<double, C> x = solve(f, b);
    EXPECT_EQ(f.bad_pivots, 0);
    EXPECT_LE(largest(transpose_times(a, a * x - b)), 10 * R * kEps * R * (largest(x) + 1));
    EXPECT_NEAR(abs_determinant(f) * abs_determinant(f), determinant(factor_lu(transpose_times(a, a))),
                100 * R * kEps * std::pow(largest(transpose_times(a, a)), C));
  }
}

TYPED_TEST(Factor, EigenvectorsAreOrthonormalAndReconstructTheMatrix) {
  constexpr int N = TypeParam::value;
  for (int t = 0; t < kTrials; ++t) {
    const auto g = random_matrix<N, N>(static_cast<unsigned>(t), 6);
    const auto a = g + transpose(g);
    const auto e = symmetric_eigen(a);
    Mat<double, N, N> scaled = e.vectors;
    for (int i = 0; i < N; ++i)
      for (int j = 0; j < N; ++j) scaled(i, j) *= e.values[j];
    const double bound = 10 * N * kEps;
    EXPECT_LE(largest(scaled * transpose(e.vectors) - a), bound * N * largest(a));
    EXPECT_LE(largest(transpose_times(e.vectors, e.vectors) - Mat<double, N, N>::identity()), bound);
    for (int k = 0; k + 1 < N; ++k) EXPECT_LE(e.values[k], e.values[k + 1]);
  }
}

TYPED_TEST(Factor, EigenvaluesOfTheSecondDifferenceMatrixAreTheKnownOnesAtAnyScale) {
  constexpr int N = TypeParam::value;
  for (const double scale : {1.0, 1e-300, 1e-160, 1e160, 1e300}) {
    auto a = Mat<double, N, N>::zero();
    for (int i = 0; i < N; ++i) {
      a(i, i) = 2 * scale;
      if (i > 0) a(i, i - 1) = -scale;
    }
    const auto e = symmetric_eigen(a);  // reads the lower triangle only
    for (int k = 0; k < N; ++k) {
      const double half = std::sin((k + 1) * M_PI / (2 * (N + 1)));
      EXPECT_NEAR(e.values[k] / scale, 4 * half * half, 4 * N * kEps);
    }
  }
}

TYPED_TEST(Factor, EigenvaluesOfZeroAndDiagonalMatricesAreExact) {
  constexpr int N = TypeParam::value;
  EXPECT_EQ(largest(symmetric_eigen(Mat<double, N, N>::zero()).values), 0);
  auto a = Mat<double, N, N>::zero();
  for (int i = 0; i < N; ++i) a(i, i) = N - 0.1 * i * i;
  const auto e = symmetric_eigen(a);
  for (int k = 0; k < N; ++k) EXPECT_EQ(e.values[k], a(N - 1 - k, N - 1 - k));
}

TYPED_TEST(Factor, OneSweepLessWouldAlreadyBeConverged) {
  // kJacobiSweeps carries one sweep of reserve: rotate by hand and look at the off-diagonal part.
  constexpr int N = TypeParam::value;
  for (int t = 0; t < kTrials; ++t) {
    const auto g = random_matrix<N, N>(static_cast<unsigned>(t), 6);
    auto w = g + transpose(g);
    auto v = Mat<double, N, N>::identity();
    for (int sweep = 0; sweep + 1 < kJacobiSweeps<N>; ++sweep)
      for (int p = 0; p < N - 1; ++p)
        for (int q = p + 1; q < N; ++q) factor::rotate(w, v, p, q);
    for (int i = 0; i < N; ++i) w(i, i) = 0;
    EXPECT_LE(largest(w), kEps);
  }
}

/// What lanes and scalar code must agree on, for a symmetric `a` and any `g`.
template <class S, int N>
struct Everything {
  Ldlt<S, N> ldlt;
  Lu<S, N> lu;
  Qr<S, N, N> qr;
  SymmetricEigen<S, N> eigen;
  Vec<S, N> x_ldlt, x_lu, x_qr;
};
template <class S, int N>
Everything<S, N> everything(const Mat<S, N, N>& a, const Mat<S, N, N>& g, const Vec<S, N>& b) {
  Everything<S, N> e{factor_ldlt(a), factor_lu(g), factor_qr(g), symmetric_eigen(a), {}, {}, {}};
  e.x_ldlt = solve(e.ldlt, b);
  e.x_lu = solve(e.lu, b);
  e.x_qr = solve(e.qr, b);
  return e;
}

template <class R>
bool same_bits(R a, R b) {
  return to_bits(a) == to_bits(b) || (std::isnan(a) && std::isnan(b));
}

template <class R, int N>
void expect_lanes_equal_scalar(bool poison_lane_one) {
  using S = Lanes<R>;
  Mat<S, N, N> a, g;
  Vec<S, N> b;
  for (int l = 0; l < kWidth<S>; ++l) {
    // Lane 2 semidefinite, lane 3 zero, the others definite.
    auto al = random_definite<N>(static_cast<unsigned>(l), l == 2 ? 0.0 : 0.1, l == 2 ? N - 1 : N);
    auto gl = random_matrix<N, N>(static_cast<unsigned>(l), 3);
    if (l == 3) al = gl = Mat<double, N, N>::zero();
    if (l == 1 && poison_lane_one) al(0, 0) = gl(N - 1, 0) = std::numeric_limits<double>::quiet_NaN();
    const auto bl = random_matrix<N, 1>(static_cast<unsigned>(l), 2);
    for (int k = 0; k < N * N; ++k) {
      a.m[k].set(l, static_cast<R>(al.m[k]));
      g.m[k].set(l, static_cast<R>(gl.m[k]));
    }
    for (int k = 0; k < N; ++k) b[k].set(l, static_cast<R>(bl[k]));
  }
  const Everything<S, N> lanes = everything(a, g, b);
  static_assert(sizeof(Everything<S, N>) == kWidth<S> * sizeof(Everything<R, N>));
  for (int l = 0; l < kWidth<S>; ++l) {
    Mat<R, N, N> al, gl;
    Vec<R, N> bl;
    for (int k = 0; k < N * N; ++k) {
      al.m[k] = a.m[k][l];
      gl.m[k] = g.m[k][l];
    }
    for (int k = 0; k < N; ++k) bl[k] = b[k][l];
    const Everything<R, N> scalar = everything(al, gl, bl);
    const R* one = reinterpret_cast<const R*>(&scalar);
    const R* many = reinterpret_cast<const R*>(&lanes);
    for (std::size_t k = 0; k < sizeof(scalar) / sizeof(R); ++k)
      ASSERT_TRUE(same_bits(one[k], many[k * kWidth<S> + static_cast<std::size_t>(l)]))
          << "lane " << l << ", member " << k;
    if (l == 1 && poison_lane_one) {
      EXPECT_TRUE(std::isnan(scalar.x_ldlt[0]) && std::isnan(scalar.x_lu[0]) && std::isnan(scalar.x_qr[0]));
    }
  }
}

TYPED_TEST(Factor, LanesGiveTheBitsOfScalarCodeAlsoBesideSingularNeighbors) {
  expect_lanes_equal_scalar<double, TypeParam::value>(false);
  expect_lanes_equal_scalar<float, TypeParam::value>(false);
}

TYPED_TEST(Factor, ANanInOneLaneStaysNanAndDoesNotTouchItsNeighbors) {
  expect_lanes_equal_scalar<double, TypeParam::value>(true);
  expect_lanes_equal_scalar<float, TypeParam::value>(true);
}

TEST(InverseSpd, TimesTheMatrixIsTheIdentityAndIsSymmetricToTheBit) {
  for (int t = 0; t < kTrials; ++t) {
    const auto a = random_definite<3>(static_cast<unsigned>(t), 0.1);
    const auto r = inverse_spd(a);
    EXPECT_EQ(r.bad_pivots, 0);
    EXPECT_LE(largest(a * r.inverse - Mat3<double>::identity()), 30 * kEps * largest(a) * largest(r.inverse));
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < i; ++j) EXPECT_EQ(r.inverse(i, j), r.inverse(j, i));
  }
}

TEST(InverseSpd, OfSingularAndZeroMatricesIsFiniteAndFlagged) {
  const auto singular = inverse_spd(random_definite<3>(1, 0.0, 2));
  EXPECT_EQ(singular.bad_pivots, 1);
  EXPECT_TRUE(all_finite(singular.inverse));
  EXPECT_EQ(inverse_spd(Mat3<double>::zero()).bad_pivots, 3);
}

TEST(InverseSpd, GivesTheSameBitsInLanesAsInScalarCode) {
  using S = Lanes<double>;
  Mat3<S> a;
  for (int l = 0; l < kWidth<S>; ++l)
    for (int k = 0; k < 9; ++k) a.m[k].set(l, random_definite<3>(static_cast<unsigned>(l), 0.01).m[k]);
  const Inverse3<S> r = inverse_spd(a);
  for (int l = 0; l < kWidth<S>; ++l) {
    const Inverse3<double> one = inverse_spd(random_definite<3>(static_cast<unsigned>(l), 0.01));
    for (int k = 0; k < 9; ++k) EXPECT_EQ(r.inverse.m[k][l], one.inverse.m[k]);
  }
}

TEST(Lu, DeterminantCarriesTheSignOfThePermutation) {
  const Mat3<double> cyclic{{0, 0, 2, 3, 0, 0, 0, 5, 0}};
  EXPECT_EQ(determinant(factor_lu(cyclic)), 30);
  const Mat3<double> exchange{{0, 2, 0, 3, 0, 0, 0, 0, 5}};
  EXPECT_EQ(determinant(factor_lu(exchange)), -30);
}

}  // namespace
}  // namespace garra
