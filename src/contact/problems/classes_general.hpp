// Friction contact problems with matrices of no mechanism, drawn to be hard for a contact solver.
//
//   - scaled_gram: A = G' G / 3N of full rank, with rows and columns on scales that differ by a factor of ten.
//   - six_equations: A = G' G / 6 of rank 6, as of rigid fingers; b such that forces exist that part the contacts.
//
// Problem k of a class depends only on the seed and k, so a short run is the head of a long one.
#pragma once

#include "contact/problems/classes.hpp"

namespace garra::bench {

namespace problem_classes_detail {

/// A = G' G / rows for G of rows x 3N, its entries times `scale` by column. The sum has the same order for i, j and j,
/// i: A is symmetric to the bit.
inline std::vector<double> gram(const std::vector<double>& G, std::size_t rows, const std::vector<double>& scale) {
  const std::size_t n = scale.size();
  std::vector<double> A(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < rows; ++k) sum += G[k * n + i] * G[k * n + j];
      A[i * n + j] = scale[i] * scale[j] * sum / static_cast<double>(rows);
    }
  return A;
}

/// b = a - A c.
inline std::vector<double> compute_load(const std::vector<double>& A, const std::vector<double>& c,
                                        std::vector<double> a) {
  for (std::size_t i = 0; i < c.size(); ++i)
    for (std::size_t j = 0; j < c.size(); ++j) a[i] -= A[i * c.size() + j] * c[j];
  return a;
}

}  // namespace problem_classes_detail

/// Directions of a contact weighted by exp(0.7 normal), b normal, mu in 0.05-1.2; a solution exists, its states are
/// open.
[[nodiscard]] inline contact::Problems scaled_gram(const Draw& draw) {
  using namespace problem_classes_detail;
  const auto n = static_cast<std::size_t>(3 * draw.contacts);
  contact::Problems out;
  out.contacts = draw.contacts;
  out.count = draw.count;
  for (std::uint64_t k = 0; k < static_cast<std::uint64_t>(draw.count); ++k) {
    Random random((draw.seed + 1) * 0xA24BAED4963EE407u + k);
    std::vector<double> G(n * n), scale(n), b(n);
    for (double& v : G) v = random.normal();
    // A factor of two for one standard deviation, so ten between the extremes of a problem.
    for (double& v : scale) v = std::exp(0.7 * random.normal());
    for (double& v : b) v = random.normal();
    append(out.A, gram(G, n, scale));
    append(out.b, b);
    for (int j = 0; j < draw.contacts; ++j) out.mu.push_back(random.uniform(0.05, 1.2));
  }
  return out;
}

/// G normal; b = slack - A c with c anywhere in the cones, 0.5-2 along the normals, and a slack that opens 30 % of the
/// contacts by up to 0.5; mu in 0.2-1. Forces exist that keep the contacts from approaching, but c is no solution.
[[nodiscard]] inline contact::Problems six_equations(const Draw& draw) {
  using namespace problem_classes_detail;
  constexpr std::size_t kRank = 6;
  const auto n = static_cast<std::size_t>(3 * draw.contacts);
  contact::Problems out;
  out.contacts = draw.contacts;
  out.count = draw.count;
  for (std::uint64_t k = 0; k < static_cast<std::uint64_t>(draw.count); ++k) {
    Random random((draw.seed + 1) * 0x9FB21C651E98DF25u + k);
    std::vector<double> G(kRank * n), c(n, 0.0), a(n, 0.0);
    for (double& v : G) v = random.normal();
    for (std::size_t j = 0; j < n; j += 3) {
      const double mu = random.uniform(0.2, 1);
      const bool opens = random.uniform() < 0.3;
      const double force = random.uniform(0.5, 2), gap = random.uniform(0, 0.5);
      const double inside = mu * std::sqrt(random.uniform()), angle = 2 * std::numbers::pi * random.uniform();
      out.mu.push_back(mu);
      a[j] = opens ? gap : 0;
      c[j] = force;
      c[j + 1] = force * inside * std::cos(angle);
      c[j + 2] = force * inside * std::sin(angle);
    }
    // Rank 6 whatever the number of contacts: from 3 contacts on A is singular.
    const std::vector<double> A = gram(G, kRank, std::vector<double>(n, 1.0));
    append(out.A, A);
    append(out.b, compute_load(A, c, a));
  }
  return out;
}

}  // namespace garra::bench
