// All solutions of a small linear complementarity problem, and their number: none, one or several
// (docs/theory/lcp.md). Host only.
//
// Each of the 2^N choices of a basic variable from every pair (w_i, z_i) gives one linear system,
// and every solution of the problem solves the system of some choice. Every sign that decides is
// tested with a bound on the error of its number, from an approximate inverse R of the system's
// matrix C (S. M. Rump, "Verification methods: rigorous results using floating-point arithmetic",
// Acta Numerica 19, 2010, 10.1):
//
//   |I - R C| <= e < 1   =>   C is regular,   |C^-1 y - x| <= a + e / (1 - e) max(a),   a = |R| |y - C x| (1)
//
// If the bound leaves a sign open the answer is `undecided`, unless something else settles it.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "garra/core/factor.hpp"
#include "garra/solvers/lcp.hpp"

namespace garra::solvers {

enum class LcpStatus : int {
  kNoSolution = 0,
  kUnique = 1,
  kSeveral = 2,    ///< at least two
  kContinuum = 3,  ///< a segment or a ray of solutions; singular systems are tested to kSingular
  kUndecided = 4,  ///< a sign is within rounding
};
constexpr const char* to_string(LcpStatus v) {
  switch (v) {
    case LcpStatus::kNoSolution:
      return "no_solution";
    case LcpStatus::kUnique:
      return "unique";
    case LcpStatus::kSeveral:
      return "several";
    case LcpStatus::kContinuum:
      return "continuum";
    case LcpStatus::kUndecided:
      return "undecided";
  }
  return "unknown";
}

enum class PMatrix : int { kNo = 0, kYes = 1, kUndecided = 2 };

template <int N>
struct LcpEnumeration {
  struct Solution {
    Vec<double, N> z;
    double error;     ///< bound on the error of any z_i
    bool proved;      ///< it exists: no sign is within rounding, or it satisfies the problem exactly
    bool degenerate;  ///< both variables of some pair are zero within rounding
  };
  LcpStatus decision;
  std::vector<Solution> solutions;  ///< distinct solutions; for a continuum, points of it
  int singular;                     ///< choices whose system is (nearly) singular and has solutions
  int undecided;                    ///< choices that were not decided
  PMatrix p_matrix;                 ///< all principal minors positive: exactly one solution for every q
};

namespace lcp_enumeration {

/// Tolerance for systems that (1) cannot prove regular, relative to the largest |M_ij| and |q_i|.
inline constexpr double kSingular = 1e-11;
inline constexpr double kUnit = std::numeric_limits<double>::epsilon();

inline bool holds(unsigned choice, int i) { return (choice >> i & 1u) != 0; }

/// A number with an error bound.
struct Known {
  double value, error;
  [[nodiscard]] bool negative() const { return value < -error; }
  [[nodiscard]] bool positive() const { return value > error; }
};

/// The system of one choice, z_i basic if the bit is set, and the result of (1) for its matrix:
/// rows and columns of the others are those of the identity.
template <int N>
struct System {
  Mat<double, N, N> C, R;
  double defect;  ///< e of (1), with the rounding of its own computation
  bool positive_determinant;
  [[nodiscard]] bool regular() const { return defect < 0.5; }  // false for NaN
};
template <int N>
System<N> make_system(const Mat<double, N, N>& M, unsigned choice) {
  System<N> s;
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j) s.C(i, j) = holds(choice, i) && holds(choice, j) ? M(i, j) : i == j ? 1.0 : 0.0;
  const auto lu = factor_lu(s.C);
  s.R = solve(lu, Mat<double, N, N>::identity());
  s.positive_determinant = determinant(lu) > 0;
  s.defect = lu.bad_pivots > 0 ? 1.0 : 0.0;
  for (int i = 0; i < N; ++i) {
    double row = 0;
    for (int j = 0; j < N; ++j) {
      double sum = i == j ? 1.0 : 0.0, size = sum;
      for (int k = 0; k < N; ++k) {
        sum = std::fma(-s.R(i, k), s.C(k, j), sum);
        size += std::abs(s.R(i, k) * s.C(k, j));
      }
      row += std::abs(sum) + 2 * (N + 2) * kUnit * size;
    }
    s.defect = row <= s.defect ? s.defect : row;
  }
  return s;
}

/// M_i z + q_i, with a bound that holds for the exact sum at every point within `error` of z.
template <int N>
Known slack(const LcpProblem<double, N>& p, int i, const std::array<Known, static_cast<std::size_t>(N)>& z) {
  Known w{p.q[i], std::abs(p.q[i])};
  double spread = 0;
  for (int j = 0; j < N; ++j) {
    const Known& zj = z[static_cast<std::size_t>(j)];
    w.value = std::fma(p.M(i, j), zj.value, w.value);
    w.error += std::abs(p.M(i, j) * zj.value);
    spread += std::abs(p.M(i, j)) * zj.error;
  }
  w.error = 2 * ((N + 2) * kUnit * w.error + spread);
  return w;
}

template <int N>
using Point = std::array<Known, static_cast<std::size_t>(N)>;

/// Solution of a regular system with its error bound (1); one step of refinement.
template <int N>
Point<N> solve_regular(const LcpProblem<double, N>& p, const System<N>& s, unsigned choice) {
  Point<N> x{};
  Vec<double, N> residual{}, size{};
  for (int step = 0; step < 3; ++step) {
    for (int i = 0; i < N; ++i) {
      residual[i] = holds(choice, i) ? -p.q[i] : 0.0;
      size[i] = std::abs(residual[i]);
      for (int j = 0; j < N; ++j) {
        residual[i] = std::fma(-s.C(i, j), x[static_cast<std::size_t>(j)].value, residual[i]);
        size[i] += std::abs(s.C(i, j) * x[static_cast<std::size_t>(j)].value);
      }
    }
    if (step == 2) break;
    const Vec<double, N> correction = s.R * residual;
    for (int i = 0; i < N; ++i) x[static_cast<std::size_t>(i)].value += holds(choice, i) ? correction[i] : 0.0;
  }
  double largest = 0;
  for (int i = 0; i < N; ++i) {
    double a = 0;
    for (int j = 0; j < N; ++j) a += std::abs(s.R(i, j)) * (std::abs(residual[j]) + (N + 2) * kUnit * size[j]);
    x[static_cast<std::size_t>(i)].error = a;
    largest = std::max(largest, a);
  }
  for (int i = 0; i < N; ++i) {
    auto& error = x[static_cast<std::size_t>(i)].error;
    error = holds(choice, i) ? 2 * (error + s.defect / (1 - s.defect) * largest) : 0.0;
  }
  return x;
}

/// Whether z satisfies the problem exactly: no product or sum in M z + q is rounded.
template <int N>
bool solves_exactly(const LcpProblem<double, N>& p, const Vec<double, N>& z) {
  for (int i = 0; i < N; ++i) {
    double w = p.q[i];
    for (int j = 0; j < N; ++j) {
      const double product = p.M(i, j) * z[j];
      const double sum = w + product, back = sum - w;
      const double lost = (w - (sum - back)) + (product - back);  // Knuth's TwoSum
      if (std::fma(p.M(i, j), z[j], -product) != 0 || lost != 0) return false;
      w = sum;
    }
    if (!(z[i] >= 0 && w >= 0 && (z[i] == 0 || w == 0))) return false;
  }
  return true;
}

/// Adds a point unless the list has it already, within the two errors.
template <int N>
void add(const LcpProblem<double, N>& p, const Point<N>& x, bool degenerate, LcpEnumeration<N>& out) {
  typename LcpEnumeration<N>::Solution s{{}, 0, !degenerate, degenerate};
  for (int i = 0; i < N; ++i) {
    const Known& xi = x[static_cast<std::size_t>(i)];
    s.z[i] = xi.positive() ? xi.value : 0.0;
    s.error = std::max(s.error, xi.error);
  }
  s.proved = s.proved || solves_exactly(p, s.z);
  for (auto& other : out.solutions) {
    bool same = true;
    for (int i = 0; i < N; ++i) same = same && std::abs(s.z[i] - other.z[i]) <= s.error + other.error;
    if (!same) continue;
    if (s.proved && !other.proved) other = s;
    return;
  }
  out.solutions.push_back(s);
}

/// Tests a choice with a regular system: its candidate is a solution if no variable is negative.
template <int N>
void check_regular(const LcpProblem<double, N>& p, const System<N>& s, unsigned choice, LcpEnumeration<N>& out) {
  const Point<N> x = solve_regular(p, s, choice);
  bool degenerate = false;
  for (int i = 0; i < N; ++i) {
    const Known basic = holds(choice, i) ? x[static_cast<std::size_t>(i)] : slack(p, i, x);
    if (basic.negative()) return;
    degenerate = degenerate || !basic.positive();
  }
  add(p, x, degenerate, out);
}

/// Affine set of solutions of a singular system: x + t v for a defect of rank of 1.
template <int N>
struct Line {
  Vec<double, N> x, v;
  int nullity;
  bool consistent;
};

/// Gauss-Jordan elimination with complete pivoting of the rows and columns of a choice.
template <int N>
Line<N> solve_singular(const LcpProblem<double, N>& p, unsigned choice) {
  Mat<double, N, N + 1> a{};
  for (int i = 0; i < N; ++i)
    for (int j = 0; j <= N; ++j)
      if (holds(choice, i)) a(i, j) = j == N ? -p.q[i] : holds(choice, j) ? p.M(i, j) : 0.0;
  unsigned rows = choice, cols = choice;
  std::array<int, static_cast<std::size_t>(N)> row_of{};
  for (;;) {
    int r = -1, c = -1;
    double largest = kSingular;
    for (int i = 0; i < N; ++i)
      for (int j = 0; j < N; ++j)
        if (holds(rows, i) && holds(cols, j) && std::abs(a(i, j)) > largest) largest = std::abs(a(i, j)), r = i, c = j;
    if (r < 0) break;
    rows &= ~(1u << r), cols &= ~(1u << c);
    row_of[static_cast<std::size_t>(c)] = r;
    const double inverse = 1 / a(r, c);
    for (int j = 0; j <= N; ++j) a(r, j) *= inverse;
    for (int i = 0; i < N; ++i) {
      const double f = i == r ? 0.0 : a(i, c);
      for (int j = 0; j <= N; ++j) a(i, j) = std::fma(-f, a(r, j), a(i, j));
    }
  }
  Line<N> line{{}, {}, 0, true};
  int free = -1;
  for (int i = 0; i < N; ++i) {
    if (holds(rows, i)) line.consistent = line.consistent && std::abs(a(i, N)) <= kSingular;
    if (holds(cols, i)) ++line.nullity, free = i;
  }
  for (int j = 0; j < N; ++j) {
    if (!holds(choice, j) || holds(cols, j)) continue;
    const int r = row_of[static_cast<std::size_t>(j)];
    line.x[j] = a(r, N);
    if (free >= 0) line.v[j] = -a(r, free);
  }
  if (free >= 0) line.v[free] = 1;
  return line;
}

/// The part of a line on which no variable is negative, within kSingular.
struct Interval {
  double low = -HUGE_VAL, high = HUGE_VAL;
  bool empty = false;
  void keep(double at, double rate) {
    if (std::abs(rate) <= kSingular) {
      empty = empty || at < -kSingular;
    } else if (rate > 0) {
      low = std::max(low, -at / rate);
    } else {
      high = std::min(high, -at / rate);
    }
  }
  [[nodiscard]] double slop() const {
    return kSingular * (1 + (std::isfinite(low) ? std::abs(low) : 0) + (std::isfinite(high) ? std::abs(high) : 0));
  }
};

template <int N>
Interval feasible_part(const LcpProblem<double, N>& p, const Line<N>& line, unsigned choice) {
  Interval part;
  for (int i = 0; i < N; ++i) {
    if (holds(choice, i)) {
      part.keep(line.x[i], line.v[i]);
      continue;
    }
    double at = p.q[i], rate = 0;
    for (int j = 0; j < N; ++j) {
      at = std::fma(p.M(i, j), line.x[j], at);
      rate = std::fma(p.M(i, j), line.v[j], rate);
    }
    part.keep(at, rate);
  }
  return part;
}

/// Tests a choice not proved regular. Returns true if it holds a continuum of solutions.
template <int N>
bool check_singular(const LcpProblem<double, N>& p, unsigned choice, LcpEnumeration<N>& out) {
  const Line<N> line = solve_singular(p, choice);
  if (line.nullity == 0) return ++out.undecided, false;  // possibly regular, but not provably: signs are unreliable
  if (!line.consistent) return false;
  ++out.singular;
  if (line.nullity > 1) return ++out.undecided, false;
  const Interval part = feasible_part(p, line, choice);
  if (part.empty || part.low > part.high + part.slop()) return false;
  for (const double t : {part.low, part.high}) {
    if (!std::isfinite(t)) continue;
    Point<N> x{};
    for (int i = 0; i < N; ++i)
      x[static_cast<std::size_t>(i)] = {std::fma(t, line.v[i], line.x[i]), holds(choice, i) ? part.slop() : 0.0};
    add(p, x, true, out);
  }
  return part.high > part.low + part.slop();
}

/// Two solutions that are complementary to each other too, within their errors: the segment between them consists of
/// solutions.
template <int N>
bool segment(const LcpProblem<double, N>& p, const typename LcpEnumeration<N>::Solution& a,
             const typename LcpEnumeration<N>::Solution& b) {
  Point<N> za, zb;
  for (int i = 0; i < N; ++i) {
    za[static_cast<std::size_t>(i)] = {a.z[i], a.error};
    zb[static_cast<std::size_t>(i)] = {b.z[i], b.error};
  }
  for (int i = 0; i < N; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (za[at].positive() && slack(p, i, zb).positive()) return false;
    if (zb[at].positive() && slack(p, i, za).positive()) return false;
  }
  return true;
}

template <int N>
LcpStatus classify_status(const LcpEnumeration<N>& e, bool continuum) {
  std::size_t proved = 0;
  for (const auto& s : e.solutions) proved += s.proved ? 1 : 0;
  if (e.p_matrix == PMatrix::kYes) return LcpStatus::kUnique;  // CPS, theorem 3.3.7
  if (continuum) return LcpStatus::kContinuum;
  if (proved >= 2) return LcpStatus::kSeveral;
  if (proved < e.solutions.size() || e.undecided > 0) return LcpStatus::kUndecided;
  return proved == 1 ? LcpStatus::kUnique : LcpStatus::kNoSolution;
}

}  // namespace lcp_enumeration

