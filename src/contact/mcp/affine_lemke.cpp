// Lemke's method (garra/solvers/lcp.hpp) on the standard problem 0 <= z ⟂ M' z + q' >= 0 of an affine one with bounds.
//
// An unknown with a finite lower bound is l + z, one with an upper bound only u - z. With both there is a second pair
// (y, u - l - z), and y is added to F. Free unknowns are eliminated by their equations; fixed ones are numbers.
#include <algorithm>

#include "contact/mcp/affine_problem.hpp"
#include "garra/solvers/lcp.hpp"

namespace garra::mcp {

namespace {

/// Columns of x = base + B z, where F = Mx + q of the free unknowns is 0.
struct Standard {
  std::vector<int> pair, box, open;  ///< unknowns with a pair; those of them with two bounds; free ones
  std::vector<double> sign;          ///< of each pair: x = l + z or u - z
  std::vector<double> base;          ///< x at z = 0, free unknowns at 0
  std::vector<double> C;             ///< [open][pair + 1]: free unknowns by z, and at z = 0
  [[nodiscard]] int pairs() const { return static_cast<int>(pair.size() + box.size()); }
  [[nodiscard]] int first_box() const { return static_cast<int>(pair.size()); }
};

Standard sorted_unknowns(const AffineRow& row) {
  Standard out;
  out.base.resize(static_cast<std::size_t>(row.n));
  for (int i = 0; i < row.n; ++i) {
    const double l = row.lower[i], u = row.upper[i];
    double& base = out.base[static_cast<std::size_t>(i)];
    base = l > -INFINITY ? l : u < INFINITY ? u : 0;
    if (l == u) continue;
    if (l == -INFINITY && u == INFINITY) {
      out.open.push_back(i);
      continue;
    }
    if (l > -INFINITY && u < INFINITY) out.box.push_back(static_cast<int>(out.pair.size()));
    out.pair.push_back(i);
    out.sign.push_back(l > -INFINITY ? 1 : -1);
  }
  return out;
}

/// Gauss-Jordan elimination of the free unknowns. Returns false if their block of M is singular.
bool eliminate(const AffineRow& row, Standard& s) {
  const std::size_t m = s.open.size(), p = s.pair.size(), width = m + p + 1;
  std::vector<double> K(m * width);
  for (std::size_t i = 0; i < m; ++i) {
    const double* const from = row.M + std::ptrdiff_t{s.open[i]} * row.n;
    for (std::size_t j = 0; j < m; ++j) K[i * width + j] = from[s.open[j]];
    for (std::size_t c = 0; c < p; ++c) K[i * width + m + c] = -s.sign[c] * from[s.pair[c]];
    K[i * width + m + p] = -row.value(s.open[i], s.base.data());
  }
  for (std::size_t k = 0; k < m; ++k) {
    std::size_t best = k;
    for (std::size_t i = k; i < m; ++i)
      if (std::abs(K[i * width + k]) > std::abs(K[best * width + k])) best = i;
    if (!(std::abs(K[best * width + k]) > 1e-14)) return false;
    if (best != k) std::swap_ranges(&K[k * width], &K[k * width] + width, &K[best * width]);
    const double inverse = 1 / K[k * width + k];
    for (std::size_t j = k; j < width; ++j) K[k * width + j] *= inverse;
    for (std::size_t i = 0; i < m; ++i) {
      const double factor = K[i * width + k];
      if (i == k || factor == 0) continue;
      for (std::size_t j = k; j < width; ++j) K[i * width + j] = std::fma(-factor, K[k * width + j], K[i * width + j]);
    }
  }
  s.C.resize(m * (p + 1));
  for (std::size_t i = 0; i < m; ++i) std::copy_n(&K[i * width] + m, p + 1, s.C.begin() + std::ptrdiff_t(i * (p + 1)));
  return true;
}

/// M' z + q' as a problem of Lemke's method.
solvers::LcpProblem<double, kAnyUnknowns> standard_problem(const AffineRow& row, const Standard& s) {
  solvers::LcpProblem<double, kAnyUnknowns> out{Matrix::zero(), Numbers::zero()};
  const auto p = s.pair.size();
  for (std::size_t a = 0; a < p; ++a) {
    const double* const from = row.M + std::ptrdiff_t{s.pair[a]} * row.n;
    const int i = static_cast<int>(a);
    for (std::size_t c = 0; c <= p; ++c) {
      double sum = c < p ? s.sign[c] * from[s.pair[c]] : row.value(s.pair[a], s.base.data());
      for (std::size_t k = 0; k < s.open.size(); ++k) sum = std::fma(from[s.open[k]], s.C[k * (p + 1) + c], sum);
      (c < p ? out.M(i, static_cast<int>(c)) : out.q[i]) = s.sign[a] * sum;
    }
  }
  for (std::size_t b = 0; b < s.box.size(); ++b) {
    const int i = s.box[b], k = s.first_box() + static_cast<int>(b), x = s.pair[static_cast<std::size_t>(i)];
    out.M(i, k) = 1;
    out.M(k, i) = -1;
    out.q[k] = row.upper[x] - row.lower[x];
  }
  return out;
}

/// Whether (M + M') / 2 is positive semidefinite up to rounding, by LDL' with a shift of a few units of rounding.
bool is_positive_semidefinite(const Matrix& M) {
  const int n = extent<kAnyUnknowns>();
  Matrix A;
  double size = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) size = std::max(size, std::abs(A(i, j) = 0.5 * (M(i, j) + M(j, i))));
  for (int i = 0; i < n; ++i) A(i, i) += 1e-14 * n * size;
  for (int k = 0; k < n; ++k) {
    if (!(A(k, k) > 0)) return size == 0;
    for (int i = k + 1; i < n; ++i) {
      const double l = A(i, k) / A(k, k);
      for (int j = k + 1; j <= i; ++j) A(i, j) = std::fma(-l, A(j, k), A(i, j));
    }
  }
  return true;
}

/// Whether y >= 0 of a ray proves that no z >= 0 has M z + q >= 0: y'M <= 0 up to rounding, and y'q < 0.
bool is_farkas(const solvers::LcpProblem<double, kAnyUnknowns>& p, const Numbers& y) {
  const int n = extent<kAnyUnknowns>();
  double size = 0, length = 0, along = 0;
  for (int i = 0; i < n; ++i) {
    if (!(y[i] >= 0)) return false;
    length = std::max(length, y[i]);
    along = std::fma(y[i], p.q[i], along);
    for (int j = 0; j < n; ++j) size = std::max(size, std::abs(p.M(i, j)));
  }
  double size_q = 0;
  for (int i = 0; i < n; ++i) size_q = std::max(size_q, std::abs(p.q[i]));
  if (!(along < -1e-9 * length * size_q)) return false;
  for (int j = 0; j < n; ++j) {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum = std::fma(y[i], p.M(i, j), sum);
    if (!(sum <= 1e-12 * n * size * length)) return false;
  }
  return true;
}

}  // namespace

