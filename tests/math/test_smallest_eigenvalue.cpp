// Matrices that are made of their eigenvalues.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <random>

#include "garra/core/lanes.hpp"
#include "garra/math/smallest_eigenvalue.hpp"

namespace garra {
namespace {

using Matrix6 = Eigen::Matrix<double, 6, 6>;
using Vector6 = Eigen::Matrix<double, 6, 1>;

Mat<double, 6, 6> with_eigenvalues(const Vector6& eigenvalues, std::mt19937_64& draws) {
  std::normal_distribution<double> normal;
  const Matrix6 random = Matrix6::NullaryExpr([&] { return normal(draws); });
  const Matrix6 q = Eigen::HouseholderQR<Matrix6>(random).householderQ();
  const Matrix6 a = q * eigenvalues.asDiagonal() * q.transpose();
  Mat<double, 6, 6> out;
  for (int r = 0; r < 6; ++r)
    for (int c = 0; c < 6; ++c) out(r, c) = 0.5 * (a(r, c) + a(c, r));
  return out;
}

TEST(SmallestEigenvalue, IsTheOneThatTheMatrixIsMadeOf) {
  std::mt19937_64 draws(1);
  for (const Vector6& eigenvalues :
       {Vector6{1, 2, 3, 4, 5, 6}, Vector6{2, 2, 3, 3, 4, 4}, Vector6{1, 1, 1, 1, 1, 1}, Vector6{1e-6, 1, 1, 2, 5, 9},
        Vector6{3, 3, 3, 3, 3, 1e6}, Vector6{0, 1, 2, 3, 4, 5}})
    for (int i = 0; i < 100; ++i) {
      const double found = smallest_eigenvalue(with_eigenvalues(eigenvalues, draws));
      EXPECT_NEAR(found, eigenvalues[0], 2e-9 * eigenvalues[0] + 1e-14 * eigenvalues[5]) << eigenvalues.transpose();
    }
}

TEST(SmallestEigenvalue, OfLanesIsThatOfEachAlone) {
  std::mt19937_64 draws(2);
  Mat<double, 6, 6> alone[Lanes<double>::kSize];
  Mat<Lanes<double>, 6, 6> together;
  for (int l = 0; l < Lanes<double>::kSize; ++l) {
    alone[l] = with_eigenvalues(l % 2 == 0 ? Vector6{1, 2, 3, 4, 5, 6} : Vector6{2, 2, 2, 3, 3, 100}, draws);
    for (int r = 0; r < 6; ++r)
      for (int c = 0; c < 6; ++c) together(r, c).set(l, alone[l](r, c));
  }
  const Lanes<double> found = smallest_eigenvalue(together);
  for (int l = 0; l < Lanes<double>::kSize; ++l) EXPECT_EQ(found[l], smallest_eigenvalue(alone[l]));
}

}  // namespace
}  // namespace garra
