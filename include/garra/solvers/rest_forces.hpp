// Decides whether forces inside friction cones exist that leave every contact at rest
// (docs/theory/grasp-model.md, section 7).
//
//   find c with  |A_j c + b_j| <= most  at every contact j,  c in K = { |c_T| <= mu c_n, least <= c_n <= limit }  (1)
//
// A is the symmetric, positive semidefinite matrix of a contact problem. (1) is convex. By Farkas'
// lemma either there is such a c, or there is a y with
//   y.b - most sum_j |y_j| + sum_j (limit_j or least_j) (z_n - mu |z_T|)_j > 0,   z = A y                      (2)
//
// (limit_j if the factor behind it is negative, else least_j). Then every c of K leaves |A_j c +
// b_j| above `most` at some contact. Each answer comes with its c or its y. A contact without a
// limit may press with kMaxRest times the first forces of the search.
//
// Method: first y = A^-1 z, where z are the given accelerations projected into the cones' duals: it
// decides most problems whose contacts slip by far. Then a primal-dual interior-point method (as
// wrench_balance.hpp) for
//   min t  with  |A_j c + b_j| <= most (1 + t),  c in K                                                      (3)
//
// until c shows (1) or the multipliers show (2).
//
// The number of contacts is a run-time number: one machine code for all. Few samples of a study
// need this search, so lanes run it one after another.
#pragma once

#include "garra/core/elementary.hpp"
#include "garra/solvers/second_order_cone.hpp"

namespace garra::solvers {

inline constexpr double kMaxRest = 1e4;       ///< largest force without a limit, in units of the given ones
inline constexpr double kRestMargin = 1e-10;  ///< the value of (2) counts above this share of sum |y_j| (most + |b_j|)

/// A problem (1) of `n` contacts with D numbers each, in the caller's memory. The caller sets A, b,
/// mu, limit, least and c (first forces, in their cones); the search changes them.
template <int D>
struct RestProblem {
  int n;
  double most;  ///< [m/s^2], above 0
  double* at;   ///< room(n) numbers

  [[nodiscard]] static GARRA_HD constexpr int room(int n) {
    const int m = D * n;
    return m * m + (m + 1) * (m + 1) + (10 + D) * m + 9 * n + 1;
  }
  [[nodiscard]] GARRA_HD int rows() const { return D * n; }
  [[nodiscard]] GARRA_HD double& A(int i, int k) const { return at[i * rows() + k]; }
  /// Newton's matrix of (c, t), or a factor of A; only the lower triangle is used.
  [[nodiscard]] GARRA_HD double& H(int i, int k) const { return at[rows() * rows() + i * (rows() + 1) + k]; }
  [[nodiscard]] GARRA_HD double* b() const { return at + rows() * rows() + (rows() + 1) * (rows() + 1); }
  [[nodiscard]] GARRA_HD double* c() const { return b() + rows(); }
  [[nodiscard]] GARRA_HD double* y() const { return c() + rows(); }
  [[nodiscard]] GARRA_HD double* mu() const { return y() + rows(); }
  [[nodiscard]] GARRA_HD double* limit() const { return mu() + n; }
  [[nodiscard]] GARRA_HD double* least() const { return limit() + n; }
  /// Working memory of the search.
  [[nodiscard]] GARRA_HD double* rest() const { return least() + n; }
};

struct RestAnswer {
  double exists;  ///< 1: `c` of the problem shows (1); 0: `y` shows (2); NaN: not decided, or not finite
  int steps;      ///< of the interior-point method
};

namespace rest {

/// State of the search. Forces are in units of the given ones, tangential ones over their friction
/// coefficient, accelerations and y in units of `most`.
template <int D>
struct Search {
  using Force = Vec<double, D>;
  using Motion = Vec<double, D + 1>;  ///< (most, acceleration of a contact): a cone, too

  RestProblem<D> p;
  double unit;  ///< of forces [N]
  double t;
  double *z, *v, *q, *u, *w;  ///< multipliers of c, of the limits, of the least forces above 0, of (1 + t, a)
  double* a;                  ///< A c + b
  double *dz, *dv, *dq, *du, *dw, *dc, *da;
  double* row;  ///< D rows of a product

