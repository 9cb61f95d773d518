// The built-in set of small complementarity problems with known solutions, for tests and `garra contact bench --set
// mncp`.
//
// Problems of one shape share a type ("family"), so that a benchmark compiles a solver once for
// each shape. The residual decides whether a problem is solved; `known_solution` only tells which
// of the stated solutions was found. Host only.
//
// Sources: MCPLIB (S. Dirkse, M. Ferris, Optim. Methods Softw. 5 (1995) 319-345) and the GAMS models; W. Hock, K.
// Schittkowski, "Test Examples for Nonlinear Programming Codes", 1981 (hs); R. Cottle, J.-S. Pang, R. Stone, "The
// Linear Complementarity Problem", 1992, and the test data of Siconos (cps, pang, deudeu, murty, kostreva, mixed); C.
// Oberlin, S. Wright, Math. Program. B 117 (2009), A. Daryina, A. Izmailov, M. Solodov, SIAM J.
// Optim. 15 (2004), A. Izmailov, A. Kurennoy, M. Solodov, A. Arutyunov, A. Fischer, M. Jelitte,
// 2001-2021 (the tiny ones with singular or nonisolated solutions).
#pragma once

#include <array>
#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

#include "garra/solvers/mncp.hpp"

namespace garra::solvers {

/// A named problem of the family P: its numbers, the start that its source proposes, and known
/// solutions (u, v); if they form a set, some of its points.
template <class P>
struct MncpCase {
  std::string name;
  typename P::template Data<double> data;
  std::vector<double> start;
  std::vector<std::vector<double>> solutions;
};

/// Number of the known solution near x (relative distance below `near`), -1 if there is none.
template <class P>
[[nodiscard]] int known_solution(const MncpCase<P>& problem, const double* x, double near = 1e-4) {
  for (std::size_t k = 0; k < problem.solutions.size(); ++k) {
    double distance = 0, size = 1;
    for (std::size_t i = 0; i < problem.solutions[k].size(); ++i) {
      distance = std::max(distance, std::abs(x[i] - problem.solutions[k][i]));
      size = std::max(size, std::abs(problem.solutions[k][i]));
    }
    if (distance <= near * size) return static_cast<int>(k);
  }
  return -1;
}

/// Linear (mixed) complementarity problem: (F, G) = M x + q.
template <int p, int m = 0>
struct LinearMncp {
  static constexpr int kComplementary = p, kFree = m, n = p + m;
  template <class S>
  struct Data {
    Mat<S, n, n> M;
    Vec<S, n> q;
  };
  template <class S, class X>
  static GARRA_HD Vec<X, n> evaluate(const Data<S>& d, const Vec<X, n>& x) {
    Vec<X, n> y;
    for_each_index<n>([&](int i) {
      X sum = x[0] * d.M(i, 0) + d.q[i];
      for_each_index<n - 1>([&](int k) { sum += x[k + 1] * d.M(i, k + 1); });
      y[i] = sum;
    });
    return y;
  }
  template <class S>
  static GARRA_HD Mat<S, n, n> jacobian(const Data<S>& d, const Vec<S, n>&) {
    return d.M;
  }
  template <class S>
  static GARRA_HD void add_curvature(const Data<S>&, const Vec<S, n>&, const Vec<S, n>&, Mat<S, n, n>&) {}
  static std::vector<MncpCase<LinearMncp>> cases();
};

/// A problem of quadratic functions with a fourth power: F_i = c_i + sum_j L_ij x_j + sum_{j <= k}
/// Q_ijk x_j x_k + s_i (1 - x_1)^4.
template <int N>
struct QuarticMncp {
  static constexpr int kComplementary = N, kFree = 0, kPairs = N * (N + 1) / 2;
  template <class S>
  struct Data {
    Vec<S, N> c;
    Mat<S, N, N> L;
    Mat<S, N, kPairs> Q;
    Vec<S, N> s;
  };
  template <class S, class X>
  static GARRA_HD Vec<X, N> evaluate(const Data<S>& d, const Vec<X, N>& x) {
    Vec<X, N> y;
    const X square = (1 - x[0]) * (1 - x[0]);
    for_each_index<N>([&](int i) {
      X sum = square * square * d.s[i] + d.c[i];
      int pair = 0;
      for (int j = 0; j < N; ++j) {
        sum += x[j] * d.L(i, j);
        for (int k = j; k < N; ++k) sum += x[j] * x[k] * d.Q(i, pair++);
      }
      y[i] = sum;
    });
    return y;
  }
  static std::vector<MncpCase<QuarticMncp>> cases();
};

/// Kojima and Shindo's four quadratic functions, and Josephy's variant of them.
struct KojimaMncp {
  static constexpr int kComplementary = 4, kFree = 0;
  template <class S>
  struct Data {
    S x3_in_2, x4_in_3, c3;
  };
  template <class S, class X>
  static GARRA_HD Vec<X, 4> evaluate(const Data<S>& d, const Vec<X, 4>& x) {
    const X a = x[0] * x[0], b = x[1] * x[1], ab = x[0] * x[1];
    return {{3 * a + 2 * ab + 2 * b + x[2] + 3 * x[3] - 6, 2 * a + b + x[0] + d.x3_in_2 * x[2] + 2 * x[3] - 2,
             3 * a + ab + 2 * b + 2 * x[2] + d.x4_in_3 * x[3] + d.c3, a + 3 * b + 2 * x[2] + 3 * x[3] - 3}};
  }
  static std::vector<MncpCase<KojimaMncp>> cases() {
    const std::vector<double> shared = {std::sqrt(1.5), 0, 0,
                                        0.5};  // degenerate: F_3 vanishes too in the first problem
    return {{"kojima-shindo", {10, 9, -9}, {0, 0, 0, 0}, {shared, {1, 0, 3, 0}}},
            {"josephy", {3, 3, -1}, {0, 0, 0, 0}, {shared}}};
  }
};

/// Mathiesen's Walrasian equilibrium (Math. Program. 37 (1987) 1-18): activity y and prices p; every multiple of p
/// solves it.
struct MathiesenMncp {
  static constexpr int kComplementary = 4, kFree = 0;
  template <class S>
  struct Data {};
  template <class S, class X>
  static GARRA_HD Vec<X, 4> evaluate(const Data<S>&, const Vec<X, 4>& x) {
    const X &y = x[0], &p1 = x[1], &p2 = x[2], &p3 = x[3];
    const X income = 5 * p2 + 3 * p3;
    return {{p2 + p3 - p1, y - 0.9 * income / p1, 5 - y - 0.1 * income / p2, 3 - y}};
  }
  static std::vector<MncpCase<MathiesenMncp>> cases() { return {{"mathiesen", {}, {1, 1, 1, 1}, {{3, 6, 1, 5}}}}; }
};

/// The same equilibrium in the form of J.-S. Pang and S. Gabriel (Math. Program. 60 (1993) 295-337): a segment of
/// solutions.
struct WalrasMncp {
  static constexpr int kComplementary = 4, kFree = 0;
  template <class S>
  struct Data {};
  template <class S, class X>
  static GARRA_HD Vec<X, 4> evaluate(const Data<S>&, const Vec<X, 4>& x) {
    return {{x[2] + x[3] - x[1], x[0] - (4.5 * x[2] + 2.7 * x[3]) / (x[1] + 1),
             5 - x[0] - (0.5 * x[2] + 0.3 * x[3]) / (x[2] + 1), 3 - x[0]}};
  }
  static std::vector<MncpCase<WalrasMncp>> cases() {
    return {{"walras", {}, {1, 1, 1, 1}, {{0, 0, 0, 0}, {1.5, 0, 0, 0}, {3, 0, 0, 0}}}};
  }
};

/// Nash-Cournot oligopoly of F. Murphy, H. Sherali, A. Soyster, Math. Program. 24 (1982) 92-106.
struct NashMncp {
  static constexpr int kComplementary = 5, kFree = 0;
  template <class S>
  struct Data {
    S demand, elasticity, scale;  ///< price p(Q) = (demand / Q)^(1 / elasticity)
    Vec<S, 5> cost, power;        ///< marginal cost c_i + (q / scale)^(1 / power_i) scale-wise, see below
  };
  /// F_i = c_i + scale^(-1 / power_i) q_i^(1 / power_i) - p(Q) + q_i p(Q) / (elasticity Q)
  template <class S, class X>
  static GARRA_HD Vec<X, 5> evaluate(const Data<S>& d, const Vec<X, 5>& q) {
    const X total = q[0] + q[1] + q[2] + q[3] + q[4];
    const X price = pow(d.demand / total, S(1) / d.elasticity);
    const X marginal = price / (d.elasticity * total);
    Vec<X, 5> y;
    for_each_index<5>(
        [&](int i) { y[i] = d.cost[i] + pow(q[i] / d.scale, S(1) / d.power[i]) - price + q[i] * marginal; });
    return y;
  }
  static std::vector<MncpCase<NashMncp>> cases() {
    return {{"nash-cournot",
             {5000, 1.1, 5, {{10, 8, 6, 4, 2}}, {{1.2, 1.1, 1.0, 0.9, 0.8}}},
             {10, 10, 10, 10, 10},
             {{36.93251081573577, 41.81814166043763, 43.70657852227421, 42.65923974330512, 39.17895251662502}}}};
  }
};

/// Optimality conditions of Hock and Schittkowski's problem 66: x, then the multipliers of its constraints and upper
/// bounds.
struct Hs66Mncp {
  static constexpr int kComplementary = 8, kFree = 0;
  template <class S>
  struct Data {};
  template <class S, class X>
  static GARRA_HD Vec<X, 8> evaluate(const Data<S>&, const Vec<X, 8>& x) {
    const X e1 = exp(x[0]), e2 = exp(x[1]);
    const X &a = x[3], &b = x[4];
    return {{a * e1 + x[5] - 0.8, b * e2 + x[6] - a, 0.2 - b + x[7], x[1] - e1, x[2] - e2, 100 - x[0], 100 - x[1],
             10 - x[2]}};
  }
  static std::vector<MncpCase<Hs66Mncp>> cases() {
    const double x2 = 1.2021678731970429392;  // x2 e^x2 = 4
    return {{"hs66", {}, {0, 1.05, 2.9, 0, 0, 0, 0, 0}, {{std::log(x2), x2, 4 / x2, 0.8 / x2, 0.2, 0, 0, 0}}}};
  }
};

/// Three equations of MCPLIB with a singular Jacobian near the start.
struct HardEquationsMncp {
  static constexpr int kComplementary = 3, kFree = 0;
  template <class S>
  struct Data {};
  template <class S, class X>
  static GARRA_HD Vec<X, 3> evaluate(const Data<S>&, const Vec<X, 3>& x) {
    return {{sin(x[0]) + x[0] * x[0], x[1] * x[1] * x[1] + x[0] * x[2], x[2] * x[2] + x[0] * x[1] - 200}};
  }
  static std::vector<MncpCase<HardEquationsMncp>> cases() {
    return {{"ne-hard", {}, {10, 1, 10}, {{0, 0, std::sqrt(200.0)}}}};
  }
};

/// One rolling contact of the papers, (29)-(36) with a = A c + b inserted and A = diag(a_n, a_t, a_t): x = (c_n, lambda
/// | c_T).
struct OneContactMncp {
  static constexpr int kComplementary = 2, kFree = 2;
  template <class S>
  struct Data {
    S a_n, a_t, b_n, b_t, b_o, mu;
  };
  template <class S, class X>
  static GARRA_HD Vec<X, 4> evaluate(const Data<S>& d, const Vec<X, 4>& x) {
    const X limit = d.mu * x[0];
    const X at = d.a_t * x[2] + d.b_t, ao = d.a_t * x[3] + d.b_o;
    return {{d.a_n * x[0] + d.b_n, limit * limit - x[2] * x[2] - x[3] * x[3], limit * at + x[1] * x[2],
             limit * ao + x[1] * x[3]}};
  }
  static std::vector<MncpCase<OneContactMncp>> cases() {
    // Stick: c_T = -b_T / a_t; slide: c_T = -mu c_n b_T / |b_T| and lambda = |a_T|; break: c = 0 and any lambda.
    return {{"contact-stick", {2, 4, -10, 2, 1, 0.5}, {1, 1, 0, 0}, {{5, 0, -0.5, -0.25}}},
            {"contact-slide", {2, 4, -10, 12, 16, 0.5}, {1, 1, 0, 0}, {{5, 10, -1.5, -2}}},
            {"contact-break", {2, 4, 3, 2, 1, 0.5}, {1, 1, 0, 0}, {{0, 0, 0, 0}, {0, std::sqrt(5.0), 0, 0}}}};
  }
};

template <>
inline std::vector<MncpCase<LinearMncp<2>>> LinearMncp<2>::cases() {
  const double r = 3 / (2 * std::sqrt(2.0));
  return {{"cps-1", {{{1, 1, 1, 1}}, {{-1, -1}}}, {0, 0}, {{1, 0}, {0.5, 0.5}, {0, 1}}},
          {"deudeu", {{{2, 1, 1, 2}}, {{-5, -6}}}, {0, 0}, {{4.0 / 3, 7.0 / 3}}},
          {"aff1", {{{1, 2, 0, 1}}, {{0, -1}}}, {0.1, 0.9}, {{0, 1}}},
          {"affknot1", {{{0, 1, 1, 0}}, {{-1, 0}}}, {0.9, 0.1}, {{0, 1}, {0, 2}}},
          {"affknot2", {{{0, 1, 1, 1}}, {{-1, -1}}}, {0.5, 0.5}, {{0, 1}}},
          {"dis64", {{{-1, 1, 0, -1}}, {{0, 0}}}, {2, 4}, {{0, 0}}},
          {"ai31", {{{0, 1, 1, 0}}, {{0, 0}}}, {-0.5, -0.9}, {{0, 0}, {1, 0}, {0, 1}}},
          {"ai32", {{{0, 0, -1, 1}}, {{0, 1}}}, {-0.5, 0.5}, {{0, 0}, {1, 0}, {2, 1}}},
          {"di6", {{{1, 0, -1, 1}}, {{0, 0}}}, {0.9, 0.1}, {{0, 0}}},
          {"di7", {{{0.5, 0.5, 0.5, 0.5}}, {{0, 0}}}, {0.9, 0.1}, {{0, 0}}},
          {"di9", {{{0, 1, -1, 1}}, {{0, 0}}}, {0.9, 0.9}, {{0, 0}}},
          {"fis42", {{{1, 0, 1, 0}}, {{0, 0}}}, {0.9, 0.9}, {{0, 0}, {0, 1}}},
          {"fis43", {{{1, 0, 1, 0}}, {{0, 1}}}, {0.9, 0.9}, {{0, 0}}},
          {"ik35", {{{-1, r, 2, 1 - r}}, {{0, 0}}}, {0.9, 0.9}, {{0, 0}}},
          {"is2", {{{0, -1, -1, 0}}, {{0, 0}}}, {0.9, 0.1}, {{0, 0}}}};
}

template <>
inline std::vector<MncpCase<LinearMncp<3>>> LinearMncp<3>::cases() {
  return {{"kostreva", {{{1, 2, 0, 0, 1, 2, 2, 0, 1}}, {{-1, -1, -1}}}, {0, 0, 0}, {{1.0 / 3, 1.0 / 3, 1.0 / 3}}},
          {"cps-2", {{{0, -1, 2, 2, 0, -2, -1, 1, 0}}, {{-3, 6, -1}}}, {0, 0, 0}, {{0, 1, 3}}},
          {"pang-isolated", {{{0, -1, -1, 1, 0, 0, -1, 0, 0}}, {{0, -1, 1}}}, {0, 0, 0}, {{1, 0, 0}}}};
}

template <>
inline std::vector<MncpCase<LinearMncp<4>>> LinearMncp<4>::cases() {
  const Mat<double, 4, 4> cps = {{11, 0, 10, -1, 0, 11, 10, -1, 10, 10, 21, -1, 1, 1, 1, 0}};
  const Mat<double, 4, 4> bimatrix = {{0, 0, 10, 20, 0, 0, 30, 15, 10, 20, 0, 0, 30, 15, 0, 0}};
  return {{"hs35",
           {{{4, 2, 2, 1, 2, 4, 0, 1, 2, 0, 2, 2, -1, -1, -2, 0}}, {{-8, -6, -4, 3}}},
           {0.5, 0.5, 0.5, 0},
           {{4.0 / 3, 7.0 / 9, 4.0 / 9, 2.0 / 9}}},
          {"cps-3-bimatrix",
           {bimatrix, {{-1, -1, -1, -1}}},
           {0, 0, 0, 0},
           {{0.1, 0, 0.1, 0}, {0, 1.0 / 15, 0, 1.0 / 15}, {1.0 / 90, 2.0 / 45, 1.0 / 90, 2.0 / 45}}},
          {"cps-4", {cps, {{50, 50, 10, -6}}}, {0, 0, 0, 0}, {{2, 2, 2, 92}}},
          {"cps-4bis", {cps, {{50, 50, 23, -6}}}, {0, 0, 0, 0}, {{3, 3, 0, 83}}},
          {"doubleknot",
           {{{-1, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, -1}}, {{1, -1, -1, 1}}},
           {0.5, 0.5, 0.5, 0.5},
           {{1, 0, 0, 1}}}};
}

template <>
inline std::vector<MncpCase<LinearMncp<6>>> LinearMncp<6>::cases() {
  Data<double> murty = {Mat<double, 6, 6>::identity(), {{-1, -1, -1, -1, -1, -1}}};
  for (int i = 0; i < 6; ++i)
    for (int j = i + 1; j < 6; ++j) murty.M(i, j) = 2;
  Data<double> second = murty;
  second.q = {{-126, -124, -120, -112, -96, -64}};
  return {{"murty-1", murty, {0, 0, 0, 0, 0, 0}, {{0, 0, 0, 0, 0, 1}}},
          {"murty-2", second, {0, 0, 0, 0, 0, 0}, {{0, 0, 0, 0, 0, 64}}}};
}

template <>
inline std::vector<MncpCase<LinearMncp<7>>> LinearMncp<7>::cases() {
  const Mat<double, 4, 4> H = {{2, 0, -1, 0, 0, 1, 0, 0, -1, 0, 2, 1, 0, 0, 1, 1}};
  const Mat<double, 3, 4> A = {{1, 2, 1, 1, 3, 1, 2, -1, 0, -1, -4, 0}};
  Data<double> d = {Mat<double, 7, 7>::zero(), {{-1, -3, 1, -1, 5, 4, -1.5}}};
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) d.M(i, j) = H(i, j);
    for (int k = 0; k < 3; ++k) {
      d.M(i, 4 + k) = A(k, i);
      d.M(4 + k, i) = -A(k, i);
    }
  }
  return {{"hs76", d, {0.5, 0.5, 0.5, 0.5, 0, 0, 0}, {{3.0 / 11, 23.0 / 11, 0, 6.0 / 11, 5.0 / 11, 0, 0}}}};
}

