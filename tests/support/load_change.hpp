// The relative change of the load for which forces are an exact solution, written out in long double from
// docs/theory/contact-solver.md, (3) to (5): what `residual` means.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace garra::test {

/// One problem in plain arrays: A [3k, 3k] row-major, b [3k], mu [k]; slip [k][2] unit directions of contacts that
/// slide, zeros of the others, or empty.
struct PlainProblem {
  std::vector<double> A, b, mu, slip = {};
};

/// `stays`: of the forces as they are, with the accelerations next to theirs that go with them; infinite where a force
/// is not in its cone.
inline double load_change(const PlainProblem& p, const std::vector<double>& force, bool stays) {
  using Long = long double;
  const std::size_t k = p.mu.size(), rows = 3 * k;
  const auto slides = [&](std::size_t j) { return !p.slip.empty() && (p.slip[2 * j] != 0 || p.slip[2 * j + 1] != 0); };
  const auto size = [&](std::size_t j, const Long* x) {
    return slides(j) ? std::abs(x[0]) : std::max(std::abs(x[0]), std::hypot(x[1], x[2]));
  };
  std::vector<Long> c(force.begin(), force.end()), g(k), load(k);
  const auto slide = [&](std::size_t j) {
    for (std::size_t i = 0; i < 2; ++i) c[3 * j + 1 + i] = -p.mu[j] * c[3 * j] * p.slip[2 * j + i];
  };
  for (std::size_t j = 0; j < k; ++j)
    if (slides(j)) slide(j);
  const auto acceleration = [&] {
    std::vector<Long> a(p.b.begin(), p.b.end());
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t m = 0; m < rows; ++m) a[i] += p.A[i * rows + m] * c[m];
    return a;
  };
  const std::vector<Long> before = acceleration();
  std::vector<Long> lawful(rows, 0);
  for (std::size_t j = 0; j < k; ++j) {
    g[j] = 0;
    for (std::size_t i = 0; i < 3; ++i) g[j] += p.A[(3 * j + i) * rows + 3 * j + i] / Long(3);
    if (!(g[j] > 0)) g[j] = 1;
    const Long b[3] = {p.b[3 * j], p.b[3 * j + 1], p.b[3 * j + 2]};
    load[j] = size(j, b) / std::sqrt(g[j]);
    const Long mu = p.mu[j], *a = &before[3 * j];
    if (stays) {
      const Long length = slides(j) ? 0 : std::hypot(c[3 * j + 1], c[3 * j + 2]),
                 radius = slides(j) ? 0 : mu * c[3 * j];
      if (c[3 * j] < 0 || length > radius * (1 + 1e-14L)) return HUGE_VAL;
      const bool open = c[3 * j] == 0;
      lawful[3 * j] = open ? std::max(a[0], Long(0)) : 0;
      for (std::size_t i = 1; i < 3; ++i) {
        const Long power = length > 0 ? std::min((a[1] * c[3 * j + 1] + a[2] * c[3 * j + 2]) / length, Long(0)) : 0;
        lawful[3 * j + i] = open                                            ? a[i]
                            : length >= radius * (1 - 1e-14L) && length > 0 ? power * c[3 * j + i] / length
                                                                            : 0;
      }
      continue;
    }
    const Long n = c[3 * j] - a[0] / (g[j] * std::max(Long(1), mu));
    Long y[2] = {c[3 * j + 1] - a[1] / g[j], c[3 * j + 2] - a[2] / g[j]};
    const Long length = std::hypot(y[0], y[1]);
    if (n <= 0) {
      lawful[3 * j] = std::max(a[0], Long(0));
      for (std::size_t i = 1; i < 3; ++i) lawful[3 * j + i] = a[i];
      for (std::size_t i = 0; i < 3; ++i) c[3 * j + i] = 0;
      continue;
    }
    c[3 * j] = n;
    if (slides(j)) {
      slide(j);
      continue;
    }
    const Long share = length > mu * n ? mu * n / length : 1;
    for (std::size_t i = 0; i < 2; ++i) {
      c[3 * j + 1 + i] = share * y[i];
      lawful[3 * j + 1 + i] = -g[j] * (1 - share) * y[i];
    }
  }
  const std::vector<Long> after = acceleration();
  const auto coupled = [&](std::size_t i, std::size_t j) {
    for (std::size_t r = 0; r < 3; ++r)
      for (std::size_t m = 0; m < 3; ++m)
        if (p.A[(3 * i + r) * rows + 3 * j + m] != 0 || p.A[(3 * j + r) * rows + 3 * i + m] != 0) return true;
    return false;
  };
  std::vector<Long> largest = load;
  for (std::size_t pass = 0; pass < k; ++pass)
    for (std::size_t i = 0; i < k; ++i)
      for (std::size_t j = 0; j < k; ++j)
        if (coupled(i, j)) largest[i] = std::max(largest[i], largest[j]);
  Long worst = 0;
  for (std::size_t j = 0; j < k; ++j) {
    const Long delta[3] = {lawful[3 * j] - after[3 * j], lawful[3 * j + 1] - after[3 * j + 1],
                           lawful[3 * j + 2] - after[3 * j + 2]};
    const Long change = size(j, delta), s = std::sqrt(g[j]) * largest[j];
    if (change > 0) worst = std::max(worst, change / s);
  }
  return static_cast<double>(worst);
}

/// What the certificate asks for: the lesser of both.
inline double load_change(const PlainProblem& p, const std::vector<double>& force) {
  return std::min(load_change(p, force, false), load_change(p, force, true));
}

}  // namespace garra::test
