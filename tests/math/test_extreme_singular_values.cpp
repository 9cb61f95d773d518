// Largest and smallest singular values against Eigen's, of any matrices, nearly singular ones and multiple values.
#include <gtest/gtest.h>

#include <Eigen/SVD>
#include <cmath>
#include <limits>
#include <random>

#include "garra/core/lanes.hpp"
#include "garra/math/extreme_singular_values.hpp"

namespace garra {
namespace {

using Eigen::MatrixXd;

template <int R, int N>
ExtremeSingularValues<double> ours(const MatrixXd& m) {
  Mat<double, R, N> a;
  for (int i = 0; i < R; ++i)
    for (int j = 0; j < N; ++j) a(i, j) = m(i, j);
  return extreme_singular_values(a);
}

/// U diag(values) V' of any U and V.
template <int R, int N>
MatrixXd with_values(const Eigen::VectorXd& values, std::mt19937_64& g) {
  std::normal_distribution<double> normal;
  const auto any = [&](int n) {
    MatrixXd a(n, n);
    for (double& x : a.reshaped()) x = normal(g);
    return MatrixXd(a.householderQr().householderQ());
  };
  MatrixXd middle = MatrixXd::Zero(R, N);
  for (int k = 0; k < N; ++k) middle(k, k) = values[k];
  return any(R) * middle * any(N).transpose();
}

template <int R, int N>
void expect_same(const MatrixXd& m) {
  const auto found = ours<R, N>(m);
  const Eigen::VectorXd sigma = Eigen::JacobiSVD<MatrixXd>(m).singularValues();
  EXPECT_NEAR(found.largest, sigma[0], 1e-14 * sigma[0]);
  EXPECT_NEAR(found.smallest, sigma[N - 1], 1e-14 * sigma[0]);
  EXPECT_NEAR(found.product, sigma.prod(), 1e-13 * std::pow(sigma[0], N));
}

template <int R, int N>
void expect_eigens_values() {
  SCOPED_TRACE(testing::Message() << R << " x " << N);
  std::mt19937_64 g(5);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> share(0, 1);
  for (int k = 0; k < 500; ++k) {
    MatrixXd m(R, N);
    for (double& x : m.reshaped()) x = normal(g);
    expect_same<R, N>(m);
    expect_same<R, N>(std::pow(10, 40 * share(g) - 20) * m);
    Eigen::VectorXd values(N);
    for (double& x : values) x = std::pow(10, -9 * share(g));
    expect_same<R, N>(with_values<R, N>(values, g));  // graded, nearly singular
    values.setConstant(0.3);
    values[0] = 1;
    expect_same<R, N>(with_values<R, N>(values, g));  // the smallest is multiple
    values.setOnes();
    values[N - 1] = 1e-12 * share(g);
    expect_same<R, N>(with_values<R, N>(values, g));  // the largest is
    values[N - 1] = 0;
    expect_same<R, N>(with_values<R, N>(values, g));
  }
}

TEST(ExtremeSingularValues, AreEigens) {
  expect_eigens_values<6, 6>();
  expect_eigens_values<7, 6>();
  expect_eigens_values<9, 6>();
  expect_eigens_values<6, 5>();
  expect_eigens_values<6, 3>();
  expect_eigens_values<6, 2>();
  expect_eigens_values<6, 1>();
}

// Of a bidiagonal matrix nothing is lost: relative errors of entries are those of the values (Demmel and Kahan).
TEST(ExtremeSingularValues, OfABidiagonalMatrixAreExactHoweverSmall) {
  // sigma_min of diag(1, d) with 1 beside: d / sqrt(2) for small d.
  for (const double d : {1e-3, 1e-20, 1e-100}) {
    const Mat<double, 2, 2> a{{1, 1, 0, d}};
    EXPECT_NEAR(extreme_singular_values(a).smallest / (d / std::sqrt(2)), 1, d < 1e-6 ? 1e-14 : 1e-6);
  }
}

TEST(ExtremeSingularValues, OfNothingAreZeroAndOfNaNNaN) {
  const auto none = extreme_singular_values(Mat<double, 6, 6>::zero());
  EXPECT_EQ(none.largest, 0);
  EXPECT_EQ(none.smallest, 0);
  EXPECT_EQ(none.product, 0);
  auto bad = Mat<double, 6, 6>::identity();
  const auto one = extreme_singular_values(bad);
  EXPECT_NEAR(one.largest, 1, 1e-15);
  EXPECT_NEAR(one.smallest, 1, 1e-15);
  for (const double x : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    bad(3, 4) = x;
    EXPECT_FALSE(std::isfinite(extreme_singular_values(bad).smallest));
  }
}

// A lane is not touched by its neighbors, which may need more steps.
TEST(ExtremeSingularValues, InLanesHaveTheScalarBits) {
  using S = Lanes<double>;
  std::mt19937_64 g(8);
  std::normal_distribution<double> normal;
  for (int k = 0; k < 100; ++k) {
    Mat<S, 7, 6> a;
    Mat<double, 7, 6> each[S::kSize];
    for (int lane = 0; lane < S::kSize; ++lane)
      for (int i = 0; i < 42; ++i) {
        each[lane][i] = lane % 3 == 1 && i % 6 == 2 ? each[lane][i - 1] * (1 + 1e-8 * normal(g)) : normal(g);
        a[i].set(lane, each[lane][i]);
      }
    const auto found = extreme_singular_values(a);
    for (int lane = 0; lane < S::kSize; ++lane) {
      const auto alone = extreme_singular_values(each[lane]);
      EXPECT_EQ(found.largest[lane], alone.largest);
      EXPECT_EQ(found.smallest[lane], alone.smallest);
      EXPECT_EQ(found.product[lane], alone.product);
    }
  }
}

}  // namespace
}  // namespace garra
