// Ways out of a singular configuration (docs/theory/singularity.md, "Escape").
//
// With J = U S V' and r = rank J, let U0, V0 be the trailing columns of U, V. After joint motions t delta, to second
// order
//   J(t) = J + t J1 + t^2 J2,  J1: column k = sum_{j<k} delta_j [$j $k],
//   J2: column k = 1/2 sum_{j<k} delta_j^2 [$j [$j $k]] + sum_{i<j<k} delta_i delta_j [$i [$j $k]],
// the singular values that leave zero are those of the Schur complement of the block that stays regular,
//   E(t) = t M + t^2 S2,  M = U0' J1 V0,  S2 = U0' (J2 - J1 J^+ J1) V0.
#include <algorithm>
#include <cmath>

#include "singularity/exact/parts.hpp"

namespace garra::singularity {

namespace {

/// A singular Jacobian taken apart.
struct Split {
  Matrix U0t, V0, pseudo_inverse;
  int lost = 0;
};

Split split(const Case& c, const Svd& jac, int rank) {
  const Matrix inverse = jac.singularValues().head(rank).cwiseInverse().asDiagonal();
  // The left null space in a basis of its own choice: what is reported of it does not depend on the decomposition.
  return {unique_basis(jac.matrixU().rightCols(6 - rank)).transpose(), jac.matrixV().rightCols(c.joints() - rank),
          triple_product(jac.matrixV().leftCols(rank), inverse, jac.matrixU().leftCols(rank).transpose()),
          c.generic_rank - rank};
}

const Screw<double> kZero = {Vec3<double>::zero(), Vec3<double>::zero()};

Matrix first_derivative(const Screws& s, const std::vector<double>& delta) {
  Screws out(s.size(), kZero);
  Screw<double> before = kZero;
  for (std::size_t k = 0; k < s.size(); ++k) {
    // J1 of the page: the sum over j < k is the motion carried on from joint to joint.
    out[k] = cross(before, s[k]);
    before = before + delta[k] * s[k];
  }
  return jacobian(out);
}

Matrix half_second_derivative(const Screws& s, const std::vector<double>& delta) {
  Screws out(s.size(), kZero);
  for (std::size_t k = 0; k < s.size(); ++k) {
    Screw<double> before = kZero;  // sum over i < j of delta_i $i
    for (std::size_t j = 0; j < k; ++j) {
      // Most directions move few joints: the double sum then has few terms.
      if (delta[j] == 0) continue;
      const Screw<double> once = delta[j] * cross(s[j], s[k]);
      out[k] = out[k] + cross(before + (0.5 * delta[j]) * s[j], once);
      before = before + delta[j] * s[j];
    }
  }
  return jacobian(out);
}

/// sigma_g ~ rate * t^order along delta.
struct Growth {
  int order = 0;
  double rate = 0;
};

int count_above(const std::vector<double>& sigma, double zero) {
  return static_cast<int>(std::count_if(sigma.begin(), sigma.end(), [&](double s) { return s > zero; }));
}

Growth growth(const Case& c, const Split& split, const std::vector<double>& delta) {
  const Matrix J1 = first_derivative(c.screw, delta);
  const Svd M = svd(triple_product(split.U0t, J1, split.V0));
  const std::vector<double> first = singular_values(M);
  const int at_first = count_above(first, c.zero);
  // All lost freedoms come back at first order: the slowest of them sets the rate.
  if (at_first >= split.lost) return {1, sigma_at(first, split.lost)};
  const Matrix J2 = half_second_derivative(c.screw, delta);
  const Matrix S2 = triple_product(split.U0t, J2 - triple_product(J1, split.pseudo_inverse, J1), split.V0);
  // What the first order leaves untouched.
  const Matrix left = M.matrixU().rightCols(M.rows() - at_first).transpose();
  const Matrix right = M.matrixV().rightCols(M.cols() - at_first);
  const double rate = sigma_at(singular_values(triple_product(left, S2, right)), split.lost - at_first);
  if (rate > c.zero) return {2, rate};
  // Neither order leads out; higher ones are not asked.
  return {0, 0};
}

/// What is found after an exact motion.
struct Finite {
  int rank = 0;
  double sigma = 0;
};

Finite after(const Case& c, std::vector<double> direction) {
  for (double& x : direction) x *= c.step;
  const std::vector<double> sigma = singular_values(jacobian(moved(c.screw, direction)));
  return {numerical_rank(sigma, c.tolerance), sigma_at(sigma, c.generic_rank)};
}

/// 1 or -1 as the first or the second is larger, 0 where they are alike.
int larger(double plus, double minus) {
  // Relative: equal but for rounding is no preference.
  if (std::abs(plus - minus) <= 1e-9 * std::max(plus, minus)) return 0;
  return plus > minus ? 1 : -1;
}

JointEscape find_escape(const Case& c, const Split& split, int joint) {
  const Growth g = growth(c, split, set_direction(c.joints(), {joint}, 0));
  const Finite plus = after(c, set_direction(c.joints(), {joint}, 0));
  const Finite minus = after(c, set_direction(c.joints(), {joint}, 1));
  // Checked by the exact finite motion, as orders of growth speak of small steps only.
  const bool leaves = std::max(plus.rank, minus.rank) >= c.generic_rank;
  const int sign = leaves ? larger(plus.sigma, minus.sigma) : 0;
  return {joint, g.order, g.rate, sign, plus.sigma, minus.sigma, plus.rank, minus.rank};
}

/// The set's best combination of directions by finite motion; `joints` empty where none restores the rank.
EscapeSet try_set(const Case& c, const Split& split, const std::vector<int>& set) {
  const unsigned patterns = 1u << set.size();
  std::vector<double> sigma;
  unsigned best = 0;
  bool leaves = false;
  for (unsigned negative = 0; negative < patterns; ++negative) {
    const Finite found = after(c, set_direction(c.joints(), set, negative));
    leaves = leaves || found.rank >= c.generic_rank;
    sigma.push_back(found.sigma);
    // Ties keep the first pattern, so that rounding does not choose.
    if (found.sigma > sigma[best] * (1 + 1e-9)) best = negative;
  }
  if (!leaves) return {};
  const std::vector<double> dq = set_direction(c.joints(), set, best);
  const Growth g = growth(c, split, dq);
  EscapeSet out{set, g.order, g.rate, {}, {}, sigma[best]};
  for (std::size_t k = 0; k < set.size(); ++k) {
    // A joint's sign matters if turning it alone makes things worse.
    const int better = larger(sigma[best], sigma[best ^ (1u << k)]);
    const double along = dq[static_cast<std::size_t>(set[k])];
    out.sign.push_back(better == 0 ? 0 : along > 0 ? 1 : -1);
    out.direction.push_back(along);
  }
  return out;
}

std::vector<EscapeSet> smallest_sets(const Case& c, const Split& split, int max_set_size) {
  std::vector<EscapeSet> found;
  // A larger set says nothing new where a smaller one does it.
  for (int size = 1; size <= max_set_size && found.empty(); ++size) {
    for (const std::vector<int>& set : inner_sets(c.joints(), size)) {
      EscapeSet escape = try_set(c, split, set);
      if (!escape.joints.empty()) found.push_back(std::move(escape));
    }
  }
  return found;
}

Displacement apply_escapes(const Case& c, const std::vector<EscapeSet>& sets) {
  Displacement out;
  const auto best = std::max_element(sets.begin(), sets.end(),
                                     [](const EscapeSet& a, const EscapeSet& b) { return a.sigma < b.sigma; });
  if (best == sets.end()) return out;
  std::vector<double> direction(c.screw.size(), 0.0);
  for (std::size_t k = 0; k < best->joints.size(); ++k)
    direction[static_cast<std::size_t>(best->joints[k])] = best->direction[k];
  const Finite found = after(c, direction);
  for (int j = 0; j < c.joints(); ++j)
    // Out of scaled steps: slides are in units of the scaling's length.
    out.motion.push_back(direction[static_cast<std::size_t>(j)] * c.step * c.unit(j));
  out.rank = found.rank;
  out.sigma = found.sigma;
  return out;
}

/// One freedom, one wrench: |M(delta)| is largest along the leading singular vector of the stacked rows M_j.
void best_first_order(const Case& c, const Split& split, Analysis& out) {
  Matrix rows(c.joints(), split.V0.cols());
  for (int j = 0; j < c.joints(); ++j)
    rows.row(j) = triple_product(split.U0t, first_derivative(c.screw, set_direction(c.joints(), {j}, 0)), split.V0);
  const Svd f = svd(rows);
  const double rate = sigma_at(singular_values(f), 1);
  if (rate <= c.zero) return;
  out.best_rate = rate;
  const Matrix direction = unique_basis(f.matrixU().leftCols(1));
  out.best_direction.assign(direction.data(), direction.data() + direction.size());
}

/// u . [$j $k] / 2 for j < k, symmetric, on the null space.
std::vector<double> self_motion_form(const Case& c, const Split& split) {
  const int n = c.joints();
  Matrix N = Matrix::Zero(n, n);
  for (int j = 0; j < n; ++j) {
    for (int k = j + 1; k < n; ++k) {
      const Matrix triple_product =
          split.U0t * jacobian({cross(c.screw[static_cast<std::size_t>(j)], c.screw[static_cast<std::size_t>(k)])});
      // Symmetric: only that part of a form counts on v' N v.
      N(j, k) = N(k, j) = 0.5 * triple_product(0, 0);
    }
  }
  return symmetric_eigenvalues(triple_product(split.V0.transpose(), N, split.V0));
}

SelfMotion classify_self_motion(const std::vector<double>& eigenvalues, double zero) {
  if (eigenvalues.empty()) return SelfMotion::kNone;
  const double most = eigenvalues.front(), least = eigenvalues.back();
  if (most > zero && least < -zero) return SelfMotion::kEscapes;
  if (least > zero || most < -zero) return SelfMotion::kNone;
  return SelfMotion::kUndecided;
}

}  // namespace

void analyze_escape(const Case& c, int max_set_size, const Svd& jac, Analysis& out) {
  const Split parts = split(c, jac, out.rank);
  for (int j = 0; j < c.joints(); ++j) out.escape.push_back(find_escape(c, parts, j));
  out.escape_sets = smallest_sets(c, parts, max_set_size);
  out.recovery = apply_escapes(c, out.escape_sets);
  // Only with one wrench and one lost freedom is M a single row.
  if (out.rank != 5 || parts.lost != 1) return;
  best_first_order(c, parts, out);
  out.self_motion_form = self_motion_form(c, parts);
  out.self_motion = classify_self_motion(out.self_motion_form, c.zero);
}

}  // namespace garra::singularity