  GARRA_HD explicit Search(const RestProblem<D>& problem) : p(problem), unit(1), t(0) {
    const int m = p.rows(), n = p.n;
    double* next = p.rest();
    for (double** part : {&z, &w, &a, &dz, &dw, &da}) {
      *part = next;
      next += m;
    }
    for (double** part : {&v, &q, &u, &dv, &dq, &du}) {
      *part = next;
      next += n;
    }
    dc = next;
    row = dc + m + 1;
  }

  template <int M>
  static GARRA_HD Vec<double, M> part(const double* all, int j) {
    Vec<double, M> out;
    for (int k = 0; k < M; ++k) out[k] = all[M * j + k];
    return out;
  }
  /// (first; its numbers of contact j).
  static GARRA_HD Motion motion(double first, const double* all, int j) {
    Motion out;
    out[0] = first;
    for (int k = 0; k < D; ++k) out[1 + k] = all[D * j + k];
    return out;
  }

  /// Factors the symmetric matrix in H by LDL^T, its first `size` rows, in place; the pivots'
  /// inverses on the diagonal. False if a pivot is rounding noise.
  GARRA_HD bool factor(int size) const {
    bool definite = true;
    for (int j = 0; j < size; ++j) {
      const double diagonal = p.H(j, j);
      double pivot = diagonal;
      for (int k = 0; k < j; ++k) {
        const double l = p.H(j, k) * p.H(k, k);
        pivot = fma(-p.H(j, k), l, pivot);
        row[k] = l;
      }
      const bool bad = !(pivot > 4 * size * 0x1p-52 * diagonal);
      definite = definite && !bad;
      p.H(j, j) = bad ? 0 : 1 / pivot;
      for (int i = j + 1; i < size; ++i) {
        double sum = p.H(i, j);
        for (int k = 0; k < j; ++k) sum = fma(-p.H(i, k), row[k], sum);
        p.H(i, j) = sum;  // L D; the diagonal's inverse turns it into L
      }
    }
    return definite;
  }
  GARRA_HD void solve(int size, double* x) const {
    for (int i = 0; i < size; ++i)
      for (int k = 0; k < i; ++k) x[i] = fma(-p.H(i, k) * p.H(k, k), x[k], x[i]);
    for (int i = 0; i < size; ++i) x[i] *= p.H(i, i);
    for (int i = size; i-- > 0;)
      for (int k = i + 1; k < size; ++k) x[i] = fma(-p.H(k, i) * p.H(i, i), x[k], x[i]);
  }

  /// a = A c + b.
  GARRA_HD void move() const {
    const int m = p.rows();
    for (int i = 0; i < m; ++i) {
      double sum = p.b()[i];
      for (int k = 0; k < m; ++k) sum = fma(p.A(i, k), p.c()[k], sum);
      a[i] = sum;
    }
  }

  /// In the problem's own units: y = A^-1 z for z a little inside of the cones' duals. False if A
  /// is not definite.
  GARRA_HD bool guess_y() const {
    const int m = p.rows();
    move();
    double size = 0;
    for (int i = 0; i < m; ++i) {
      size = max(size, abs(a[i]));
      for (int k = 0; k <= i; ++k) p.H(i, k) = p.A(i, k);
    }
    for (int j = 0; j < p.n; ++j) {
      const double slip = tangential_length(part<D>(a, j));
      for (int k = 1; k < D; ++k) p.y()[D * j + k] = a[D * j + k];
      p.y()[D * j] = max(a[D * j], 0.0) + p.mu()[j] * slip + 1e-9 * size;
    }
    if (!factor(m)) return false;
    solve(m, p.y());
    return true;
  }

