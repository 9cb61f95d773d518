// Eigenvalues of matrices without symmetry, against Eigen's, and lanes against scalars to the bit.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <complex>
#include <random>

#include "garra/core/eigenvalues.hpp"
#include "garra/core/lanes.hpp"

namespace garra {
namespace {

constexpr int kSize = 16;
using Matrix = Mat<double, kSize, kSize>;

Matrix random_matrix(std::mt19937_64& random, double spread) {
  std::normal_distribution<double> normal;
  Matrix a;
  for (double& x : a.m) x = normal(random) * std::pow(10.0, spread * normal(random));
  return a;
}

TEST(Eigenvalues, AreThoseOfEigen) {
  std::mt19937_64 random(1);
  for (const double spread : {0.0, 1.0, 2.0})
    for (int k = 0; k < 100; ++k) {
      const Matrix a = random_matrix(random, spread);
      const auto found = compute_eigenvalues(a);
      EXPECT_EQ(found.open, 0);
      const Eigen::Map<const Eigen::Matrix<double, kSize, kSize, Eigen::RowMajor>> same(a.m);
      const auto expected = Eigen::EigenSolver<Eigen::Matrix<double, kSize, kSize>>(same, false).eigenvalues().eval();
      for (int i = 0; i < kSize; ++i) {
        double apart = 1e300;
        for (int j = 0; j < kSize; ++j)
          apart = std::min(apart, std::abs(expected[j] - std::complex<double>(found.re[i], found.im[i])));
        // The condition of an eigenvalue of such a matrix is up to 1e4.
        EXPECT_LT(apart, 1e-11 * same.norm());
      }
    }
}

TEST(Eigenvalues, OfTriangularAndSpecialMatricesAreExact) {
  Mat<double, 3, 3> turn = {{0, -1, 0, 1, 0, 0, 0, 0, 2}};
  const auto found = compute_eigenvalues(turn);
  EXPECT_EQ(found.re[2], 2);
  EXPECT_NEAR(found.im[0], 1, 1e-15);
  EXPECT_NEAR(found.im[1], -1, 1e-15);
  const auto zeros = compute_eigenvalues(Matrix::zero());
  for (int i = 0; i < kSize; ++i) EXPECT_EQ(zeros.re[i], 0);
  // A cyclic shift: without other shifts now and then QR would not move it.
  Matrix cycle = Matrix::zero();
  for (int i = 0; i < kSize; ++i) cycle(i, (i + 1) % kSize) = 1;
  const auto roots = compute_eigenvalues(cycle);
  EXPECT_EQ(roots.open, 0);
  for (int i = 0; i < kSize; ++i) EXPECT_NEAR(std::hypot(roots.re[i], roots.im[i]), 1, 1e-13);
}

TEST(Eigenvalues, EveryLaneHasTheBitsOfTheScalar) {
  using L = Lanes<double>;
  std::mt19937_64 random(2);
  for (int k = 0; k < 20; ++k) {
    Mat<L, kSize, kSize> lanes;
    Matrix one[L::kSize];
    for (int l = 0; l < L::kSize; ++l) {
      one[l] = random_matrix(random, 1);
      if (l == 1) one[l][5] = std::nan("");
      for (int i = 0; i < kSize * kSize; ++i) lanes[i].set(l, one[l][i]);
    }
    const auto found = compute_eigenvalues(lanes);
    for (int l = 0; l < L::kSize; ++l) {
      if (l == 1) continue;
      const auto expected = compute_eigenvalues(one[l]);
      for (int i = 0; i < kSize; ++i) {
        EXPECT_EQ(found.re[i][l], expected.re[i]);
        EXPECT_EQ(found.im[i][l], expected.im[i]);
      }
    }
  }
}

}  // namespace
}  // namespace garra
