// What the parts of the exact singularity analysis share. Screws are scaled throughout: a translated screw set in
// another unit of length, so Lie products and finite motions are what they are for any screws.
#pragma once

#include <vector>

#include "garra/singularity.hpp"
#include "systems/singularity_dense.hpp"

namespace garra::singularity {

using Screws = std::vector<Screw<double>>;

/// A configuration to be analysed, and what counts as zero there.
struct Case {
  Screws screw;              ///< scaled
  std::vector<bool> slides;  ///< prismatic
  Scaling scaling;
  GenericDims expected;  ///< below which an interval is singular
  int generic_rank = 0;
  double tolerance = 0;  ///< of singular values, relative to sigma_1
  double zero = 0;       ///< of anything linear in unit vectors: null vectors, projections, rates
  double step = 0;

  [[nodiscard]] int joints() const { return static_cast<int>(screw.size()); }
  /// A scaled step of joint j in rad or m.
  [[nodiscard]] double unit(int j) const { return slides[static_cast<std::size_t>(j)] ? scaling.length : 1; }
};

[[nodiscard]] Screws scaled(const Screws& screws, const Scaling& scaling);

/// Screws $first ... $last as columns (w; v).
[[nodiscard]] Matrix jacobian(const Screws& screws, int first, int last);
[[nodiscard]] Matrix jacobian(const Screws& screws);

/// Exact motion of all joints, see displaced().
[[nodiscard]] Screws moved(const Screws& screws, const std::vector<double>& dq);
/// Of one joint.
[[nodiscard]] Screws moved(const Screws& screws, int joint, double amount);

/// Columns of a basis of scaled reciprocal wrenches, about the origin of the given screws.
[[nodiscard]] Screws world_wrenches(const Matrix& basis, const Scaling& scaling);

/// Minimal singular intervals without their details: first, last, dim.
[[nodiscard]] std::vector<Interval> minimal_intervals(const Screws& screws, const Case& c);
/// With everything in them.
[[nodiscard]] std::vector<Interval> analysed_intervals(const Case& c);

/// Fills in what an Analysis says about ways out of a singular case: escape, escape_sets, best_direction, self_motion,
/// recovery. Takes its rank from `out`; `jac` is the Jacobian's factorization.
void analyse_escape(const Case& c, int largest_set, const Svd& jac, Analysis& out);

/// All sets of `size` joints but the first and the last, which change no rank.
[[nodiscard]] std::vector<std::vector<int>> inner_sets(int joints, int size);
/// dq with +-step on the joints of the set, by the bits of `negative`, of lengths in no simple ratio.
[[nodiscard]] std::vector<double> set_direction(int joints, const std::vector<int>& set, unsigned negative);

[[nodiscard]] std::vector<std::vector<int>> find_clearing_sets(const Case& c, int largest_set);

}  // namespace garra::singularity