  /// Converts to the search's units.
  GARRA_HD void scale() {
    const int m = p.rows();
    double force = 0, load = 0, diagonal = 0;
    for (int i = 0; i < m; ++i) {
      force = max(force, abs(p.c()[i]));
      load = max(load, abs(p.b()[i]));
      diagonal = max(diagonal, p.A(i, i));
    }
    unit = force > 0 ? force : load > 0 && diagonal > 0 ? load / diagonal : 1;
    const double per_most = 1 / p.most, stiff = unit * per_most;
    for (int j = 0; j < p.n; ++j) {
      const double friction = min(p.mu()[j], kMaxRest), inverse = friction > 0 ? 1 / friction : 0;
      for (int k = 0; k < D; ++k) {
        p.b()[D * j + k] *= per_most;
        p.c()[D * j + k] *= (k > 0 ? inverse : 1) / unit;
        const double by = stiff * (k > 0 ? friction : 1);
        for (int i = 0; i < m; ++i) p.A(i, D * j + k) *= by;
      }
      p.mu()[j] = friction;
      p.least()[j] /= unit;
      p.limit()[j] = max(min(p.limit()[j] / unit, kMaxRest), (1 + 1e-9) * p.least()[j] + 1e-9);
    }
  }

  /// Whether y shows (2).
  GARRA_HD bool refutes(const double* y) const {
    const int m = p.rows();
    double value = 0, size = 0;
    for (int j = 0; j < p.n; ++j) {
      const double length = norm(part<D>(y, j));
      value -= length;
      size = fma(length, 1 + norm(part<D>(p.b(), j)), size);
      Force image;
      for (int k = 0; k < D; ++k) {
        value = fma(y[D * j + k], p.b()[D * j + k], value);
        double sum = 0;
        for (int i = 0; i < m; ++i) sum = fma(p.A(i, D * j + k), y[i], sum);
        image[k] = sum;
      }
      const double gain = image[0] - tangential_length(image);
      value += (gain < 0 ? p.limit()[j] : p.least()[j]) * gain;
    }
    return value > kRestMargin * size;
  }
  /// Whether c, which is in the cones, shows (1).
  [[nodiscard]] GARRA_HD bool rests() const {
    bool all = true;
    for (int j = 0; j < p.n; ++j) all = all && norm(part<D>(a, j)) <= 1;
    return all;
  }

  /// Whether c, which is in the cones, has allowed sizes.
  [[nodiscard]] GARRA_HD bool allowed() const {
    bool all = true;
    for (int j = 0; j < p.n; ++j) all = all && p.c()[D * j] <= p.limit()[j] && p.c()[D * j] >= p.least()[j];
    return all;
  }

  /// Starts inside of all cones, beside the given forces.
  GARRA_HD void begin_iterations() {
    for (int j = 0; j < p.n; ++j) {
      Force c = part<D>(p.c(), j);
      const double least = p.least()[j], most = 0.5 * (least + p.limit()[j]);
      c[0] = max(max(c[0], tangential_length(c)) + 0.1, 1.1 * least);
      const double share = c[0] > most ? most / c[0] : 1;
      for (int k = 0; k < D; ++k) p.c()[D * j + k] = share * c[k];
    }
    move();
    t = 0;
    for (int j = 0; j < p.n; ++j) t = max(t, 1.1 * norm(part<D>(a, j)));
    double sum = 0;  // of u: 1 at the optimum of (3)
    for (int j = 0; j < p.n; ++j) sum += (1 + t) / cone::depth2(motion(1 + t, a, j));
    const double mean = 1 / sum;
    for (int j = 0; j < p.n; ++j) {
      const Force c = part<D>(p.c(), j);
      const double depth = mean / cone::depth2(c), away = mean / cone::depth2(motion(1 + t, a, j));
      for (int k = 0; k < D; ++k) {
        z[D * j + k] = (k > 0 ? -depth : depth) * c[k];
        w[D * j + k] = -away * a[D * j + k];
      }
      u[j] = away * (1 + t);
      v[j] = mean / (p.limit()[j] - c[0]);
      q[j] = p.least()[j] > 0 ? mean / (c[0] - p.least()[j]) : 0;
    }
  }

