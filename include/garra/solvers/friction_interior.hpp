// Interior-point method on the friction problem itself (docs/theory/contact-solver.md, "Interior
// points"). With z = a + mu |a_T| e_n of the dual cone, the solution of
//   A c + b + mu |z_T| e_n = z,   c_j in K_j, z_j in K*_j,   c_j o z_j = t e                                      (1)
//
// is followed for t -> 0 by Newton's method with the scaling of Nesterov and Todd. The shift mu
// |z_T| is differentiated too; V. Acary, P. Armand, H. M. Nguyen, M. Shpakovych, "Second-order cone
// programming for frictional contact mechanics using interior point algorithm", Optim. Methods
// Softw. 39, 2024, hold it within a step. Forces may grow by any factor on the way, so that
// ill-conditioned problems are no harder than others.
#pragma once

#include "garra/solvers/friction_refine.hpp"
#include "garra/solvers/second_order_cone.hpp"

namespace garra::solvers {

/// State of the solver, in units in which every cone is |c_T| <= c_n and A_jj has mean diagonal 1.
template <int N, int D = 3, class Matrix = Mat<double, D * N, D * N>>
struct InteriorState {
  FrictionProblem<double, N, D, Matrix> problem;
  Vec<double, D * N> unit;  ///< force units
  Vec<double, D * N> c, z;
  double center;            ///< share of the mean of c.z that a step aims at
  double mark, mark_steps;  ///< mean of c.z when it last fell by a good part, and steps since
  double steps;
  double running;  ///< 1 while unfinished
};

struct FrictionInterior {
  double tolerance = 1e-8;
  int max_iterations = 60;  ///< stop: steps >= max_iterations
  /// Start of the path: every c_n is this and every z_n is 1, both large for a load of 1. Small
  /// first forces leave a fifth of the problems of condition 1e12 unsolved, this value 4 %.
  double first_force = 1e6;
  int patience = 8;   ///< stop: as many steps without progress
  bool shift = true;  ///< false: without mu |z_T|, the condition of min 1/2 c.A c + b.c over the cones

  template <int N, int D, class Matrix>
  GARRA_HD_CALL void start(const FrictionProblem<double, N, D, Matrix>& given, InteriorState<N, D, Matrix>& s) const {
    take_room(s.problem.A, given.A);
    double size_b = 0;
    for (int j = 0; j < extent<N>(); ++j) {
      double mean = 0;
      for (int i = 0; i < D; ++i) mean += given.A(D * j + i, D * j + i) / D;
      const double root = mean > 0 ? 1 / sqrt(mean) : 1;
      for (int i = 0; i < D; ++i) s.unit[D * j + i] = i == 0 ? root : root * given.mu[j];
      for (int i = 0; i < D; ++i) size_b = max(size_b, abs(root * given.b[D * j + i]));
    }
    if (!(size_b > 0)) size_b = 1;
    for (int i = 0; i < extent<D * N>(); ++i) {
      s.problem.b[i] = s.unit[i] * given.b[i] / size_b;
      for (int k = 0; k < extent<D * N>(); ++k) s.problem.A(i, k) = s.unit[i] * given.A(i, k) * s.unit[k];
    }
    s.problem.mu = given.mu;
    for (int i = 0; i < extent<D * N>(); ++i) s.unit[i] = s.unit[i] * size_b;
    s.c = Vec<double, D * N>::zero();
    s.z = s.c;
    for (int j = 0; j < extent<N>(); ++j) {
      s.c[D * j] = first_force;
      s.z[D * j] = 1;
    }
    s.center = first_force > 1 ? 0.1 : 0.5;
    s.steps = s.mark_steps = 0;
    s.mark = __builtin_huge_val();
    s.running = max_iterations > 0 ? 1 : 0;
  }

  template <int N, int D, class Matrix>
  GARRA_HD_CALL void step(InteriorState<N, D, Matrix>& s) const;