template <>
inline std::vector<MncpCase<LinearMncp<5, 5>>> LinearMncp<5, 5>::cases() {
  // Siconos numbers its unknowns z with the five free ones first; here u = z_5..9 and v = z_0..4.
  const auto place = [](int z) { return z < 5 ? z + 5 : z - 5; };
  Data<double> d = {Mat<double, 10, 10>::zero(), Vec<double, 10>::zero()};
  for (int z = 0; z < 10; ++z) {
    d.q[place(z)] = 7 - z;
    for (int other = std::max(0, z - 1); other <= std::min(9, z + 1); ++other)
      d.M(place(z), place(other)) = other == z ? 2 : 1;
  }
  return {{"mixed-tridiagonal", d, std::vector<double>(10, 0.0), {{0, 0, 0, 0, 1, -3.5, 0, -2.5, 0, -1.5}}}};
}

template <>
inline std::vector<MncpCase<QuarticMncp<1>>> QuarticMncp<1>::cases() {
  return {{"billups", {{{-0.01}}, {{-2}}, {{1}}, {{0}}}, {0}, {{1 + std::sqrt(1.01)}}},
          {"quarp", {{{0}}, {{0}}, {{0}}, {{1}}}, {0.1}, {{0}, {1}}},
          {"quarn", {{{0}}, {{0}}, {{0}}, {{-1}}}, {0.9}, {{1}}},
          {"fij1", {{{0}}, {{0}}, {{1}}, {{0}}}, {-0.9}, {{0}}},
          {"ik34", {{{0}}, {{-1}}, {{0}}, {{0}}}, {0.9}, {{0}}}};
}