  /// H of a cone at (s, z): its scaling matrix.
  template <int M>
  static GARRA_HD Mat<double, M, M> stiffness(const Vec<double, M>& s, const Vec<double, M>& its) {
    const auto [along, eta2] = cone::make_scaling(s, its);
    Mat<double, M, M> out;
    const double inverse = 1 / eta2;
    for (int r = 0; r < M; ++r)
      for (int k = 0; k < M; ++k) {
        const double sign = (r > 0) == (k > 0) ? 2.0 : -2.0;
        out(r, k) = inverse * fma(sign * along[r], along[k], r != k ? 0.0 : r == 0 ? -1.0 : 1.0);
      }
    return out;
  }

  GARRA_HD void set_matrix() const {
    const int m = p.rows();
    for (int i = 0; i <= m; ++i)
      for (int k = 0; k <= i; ++k) p.H(i, k) = 0;
    for (int j = 0; j < p.n; ++j) {
      const auto own = stiffness(part<D>(p.c(), j), part<D>(z, j));
      for (int r = 0; r < D; ++r)
        for (int k = 0; k <= r; ++k) p.H(D * j + r, D * j + k) += own(r, k);
      p.H(D * j, D * j) += v[j] / (p.limit()[j] - p.c()[D * j]);
      if (p.least()[j] > 0) p.H(D * j, D * j) += q[j] / (p.c()[D * j] - p.least()[j]);
    }
    for (int j = 0; j < p.n; ++j) {
      const auto of = stiffness(motion(1 + t, a, j), motion(u[j], w, j));
      for (int r = 0; r < D; ++r)
        for (int k = 0; k < m; ++k) {
          double sum = 0;
          for (int i = 0; i < D; ++i) sum = fma(of(1 + r, 1 + i), p.A(D * j + i, k), sum);
          row[r * m + k] = sum;
        }
      for (int i = 0; i < m; ++i) {
        for (int r = 0; r < D; ++r) {
          const double x = p.A(D * j + r, i);
          for (int k = 0; k <= i; ++k) p.H(i, k) = fma(x, row[r * m + k], p.H(i, k));
          p.H(m, i) = fma(of(0, 1 + r), x, p.H(m, i));
        }
      }
      p.H(m, m) += of(0, 0);
    }
    for (int i = 0; i <= m; ++i) p.H(i, i) *= 1 + 1e-14;
  }

  /// The step toward products of size `target`. Returns its largest admissible length.
  GARRA_HD double step(double target) const {
    const int m = p.rows();
    for (int i = 0; i < m; ++i) dc[i] = 0;
    dc[m] = -1;
    for (int j = 0; j < p.n; ++j) {
      const Force c = part<D>(p.c(), j);
      const double depth = target / cone::depth2(c), away = target / cone::depth2(motion(1 + t, a, j));
      for (int k = 0; k < D; ++k) dc[D * j + k] += (k > 0 ? -depth : depth) * c[k];
      dc[D * j] -= target / (p.limit()[j] - c[0]);
      if (p.least()[j] > 0) dc[D * j] += target / (c[0] - p.least()[j]);
      dc[m] = fma(away, 1 + t, dc[m]);
      for (int r = 0; r < D; ++r) {
        const double push = -away * a[D * j + r];
        for (int k = 0; k < m; ++k) dc[k] = fma(push, p.A(D * j + r, k), dc[k]);
      }
    }
    solve(m + 1, dc);
    double longest = __builtin_huge_val();
    for (int j = 0; j < p.n; ++j) {
      const Force c = part<D>(p.c(), j), its = part<D>(z, j), d = part<D>(dc, j);
      const auto own = stiffness(c, its);
      const double depth = target / cone::depth2(c);
      Force to = own * d;
      for (int k = 0; k < D; ++k) dz[D * j + k] = to[k] = (k > 0 ? -depth : depth) * c[k] - to[k] - its[k];
      longest = min(min(longest, cone::way_out(c, d)), cone::way_out(its, to));
      const double room = p.limit()[j] - c[0];
      dv[j] = (target + v[j] * d[0]) / room - v[j];
      if (d[0] > 0) longest = min(longest, room / d[0]);
      if (dv[j] < 0) longest = min(longest, -v[j] / dv[j]);
      if (p.least()[j] > 0) {
        const double above = c[0] - p.least()[j];
        dq[j] = (target - q[j] * d[0]) / above - q[j];
        if (d[0] < 0) longest = min(longest, -above / d[0]);
        if (dq[j] < 0) longest = min(longest, -q[j] / dq[j]);
      }
      const Motion s = motion(1 + t, a, j), at = motion(u[j], w, j);
      Motion ds;
      ds[0] = dc[m];
      for (int r = 0; r < D; ++r) {
        double sum = 0;
        for (int k = 0; k < m; ++k) sum = fma(p.A(D * j + r, k), dc[k], sum);
        ds[1 + r] = da[D * j + r] = sum;
      }
      const double away = target / cone::depth2(s);
      Motion pull = stiffness(s, at) * ds;
      for (int k = 0; k <= D; ++k) pull[k] = (k > 0 ? -away : away) * s[k] - pull[k] - at[k];
      du[j] = pull[0];
      for (int k = 0; k < D; ++k) dw[D * j + k] = pull[1 + k];
      longest = min(min(longest, cone::way_out(s, ds)), cone::way_out(at, pull));
    }
    return longest;
  }