  template <int N, int D, class Matrix>
  static GARRA_HD bool running(const InteriorState<N, D, Matrix>& s) {
    return s.running > 0;
  }
  template <int N, int D, class Matrix>
  [[nodiscard]] GARRA_HD Candidate<double, N, D> candidate(const InteriorState<N, D, Matrix>& s) const {
    Effort<double> effort = Effort<double>::none();
    effort.outer = s.steps;
    Vec<double, D * N> c;
    for (int i = 0; i < extent<D * N>(); ++i) c[i] = s.unit[i] * s.c[i];
    return make_candidate<double, N, D>(c, double(int(Status::kIterationLimit)), effort);
  }
};

template <int N, int D, class Matrix>
GARRA_HD_CALL void FrictionInterior::step(InteriorState<N, D, Matrix>& s) const {
  constexpr int M = D * N;
  constexpr double kSmall = 1e-11, kOff = 1e-10;  // close enough for Newton
  const auto& p = s.problem;
  const Vec<double, M> a = p.A * s.c + p.b;
  const double mean = dot(s.c, s.z) / extent<N>();
  Vec<double, M> lack, aim;  // A c + b + |z_T| e_n - z, and t c^-1 - z
  Vec<double, M> toward;     // z_T / |z_T|
  double off = 0;
  Matrix K;
  take_room(K, p.A);
  for (int i = 0; i < extent<M>(); ++i)
    for (int k = 0; k < extent<M>(); ++k) K(i, k) = p.A(i, k);
  Mat<double, D, D> H[kCapacity<N>];
  for (int j = 0; j < extent<N>(); ++j) {
    const int n = D * j;
    const Vec<double, D> cj = contact<double, N, D>(s.c, j), zj = contact<double, N, D>(s.z, j);
    const double length = shift ? tangential_length(zj) : 0;
    toward[n] = 0;
    for (int i = 1; i < D; ++i) toward[n + i] = length > 0 ? zj[i] / length : 0;
    for (int i = 0; i < D; ++i) lack[n + i] = a[n + i] - zj[i] + (i == 0 ? length : 0);
    for (int i = 0; i < D; ++i) off = max(off, abs(lack[n + i]));
    const auto [w, eta2] = cone::make_scaling(cj, zj);
    const double inverse = 1 / eta2, depth = s.center * mean / cone::depth2(cj);
    for (int r = 0; r < D; ++r) {
      aim[n + r] = (r == 0 ? depth : -depth) * cj[r] - zj[r];
      for (int k = 0; k < D; ++k) {
        const double sign = (r == 0) == (k == 0) ? 2 : -2, diagonal = r != k ? 0 : r == 0 ? -1 : 1;
        H[j](r, k) = inverse * fma(sign * w[r], w[k], diagonal);
      }
    }
    // (I + E) A + H, E = e_n toward^T
    for (int i = D - 1; i > 0; --i)
      for (int k = 0; k < extent<M>(); ++k) K(n, k) = fma(toward[n + i], p.A(n + i, k), K(n, k));
    for (int r = 0; r < D; ++r)
      for (int k = 0; k < D; ++k) K(n + r, n + k) += H[j](r, k);
  }
  Vec<double, M> rhs;
  for (int j = 0; j < extent<N>(); ++j) {
    const int n = D * j;
    for (int i = 0; i < D; ++i) rhs[n + i] = aim[n + i] - lack[n + i];
    for (int i = 1; i < D; ++i) rhs[n] = fma(-toward[n + i], lack[n + i], rhs[n]);
  }
  const Vec<double, M> dc = friction_refine::solved_in_place<M>(K, rhs);
  Vec<double, M> dz;
  double length = 1 / 0.95;
  for (int j = 0; j < extent<N>(); ++j) {
    const Vec<double, D> change = contact<double, N, D>(aim, j) - H[j] * contact<double, N, D>(dc, j);
    set_contact<double, N, D>(dz, j, change);
    length = min(length, cone::way_out(contact<double, N, D>(s.c, j), contact<double, N, D>(dc, j)));
    length = min(length, cone::way_out(contact<double, N, D>(s.z, j), change));
  }
  length = 0.95 * length;
  s.steps += 1;
  if (!is_finite(length) || !is_finite(dot(dc, dc) + dot(dz, dz))) {
    s.running = 0;
    return;
  }
  s.c = axpy(length, dc, s.c);
  s.z = axpy(length, dz, s.z);
  s.center = length > 0.8 ? 0.05 : length > 0.4 ? 0.3 : 0.7;
  s.mark_steps += 1;
  if (mean < 0.7 * s.mark) {
    s.mark = mean;
    s.mark_steps = 0;
  }
  if (s.mark_steps >= patience) s.running = 0;
  if (s.steps >= max_iterations || (mean < kSmall && off < kOff)) s.running = 0;
}

/// A vector z != 0 in the cones with A z = 0 and b.z < 0: forces that press against one another,
/// accelerate nothing, and that the load presses together. If it exists a solution need not exist.
/// If there is none, even with b.z <= 0, a solution exists (Acary, Cadoux, Lemaréchal, Malick, ZAMM
/// 91, 2011). Computed by the method without shift on A + b b^T: the least value of z.A z + (b.z +
/// 1)^2 over the cones is zero if z exists.
template <int N, int D = 3>
struct InternalForce {
  bool found;
  double steps;
  Vec<double, D * N> z;  ///< largest entry 1, if found
};
template <int N, int D, class Matrix>
GARRA_HD_CALL InternalForce<N, D> internal_force(const FrictionProblem<double, N, D, Matrix>& p, int max_steps) {
  constexpr double kZero = 1e-5, kPressed = 0.9;
  FrictionInterior method;
  method.max_iterations = max_steps;
  method.first_force = 10;
  method.shift = false;
  InteriorState<N, D, Matrix> s;
  method.start(p, s);
  const Vec<double, D* N>& b = s.problem.b;
  for (int i = 0; i < extent<D * N>(); ++i)
    for (int k = 0; k < extent<D * N>(); ++k) s.problem.A(i, k) = fma(b[i], b[k], s.problem.A(i, k));
  while (method.running(s)) method.step(s);
  const double pressed = -dot(b, s.c), size = norm(s.c);
  const Vec<double, D* N> a = s.problem.A * s.c;
  double largest = 0;
  for (int i = 0; i < extent<D * N>(); ++i) largest = max(largest, abs(fma(b[i], pressed, a[i])));
  InternalForce<N, D> out;
  out.found = pressed >= kPressed && largest <= kZero * size;
  out.steps = s.steps;
  double most = 0;
  for (int i = 0; i < extent<D * N>(); ++i) {
    out.z[i] = s.unit[i] * s.c[i];
    most = max(most, abs(out.z[i]));
  }
  out.z = (1 / most) * out.z;
  return out;
}

}  // namespace garra::solvers
