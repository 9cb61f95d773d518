// Quantities that the paper's claims need from one set of screws. Joints count from 1 here, as in the paper.
#pragma once

#include <vector>

#include "garra/math/screw_algebra.hpp"
#include "papers/claims.hpp"
#include "singularity/exact/parts.hpp"

namespace garra::papers {

using Joints = std::vector<int>;
/// A Lie product [$actuator $receptor] of two joints' screws.
struct Product {
  int actuator, receptor;
};

/// Finite steps of joints and of first-order substitutions [rad]: far from zero, and of no special value.
inline constexpr double kStep = 0.3;

/// One set of screws, with the quantities of the paper's claims.
class Screwed {
 public:
  explicit Screwed(const Data& data);

  /// Dimension of the span of these screws.
  [[nodiscard]] int dim(const Joints& screws) const;
  [[nodiscard]] int rank() const { return dim(all()); }
  /// Whether [$f $h] leaves the span of these screws.
  [[nodiscard]] bool outside(Product product, const Joints& span) const;

  /// Minimal singular ordered subsets of at most six screws by the paper's rule (11), each as {first, ..., last}.
  [[nodiscard]] std::vector<Joints> minimal_subsets() const;
  [[nodiscard]] int minimal_count() const { return static_cast<int>(minimal_subsets().size()); }
  /// Whether first ... last is a minimal singular subset.
  [[nodiscard]] bool is_minimal(int first, int last) const;
  /// Joints responsible in the minimal singular subset first ... last; empty if it is none.
  [[nodiscard]] Joints dependent_joints_in(int first, int last) const;
  /// Singular ordered subsets of at most six screws, minimal or not.
  [[nodiscard]] int singular_count() const;

  /// The paper's substitution: $h + [$f $h] dt for each receptor, from the screws before any substitution.
  [[nodiscard]] Screwed substituted(const std::vector<Product>& products) const;
  /// The true motion: every screw behind a moved joint moves with it.
  [[nodiscard]] Screwed moved(const Joints& joints) const;

  /// Joints whose motion alone restores rank six; none (no answer) if it is not lost.
  [[nodiscard]] Value restoring() const;
  /// Order in the step at which joint j alone leaves the singularity; none if the screws are not singular.
  [[nodiscard]] Value escape_order(int j) const;
  /// Joints in a linear dependence of all screws, if these do not have rank six.
  [[nodiscard]] Joints dependent_joints() const;
  /// All smallest sets of joints whose motion leaves no singular ordered subset, concatenated.
  [[nodiscard]] Joints clearing() const;

  /// Whether a screw is a turning or sliding joint by the paper's (1), (2): unit, and of pitch 0.
  [[nodiscard]] bool is_joint(int j) const;
  /// Distance of the axes of two turning joints [unit of the screws]; none if they are parallel.
  [[nodiscard]] Value distance(int j, int k) const;
  /// Angle between the axes of two joints [deg].
  [[nodiscard]] Value angle(int j, int k) const;
  /// Distance along the axis of turning joint j between its common normals with the axes of i and k.
  [[nodiscard]] Value offset(int i, int j, int k) const;
  /// Whether [$f [$f $h]] vanishes.
  [[nodiscard]] bool is_nilpotent(Product product) const;
  /// Whether the span of these screws is closed under Lie products.
  [[nodiscard]] bool is_subalgebra(const Joints& screws) const;

  // The paper's general statements (its sections 2 and 3), on this set.

  /// Ordered subsets of two to six screws that are independent and generate a subalgebra.
  [[nodiscard]] int regular_subalgebras() const;
  /// Lie products of a minimal singular subset, receptors in its minimal dependent set.
  struct Substitutions {
    bool some_outside = true;  ///< in each subset one leaves its span
    int without_effect = 0;    ///< leave the span, and do not make the subset regular when substituted
  };
  [[nodiscard]] Substitutions substitutions() const;
  /// Largest number of minimal singular subsets that the motion of one joint makes regular.
  [[nodiscard]] int most_restored() const;
  /// Ordered subsets without a joint whose dimension its motion changes.
  [[nodiscard]] int others_changed() const;

 private:
  [[nodiscard]] Joints all() const;
  [[nodiscard]] const Screw<double>& at(int j) const { return screws_[static_cast<std::size_t>(j - 1)]; }
  [[nodiscard]] Screws selected(const Joints& joints) const;
  [[nodiscard]] Analysis analyzed() const;

  ScrewSet given_;
  Scaling scaling_;
  Screws screws_;  ///< scaled
  double tolerance_;
};

}  // namespace garra::papers