  /// Mean of the products that go to zero.
  [[nodiscard]] GARRA_HD double mean() const {
    double sum = 0;
    int products = 3 * p.n;
    for (int j = 0; j < p.n; ++j) {
      sum += dot(part<D>(p.c(), j), part<D>(z, j)) + dot(motion(1 + t, a, j), motion(u[j], w, j));
      sum = fma(p.limit()[j] - p.c()[D * j], v[j], sum);
      if (p.least()[j] > 0) {
        sum = fma(p.c()[D * j] - p.least()[j], q[j], sum);
        ++products;
      }
    }
    return sum / products;
  }

  GARRA_HD RestAnswer iterate() {
    constexpr int kMaxSteps = 60;
    const int m = p.rows();
    const double nan = __builtin_nan("");
    move();
    if (allowed() && rests()) return {1, 0};
    begin_iterations();
    for (int steps = 0;; ++steps) {
      if (rests()) return {1, steps};
      for (int i = 0; i < m; ++i) p.y()[i] = -w[i];
      if (refutes(p.y())) return {0, steps};
      if (steps == kMaxSteps || !is_finite(t)) return {nan, steps};
      set_matrix();
      factor(m + 1);
      const double size = mean(), far = min(step(0), 1.0);
      const double share = max(min(1.5 * (1 - far), 1.0), 0.1);  // as wrench_balance.hpp has it
      const double length = min(0.9 * step(share * size), 1.0);
      for (int i = 0; i < m; ++i) {
        p.c()[i] = fma(length, dc[i], p.c()[i]);
        z[i] = fma(length, dz[i], z[i]);
        w[i] = fma(length, dw[i], w[i]);
      }
      for (int j = 0; j < p.n; ++j) {
        v[j] = fma(length, dv[j], v[j]);
        u[j] = fma(length, du[j], u[j]);
        if (p.least()[j] > 0) q[j] = fma(length, dq[j], q[j]);
      }
      t = fma(length, dc[m], t);
      move();
    }
  }

  /// Converts c to newtons.
  GARRA_HD void restore() const {
    for (int j = 0; j < p.n; ++j)
      for (int k = 0; k < D; ++k) p.c()[D * j + k] *= unit * (k > 0 ? p.mu()[j] : 1);
  }
};

}  // namespace rest

/// Decides (1).
template <int D>
[[nodiscard]] GARRA_HD_CALL RestAnswer rest_forces(RestProblem<D> p) {
  if (p.n == 0) return {1, 0};
  rest::Search<D> search(p);
  const bool guessed = search.guess_y();
  search.scale();
  if (guessed && search.refutes(p.y())) return {0, 0};
  const RestAnswer out = search.iterate();
  search.restore();
  return out;
}

}  // namespace garra::solvers