/// Whether all principal minors of M are positive. The sign of a minor counts only where (1) proves its matrix regular.
template <int N>
[[nodiscard]] PMatrix is_p_matrix(const Mat<double, N, N>& M) {
  PMatrix result = PMatrix::kYes;
  for (unsigned choice = 1; choice < 1u << N; ++choice) {
    const auto s = lcp_enumeration::make_system<N>(M, choice);
    if (!s.regular())
      result = PMatrix::kUndecided;
    else if (!s.positive_determinant)
      return PMatrix::kNo;
  }
  return result;
}

/// All solutions of the problem by the 2^N choices. A NaN or an infinity in it gives `undecided`.
template <int N>
[[nodiscard]] LcpEnumeration<N> enumerate_solutions(const LcpProblem<double, N>& given) {
  using namespace lcp_enumeration;
  static_assert(N <= 8, "2^N systems: meant for small problems");
  double size_m = 0, size_q = 0;
  for (const double m : given.M.m) size_m = std::max(size_m, std::abs(m));
  for (const double q : given.q.m) size_q = std::max(size_q, std::abs(q));
  const auto m = lemke::power_of_two(size_m), q = lemke::power_of_two(size_q);  // no rounding
  const LcpProblem<double, N> p{m.down * given.M, q.down * given.q};
  LcpEnumeration<N> out{LcpStatus::kUndecided, {}, 0, 0, PMatrix::kYes};
  for (const double x : given.M.m) out.undecided += std::isfinite(x) ? 0 : 1;
  for (const double x : given.q.m) out.undecided += std::isfinite(x) ? 0 : 1;
  if (out.undecided > 0) return out.p_matrix = PMatrix::kUndecided, out;
  bool continuum = false;
  for (unsigned choice = 0; choice < 1u << N; ++choice) {
    const System<N> s = make_system<N>(p.M, choice);
    if (s.regular()) {
      check_regular(p, s, choice, out);
      if (!s.positive_determinant) out.p_matrix = PMatrix::kNo;
    } else {
      if (out.p_matrix == PMatrix::kYes) out.p_matrix = PMatrix::kUndecided;
      if (check_singular(p, choice, out)) continuum = true;
    }
  }
  for (const auto& a : out.solutions)
    for (const auto& b : out.solutions)
      if (&a != &b && a.proved && b.proved) continuum = continuum || segment<N>(p, a, b);
  out.decision = classify_status(out, continuum);
  for (auto& s : out.solutions) {
    s.z = (q.up * m.down) * s.z;
    s.error *= q.up * m.down;
  }
  return out;
}

}  // namespace garra::solvers
