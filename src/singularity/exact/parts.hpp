// What the parts of the exact singularity analysis share. Screws are scaled throughout: a translated screw set in
// another unit of length, so Lie products and finite motions are what they are for any screws. Linear algebra is
// Eigen's, so that this analysis shares no decomposition with the kernels of systems/singularity.
#pragma once

#include <Eigen/Core>
#include <Eigen/SVD>
#include <vector>

#include "garra/singularity.hpp"

// CMakeLists.txt compiles the files that come here with EIGEN_DONT_VECTORIZE and Eigen=garra_eigen.
static_assert(EIGEN_MAX_STATIC_ALIGN_BYTES == 0, "bits must not depend on the processor's vector instructions");

namespace garra::singularity {

using Screws = std::vector<Screw<double>>;
using Matrix = Eigen::MatrixXd;
using Svd = Eigen::JacobiSVD<Matrix>;

}  // namespace garra::singularity
extern template class Eigen::JacobiSVD<garra::singularity::Matrix>;  // linear.cpp: 3 s each time
namespace garra::singularity {

/// A configuration to be analyzed, and what counts as zero there.
struct Case {
  Screws screw;              ///< scaled
  std::vector<bool> slides;  ///< prismatic
  Scaling scaling;
  GenericDims expected;  ///< below which an interval is singular
  int generic_rank = 0;
  double tolerance = 0;  ///< of singular values, relative to sigma_1
  double zero = 0;       ///< of anything linear in unit vectors: null vectors, projections, rates
  double step = 0;       ///< of finite motions, scaled

  [[nodiscard]] int joints() const { return static_cast<int>(screw.size()); }
  /// A scaled step of joint j in rad or m.
  [[nodiscard]] double unit(int j) const { return slides[static_cast<std::size_t>(j)] ? scaling.length : 1; }
};

/// U and V square, singular values falling; the trailing columns of U and V span the left and right null space.
[[nodiscard]] Svd svd(const Matrix& a);
/// Falling, min(rows, columns) of them.
/// In the world [m].
[[nodiscard]] Vec3<double> tool_point(const chain::Robot& robot, const std::vector<double>& coordinates);
[[nodiscard]] std::vector<double> singular_values(const Matrix& a);
[[nodiscard]] std::vector<double> singular_values(const Svd& svd);
/// a b c. Here, as the other decompositions, so that Eigen's templates are compiled once.
[[nodiscard]] Matrix triple_product(const Matrix& a, const Matrix& b, const Matrix& c);
/// Eigenvalues of a symmetric matrix, falling.
[[nodiscard]] std::vector<double> symmetric_eigenvalues(const Matrix& a);
/// Solution of a x = b of least length, with singular values up to tolerance * sigma_1 as zeros.
[[nodiscard]] Eigen::VectorXd least_solution(const Matrix& a, const Eigen::VectorXd& b, double tolerance);
/// Number of sigma > tolerance * sigma_1; 0 for a zero matrix.
[[nodiscard]] int numerical_rank(const std::vector<double>& sigma, double tolerance);
[[nodiscard]] int numerical_rank(const Matrix& a, double tolerance);
/// sigma_k, counted from 1; 0 where there are fewer.
[[nodiscard]] double sigma_at(const std::vector<double>& sigma, int k);
/// The one orthonormal basis of the span of orthonormal columns that does not depend on who found them: each vector is
/// the projection of the unit vector that what is left of the span comes nearest to, of several the first.
[[nodiscard]] Matrix unique_basis(const Matrix& orthonormal);

/// About the scaling's origin, moments in its length; slides stay unit vectors.
[[nodiscard]] Screws scaled_screws(const Screws& screws, const Scaling& scaling);

/// Screws $first ... $last as columns (w; v).
[[nodiscard]] Matrix jacobian(const Screws& screws, int first, int last);
[[nodiscard]] Matrix jacobian(const Screws& screws);

/// Exact motion of all joints, see displaced().
[[nodiscard]] Screws moved(const Screws& screws, const std::vector<double>& dq);
/// Of one joint.
[[nodiscard]] Screws moved(const Screws& screws, int joint, double amount);

/// Columns of a basis of scaled reciprocal wrenches, about the origin of the given screws.
[[nodiscard]] std::vector<Wrench<double>> world_wrenches(const Matrix& basis, const Scaling& scaling);

/// Minimal singular intervals without their details: first, last, dim.
[[nodiscard]] std::vector<Interval> minimal_intervals(const Screws& screws, const Case& c);
/// With everything in them.
[[nodiscard]] std::vector<Interval> analyzed_intervals(const Case& c);

/// Fills in what an Analysis says about ways out of a singular case: escape, escape_sets, best_direction, self_motion,
/// recovery. Takes its rank from `out`; `jac` is the Jacobian's factorization.
void analyze_escape(const Case& c, int max_set_size, const Svd& jac, Analysis& out);

/// All sets of `size` joints but the first and the last, which change no rank.
[[nodiscard]] std::vector<std::vector<int>> inner_sets(int joints, int size);
/// dq with +-step on the joints of the set, by the bits of `negative`, of lengths in no simple ratio.
[[nodiscard]] std::vector<double> set_direction(int joints, const std::vector<int>& set, unsigned negative);

[[nodiscard]] std::vector<std::vector<int>> find_clearing_sets(const Case& c, int max_set_size);

}  // namespace garra::singularity
