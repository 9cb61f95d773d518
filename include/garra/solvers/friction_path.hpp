// The path of friction_interior.hpp, followed by its length through turning points
// (docs/theory/contact-solver.md, "The path by its length"). Per contact, with the depth d = c_n^2
// - |c_T|^2 in its cone |c_T| <= c_n, a = A c + b and the share w of the shift,
//
//   a_n = t / (c_n + |c_T|) + (1 - w) t |c_T| / d,   a_T = -(t / d) c_T,   w = t_1 / (t_1 + t),                    (1)
//
// which is c o z = t e and z = a + w |z_T| e_n without z. For w = 0, (1) is the condition of a
// convex problem with a unique solution. From there the curve of solutions (c, t) leads to t = 0 if
// it stays bounded, but t may rise on the way (S. N. Chow, J. Mallet-Paret, J. A. Yorke, Math.
// Comput. 32, 1978). The curve is bounded if A is positive definite, or if the load presses no
// internal forces together.
#pragma once

#include "garra/solvers/friction_refine.hpp"

namespace garra::solvers {

/// State of the solver on one problem, in units in which every cone is |c_T| <= c_n and A_TT has
/// mean diagonal 1, or A_jj if mu < 1.
template <int N, class Matrix = Mat<double, 3 * N, 3 * N>>
struct PathState {
  FrictionProblem<double, N, 3, Matrix> problem;  ///< mu: as given
  Vec<double, 3 * N> unit;                        ///< force units
  Vec<double, 3 * N> c, low;                      ///< c + low is the force, in twice the precision
  Vec<double, N> depth;
  double t;
  Vec<double, 3 * N> way;  ///< previous step, in the variables of `step`
  double way_t;            ///< change of log t in it; 0 before the first
  double length;           ///< of the next step
  double steps;
  double running;  ///< 1 while unfinished
};

struct FrictionPath {
  double tolerance = 1e-8;
  int max_iterations = 800;   ///< stop: steps >= max_iterations
  double longest = 2;         ///< a step's change of log t, log depths and c_T / c_n is at most this
  double first_force = 1000;  ///< start of the path: every c_n; t is its square

  template <int N, class Matrix>
  GARRA_HD_CALL void start(const FrictionProblem<double, N, 3, Matrix>& given, PathState<N, Matrix>& s) const;

  template <int N, class Matrix>
  GARRA_HD_CALL void step(PathState<N, Matrix>& s) const;