AffineEnd run_lemke(const AffineRow& row, const AffineOptions& options) {
  Standard s = sorted_unknowns(row);
  AffineEnd end{s.base};
  if (s.pairs() > kMostPairs || !eliminate(row, s)) return end;
  std::vector<double> z(static_cast<std::size_t>(s.pairs()));
  if (s.pairs() > 0) {
    const SizesInUse sizes(s.pairs(), 0);
    const auto given = standard_problem(row, s);
    const solvers::Lemke lemke{options.tolerance,
                               options.max_iterations > 0 ? options.max_iterations : 50 * s.pairs() + 1000};
    auto state = lemke.start(given);
    while (lemke.running(state)) lemke.step(state);
    end.steps = static_cast<int>(state.pivots);
    end.reason = static_cast<Status>(static_cast<int>(state.reason));
    if (end.reason == Status::kStalled) {
      Numbers y = Numbers::zero();
      for (int i = 0; i < s.pairs(); ++i)
        if (state.is_z[i] > 0) y[i] = state.missing == i ? 1 : std::max(state.drive[i], 0.0);
      if (is_positive_semidefinite(given.M) && is_farkas(given, y)) end.reason = Status::kNoSolution;
      return end;
    }
    if (end.reason != Status::kConverged) return end;
    std::copy_n(lemke.answer(given, state).m, s.pairs(), z.data());
    end.reason = Status::kStalled;
  }
  const auto p = s.pair.size();
  for (std::size_t a = 0; a < p; ++a) {
    const auto i = static_cast<std::size_t>(s.pair[a]);
    end.x[i] = std::min(std::max(std::fma(s.sign[a], z[a], s.base[i]), row.lower[i]), row.upper[i]);
  }
  for (std::size_t k = 0; k < s.open.size(); ++k) {
    double sum = s.C[k * (p + 1) + p];
    for (std::size_t a = 0; a < p; ++a) sum = std::fma(s.C[k * (p + 1) + a], z[a], sum);
    end.x[static_cast<std::size_t>(s.open[k])] = sum;
  }
  return end;
}

}  // namespace garra::mcp