template <>
inline std::vector<MncpCase<QuarticMncp<2>>> QuarticMncp<2>::cases() {
  // c, then L by rows, then for each row the coefficients of x1^2, x1 x2, x2^2, then s
  const Vec<double, 2> none = {{0, 0}};
  return {
      {"dis61",
       {{{1, -1}}, {{-2, 0, 1, 1}}, {{1, 0, 0, 0, 0, 1}}, none},
       {0.2, 0.85},
       {{0, (std::sqrt(5.0) - 1) / 2}, {1, 0}}},
      {"quarquad", {{{0, 1}}, {{0, 1, 0, 0}}, {{0, 0, 0, 0, 0, -1}}, {{-1, 0}}}, {0.1, 0.9}, {{2, 1}, {0, 1}, {1, 0}}},
      {"quadknot", {{{-1, 0}}, {{0, 1, 0, 0}}, {{0, 0, 0, 1, 0, 0}}, none}, {0.5, 0.5}, {{0, 1}, {0, 2}}},
      {"munson4", {{{-1, -1}}, {{0, 2, 2, 0}}, {{0, 0, -1, -1, 0, 0}}, none}, {0, 0}, {{1, 1}}},
      {"quad1", {{{-1, 0}}, {{1, 0, 0, 0}}, {{0, 0, 0, 0, 0, 1}}, none}, {0.9, -0.1}, {{1, 0}}},
      {"quad2", {{{0, 0}}, {{0, 0, 0, 1}}, {{1, 0, 0, 0, 0, 0}}, none}, {-1, -1}, {{0, 0}}},
      {"ai33", {{{0, 1}}, {{0, -1, -2, 0}}, {{0, 1, 0, 1, 0, 0}}, none}, {-0.9, 0.5}, {{0, 0}, {1, 0}, {1, 1}}},
      {"ai34", {{{1, 1}}, {{-2, -1, -2, 0}}, {{1, 1, 0, 1, 0, 0}}, none}, {0.1, 0.5}, {{0, 0}, {1, 0}, {1, 1}}},
      {"di8", {{{1, -1}}, {{-2, 0, 1, 1}}, {{1, 0, 0, 0, 0, 0}}, none}, {-0.9, 1.9}, {{0, 1}, {1, 0}}},
      {"fij3", {{{0, 0}}, {{0, 0, 0, 1}}, {{1, 1, 0, 1, 0, -1}}, none}, {0.9, 1.9}, {{0, 1}, {0, 0}}},
      {"is1", {{{0, -1}}, {{1, 0, 0, 2}}, {{0, 0, 0, 0, 0, -1}}, none}, {0.9, 0.9}, {{0, 1}}}};
}

/// A list of families; for_each(visit) calls visit(std::type_identity<P>{}) for every one.
template <class... P>
struct MncpFamilies {
  template <class Visit>
  static void for_each(Visit&& visit) {
    (visit(std::type_identity<P>{}), ...);
  }
};

using MncpTestSet = MncpFamilies<QuarticMncp<1>, QuarticMncp<2>, LinearMncp<2>, LinearMncp<3>, LinearMncp<4>,
                                 LinearMncp<6>, LinearMncp<7>, LinearMncp<5, 5>, KojimaMncp, MathiesenMncp, WalrasMncp,
                                 NashMncp, Hs66Mncp, HardEquationsMncp, OneContactMncp>;

}  // namespace garra::solvers