  template <int N, class Matrix>
  static GARRA_HD bool running(const PathState<N, Matrix>& s) {
    return s.running > 0;
  }
  template <int N, class Matrix>
  [[nodiscard]] GARRA_HD Candidate<double, N> candidate(const PathState<N, Matrix>& s) const;
};

namespace friction_path {

/// Largest friction coefficient on the path, which replaces larger ones: friction of a contact that
/// slips then leaves a normal force of 1e-10 of itself.
inline constexpr double kMaxMu = 1e10;

/// About e^x: positive, and exact to second order.
GARRA_HD double growth(double x) {
  const double e = abs(x), grown = fma(e, fma(0.5, e, 1.0), 1.0);
  return x > 0 ? grown : 1 / grown;
}

/// c_n = sqrt(d + |c_T|^2) in twice the precision.
template <int N, class Matrix>
GARRA_HD void set_normal(PathState<N, Matrix>& s, int j) {
  const int n = 3 * j;
  double square = s.depth[j], rest = 0;
  for (int i = n + 1; i < n + 3; ++i) {
    const double product = s.c[i] * s.c[i];
    rest += fma(s.c[i], s.c[i], -product) + 2 * s.c[i] * s.low[i];
    square = friction_problem_detail::two_sum(square, product, rest);
  }
  s.c[n] = sqrt(square);
  s.low[n] = (fma(-s.c[n], s.c[n], square) + rest) / (2 * s.c[n]);
}

/// Terms of (1) at a contact.
struct Shape {
  double length;     ///< |c_T|
  Vec<double, 3> d;  ///< c_T / |c_T|
  double round;      ///< t / (c_n + |c_T|)
  double slope;      ///< -d round / d c_n
};

/// Residual of (1), and its derivative by log t.
template <int N>
struct Lack {
  Vec<double, 3 * N> value, by_t;
  Shape shape[kCapacity<N>];
};
/// Computes the residual; `share`: w.
template <int N, class Matrix>
GARRA_HD_CALL void compute_lack(const PathState<N, Matrix>& s, double share, Lack<N>& out) {
  constexpr int M = 3 * N;
  const Vec<double, M> rest = s.problem.A * s.low;
  const auto entry = [&](int i, int k) { return s.problem.A(i, k); };
  for (int i = 0; i < extent<M>(); ++i)
    out.value[i] =
        friction_problem_detail::compensated_row_change<M, double>(entry, s.c, s.problem.b[i], 0.0, i).value + rest[i];
  for (int j = 0; j < extent<N>(); ++j) {
    const int n = 3 * j;
    Shape& at = out.shape[j];
    at.length = tangential_length(contact<double, N>(s.c, j));
    at.round = s.t / (s.c[n] + at.length);
    at.slope = at.round / (s.c[n] + at.length);
    const double back = (1 - share) * s.t * at.length / s.depth[j];
    out.value[n] -= at.round + back;
    out.by_t[n] = -(at.round + (1 + share) * back);
    for (int i = 1; i < 3; ++i) {
      at.d[i] = at.length > 0 ? s.c[n + i] / at.length : 0;
      out.by_t[n + i] = s.t * s.c[n + i] / s.depth[j];
      out.value[n + i] += out.by_t[n + i];
    }
  }
}

/// The change (of log d, of c_T / c_n) that removes f to first order. Rows are scaled to one size.
template <int N, class Matrix>
GARRA_HD_CALL Vec<double, 3 * N> path_direction(const PathState<N, Matrix>& s, double share, const Lack<N>& at,
                                                const Vec<double, 3 * N>& f) {
  constexpr int M = 3 * N;
  Matrix K;
  take_room(K, s.problem.A);
  Vec<double, M> rhs;
  for (int i = 0; i < extent<M>(); ++i) {
    double largest = 0;
    for (int j = 0; j < extent<N>(); ++j) {
      const int n = 3 * j;
      const Shape& shape = at.shape[j];
      const double normal = s.c[n], steep = s.t / s.depth[j], by_normal = s.problem.A(i, n);
      K(i, n) = (by_normal + (i == n ? shape.slope : 0)) * (0.5 * s.depth[j] / normal);
      if (i == n) K(i, n) += (1 - share) * steep * shape.length;
      if (i == n + 1 || i == n + 2) K(i, n) -= steep * s.c[i];
      for (int k = n + 1; k < n + 3; ++k) {
        double entry = fma(by_normal + (i == n ? shape.slope : 0), s.c[k] / normal, s.problem.A(i, k));
        if (i == n) entry += shape.d[k - n] * (shape.slope - (1 - share) * steep);
        if (i == k) entry += steep;
        K(i, k) = normal * entry;
      }
      for (int k = n; k < n + 3; ++k) largest = max(largest, abs(K(i, k)));
    }
    const double unit = largest > 0 ? 1 / largest : 1;
    for (int k = 0; k < extent<M>(); ++k) K(i, k) = unit * K(i, k);
    rhs[i] = -unit * f[i];
  }
  return friction_refine::solved_in_place<M>(K, rhs);
}

}  // namespace friction_path

template <int N, class Matrix>
GARRA_HD_CALL void FrictionPath::start(const FrictionProblem<double, N, 3, Matrix>& given,
                                       PathState<N, Matrix>& s) const {
  take_room(s.problem.A, given.A);
  s.problem.mu = given.mu;
  double size_b = 0;
  for (int j = 0; j < extent<N>(); ++j) {
    double mean = 0;
    for (int i = 0; i < 3; ++i) mean += given.A(3 * j + i, 3 * j + i) / 3;
    const double root = mean > 0 ? 1 / sqrt(mean) : 1, mu = min(given.mu[j], friction_path::kMaxMu);
    for (int i = 0; i < 3; ++i) {
      s.unit[3 * j + i] = i == 0 ? root / max(mu, 1.0) : root * min(mu, 1.0);
      size_b = max(size_b, abs(root * given.b[3 * j + i]));
    }
    s.depth[j] = first_force * first_force;
  }
  if (!(size_b > 0)) size_b = 1;
  for (int i = 0; i < extent<3 * N>(); ++i) {
    s.problem.b[i] = s.unit[i] * given.b[i] / size_b;
    for (int k = 0; k < extent<3 * N>(); ++k) s.problem.A(i, k) = s.unit[i] * given.A(i, k) * s.unit[k];
  }
  s.unit = size_b * s.unit;
  s.c = s.low = s.way = Vec<double, 3 * N>::zero();
  s.t = first_force * first_force;
  s.length = 0.5;
  s.way_t = s.steps = 0;
  s.running = max_iterations > 0 ? 1 : 0;
}

/// Newton's step back to the path, orthogonal to it, and a step along it.
template <int N, class Matrix>
GARRA_HD_CALL void FrictionPath::step(PathState<N, Matrix>& s) const {
  using namespace friction_path;
  constexpr double kTurn = 1e-2;                  // t_1 of the first t
  constexpr double kLast = 1e-22, kShort = 1e-6;  // end of the path; and its limit by rounding
  constexpr double kAim = 0.1, kFar = 0.25;  // of `longest`: distance that a step may leave; largest one for a step
                                             // along
  constexpr double kLost = 1e4;  // of the first t: the iteration has jumped to another path, which rises without end
  const double turn = kTurn * first_force * first_force, share = turn / (turn + s.t);
  for (int j = 0; j < extent<N>(); ++j) set_normal(s, j);
  Lack<N> lack;
  compute_lack(s, share, lack);
  Vec<double, 3 * N> d = path_direction(s, share, lack, lack.value);
  const Vec<double, 3 * N> along = path_direction(s, share, lack, lack.by_t);
  const bool begun = s.way_t != 0;  // before, t is held
  const double size2 = 1 + dot(along, along);
  double dt = begun ? -dot(d, along) / size2 : 0;
  d = axpy(dt, along, d);
  const double distance = sqrt(dot(d, d) + dt * dt);
  if (distance > kFar * longest) {
    if (begun) s.length = 0.5 * s.length;
  } else {
    s.length = min(s.length * min(2.0, sqrt(kAim * longest / distance)), longest);
    const bool same = begun && dot(s.way, along) + s.way_t > 0;
    s.way_t = (same ? s.length : -s.length) / sqrt(size2);
    s.way = s.way_t * along;
    d = d + s.way;
    dt += s.way_t;
  }
  const double size = sqrt(dot(d, d) + dt * dt), part = size > longest ? longest / size : 1;
  s.steps += 1;
  if (!is_finite(size)) {
    s.running = 0;
    return;
  }
  for (int j = 0; j < extent<N>(); ++j) {
    s.depth[j] = s.depth[j] * growth(part * d[3 * j]);
    for (int i = 3 * j + 1; i < 3 * j + 3; ++i) {
      double rest = 0;
      s.c[i] = friction_problem_detail::two_sum(s.c[i], fma(part * s.c[3 * j], d[i], s.low[i]), rest);
      s.low[i] = rest;
    }
  }
  s.t = s.t * growth(part * dt);
  const bool lost = s.t > kLost * first_force * first_force;
  if (s.steps >= max_iterations || s.t < kLast || s.length < kShort || lost) s.running = 0;
}

template <int N, class Matrix>
GARRA_HD Candidate<double, N> FrictionPath::candidate(const PathState<N, Matrix>& s) const {
  constexpr double kSlips = 1e-3;  // of c_n^2: a depth below it
  Effort<double> effort = Effort<double>::none();
  effort.outer = s.steps;
  Vec<double, 3 * N> c;
  for (int j = 0; j < extent<N>(); ++j) {
    for (int i = 3 * j; i < 3 * j + 3; ++i) c[i] = s.unit[i] * s.c[i];
    if (s.problem.mu[j] > friction_path::kMaxMu && s.depth[j] < kSlips * s.c[3 * j] * s.c[3 * j])
      c[3 * j] = tangential_length(contact<double, N>(c, j)) / s.problem.mu[j];
  }
  return make_candidate<double, N>(c, double(int(Status::kIterationLimit)), effort);
}

}  // namespace garra::solvers
