// The linear algebra of the exact analysis: Eigen's, asked the way docs/theory/singularity.md counts.
#include <Eigen/Eigenvalues>
#include <algorithm>

#include "singularity/exact/parts.hpp"

template class Eigen::JacobiSVD<garra::singularity::Matrix>;

namespace garra::singularity {

namespace {
constexpr double kTie = 1e-9;  ///< of lengths of projections: closer ones are alike but for rounding
}

Svd svd(const Matrix& a) { return Svd(a, Eigen::ComputeFullU | Eigen::ComputeFullV); }

std::vector<double> singular_values(const Svd& svd) {
  return {svd.singularValues().begin(), svd.singularValues().end()};
}
std::vector<double> singular_values(const Matrix& a) { return singular_values(Svd(a)); }

Matrix triple_product(const Matrix& a, const Matrix& b, const Matrix& c) { return a * b * c; }

std::vector<double> symmetric_eigenvalues(const Matrix& a) {
  const Eigen::VectorXd falling =
      Eigen::SelfAdjointEigenSolver<Matrix>(a, Eigen::EigenvaluesOnly).eigenvalues().reverse();
  return {falling.begin(), falling.end()};
}

Eigen::VectorXd least_solution(const Matrix& a, const Eigen::VectorXd& b, double tolerance) {
  return svd(a).setThreshold(tolerance).solve(b);
}

int numerical_rank(const std::vector<double>& sigma, double tolerance) {
  return static_cast<int>(
      // s > 0 besides, so that a zero matrix has rank 0.
      std::count_if(sigma.begin(), sigma.end(), [&](double s) { return s > 0 && s > tolerance * sigma[0]; }));
}
int numerical_rank(const Matrix& a, double tolerance) { return numerical_rank(singular_values(a), tolerance); }

double sigma_at(const std::vector<double>& sigma, int k) {
  return k >= 1 && static_cast<std::size_t>(k) <= sigma.size() ? sigma[static_cast<std::size_t>(k - 1)] : 0;
}

Matrix unique_basis(const Matrix& orthonormal) {
  Matrix left = orthonormal * orthonormal.transpose();  // projector onto what is left of the span
  Matrix out(orthonormal.rows(), orthonormal.cols());
  for (Eigen::Index k = 0; k < out.cols(); ++k) {
    Eigen::Index best = 0;
    for (Eigen::Index i = 1; i < left.rows(); ++i)
      // The squared length of a unit vector's projection is the projector's diagonal.
      if (left(i, i) > left(best, best) + kTie) best = i;
    out.col(k) = left.col(best).normalized();
    left -= out.col(k) * out.col(k).transpose();
  }
  return out;
}

}  // namespace garra::singularity
