// What is proved of a problem, and what the solvers beyond Newton make of the others: no solution, no problem of
// mechanics, forces that the load presses together, as good as rounding allows (docs/theory/contact-solver.md,
// "Proofs").
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "garra/contact.hpp"
#include "garra/solvers/friction_interior.hpp"
#include "load_change.hpp"

namespace garra {
namespace {

using contact::Problems;
using contact::Solutions;

const Device kScalar{Executor::kScalar, 1, 0};
const Device kLanes{Executor::kLanes, 1, 0};

Problems problem(std::vector<double> A, std::vector<double> b, std::vector<double> mu) {
  const int k = static_cast<int>(mu.size());
  return {k, 1, std::move(A), std::move(b), std::move(mu)};
}
Status read_status(const Problems& p, const contact::Options& options = {}) {
  const Solutions scalar = contact::solve(p, options, kScalar), lanes = contact::solve(p, options, kLanes);
  EXPECT_EQ(scalar.status[0], lanes.status[0]);
  return scalar.status[0];
}
/// A = sum of w w^T over the rows of W.
std::vector<double> gram(const std::vector<std::vector<double>>& W) {
  const std::size_t n = W.front().size();
  std::vector<double> A(n * n);
  for (const auto& w : W)
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t k = 0; k < n; ++k) A[i * n + k] += w[i] * w[k];
  return A;
}
/// Standard normal numbers, the same for the same seed.
struct NormalNumbers {
  explicit NormalNumbers(std::uint64_t seed) : g(seed) {}
  double operator()() { return normal(g); }
  std::mt19937_64 g;
  std::normal_distribution<double> normal = {};
};
/// A of rank `rank` and any load.
Problems rigid_problem(NormalNumbers& draw, std::size_t rank, const std::vector<double>& mu) {
  std::vector<std::vector<double>> W(rank, std::vector<double>(3 * mu.size()));
  for (auto& row : W)
    for (double& x : row) x = draw();
  std::vector<double> b(3 * mu.size());
  for (double& x : b) x = draw();
  return problem(gram(W), b, mu);
}

// Two walls that close on a part which is drawn sideways: a_1n + a_2n = -0.14 whatever the forces. It was once said to
// be solved by 3.9e9 N.
TEST(TwoWalls, ThatCloseOnAPartHaveNoSolution) {
  const Problems p = problem(gram({{1, 0, 0, -1, 0, 0}, {0, 1, 0, 0, 1, 0}, {0, 0, 1, 0, 0, 1}}),
                             {-0.07, 1, 0, -0.07, 1, 0}, {0.5, 0.5});
  EXPECT_EQ(read_status(p), Status::kNoSolution);
  const Solutions checked = contact::check_solution(p, {3.9e9, 0, 0, 3.9e9, 0, 0});
  EXPECT_EQ(checked.status[0], Status::kStalled);
  EXPECT_GT(checked.residual[0], 0.05);
  // Whatever method looked for one, the proof is the same.
  for (const auto method : {contact::Method::kNsgs, contact::Method::kAdmm, contact::Method::kProjectedLm})
    EXPECT_EQ(read_status(p, {.max_iterations = 50, .method = method}), Status::kNoSolution);
  // Walls that part leave a solution.
  EXPECT_EQ(read_status(problem(p.A, {0.07, 1, 0, 0.07, 1, 0}, p.mu)), Status::kConverged);
}

// A proof needs normals alone: a point between two wedges, and a third finger, whose friction can bear what the normals
// press together.
TEST(NoSolution, IsNotSaidWhereOnlyFrictionPresses) {
  NormalNumbers draw(1);
  int solved = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const Problems p = rigid_problem(draw, 6, {0.6, 0.6, 0.6});
    const Status status = read_status(p);
    ASSERT_NE(status, Status::kInvalidInput);
    solved += status == Status::kConverged;
    if (status != Status::kNoSolution) continue;
    // Farkas by hand: three normals can cancel only if the smallest eigenvalue of A_nn is zero, and it is not.
    double det = 0;
    const auto A = [&](int i, int k) { return p.A[static_cast<std::size_t>(27 * i + 3 * k)]; };
    det = A(0, 0) * (A(1, 1) * A(2, 2) - A(1, 2) * A(2, 1)) - A(0, 1) * (A(1, 0) * A(2, 2) - A(1, 2) * A(2, 0)) +
          A(0, 2) * (A(1, 0) * A(2, 1) - A(1, 1) * A(2, 0));
    EXPECT_NEAR(det, 0, 1e-9);
  }
  EXPECT_GE(solved, 150);
}

TEST(InvalidInput, IsAnIndefiniteMatrixUnlessNoForceIsNeeded) {
  std::vector<double> minus(81);
  for (std::size_t i = 0; i < 9; ++i) minus[10 * i] = -1;
  const std::vector<double> down(9, -1), mu(3, 0.5);
  EXPECT_EQ(read_status(problem(minus, down, mu)), Status::kInvalidInput);
  const std::vector<double> up = {1, 0, 0, 1, 0, 0, 1, 0, 0};
  EXPECT_EQ(read_status(problem(minus, up, mu)), Status::kConverged);
  // Singular within rounding is not indefinite.
  std::vector<double> A = gram({{1, 0, 0, 0.3, 0, 0}, {0, 1, 0, 0, 1, 0}, {0, 0, 1, 0, 0, 1}});
  A[0] = std::nextafter(A[0], 0.0);
  EXPECT_EQ(read_status(problem(A, {-1, 0.1, 0, -1, 0, 0.1}, {0.5, 0.5})), Status::kConverged);
}

/// Positive definite, condition 10^exponent, three contacts.
Problems ill_conditioned(std::mt19937_64& g, double exponent) {
  constexpr std::size_t kRows = 9;
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> share(0, 1);
  std::vector<std::vector<double>> Q(kRows, std::vector<double>(kRows));
  for (std::size_t i = 0; i < kRows; ++i) {
    for (double& x : Q[i]) x = normal(g);
    for (std::size_t k = 0; k < i; ++k) {
      double along = 0;
      for (std::size_t j = 0; j < kRows; ++j) along += Q[i][j] * Q[k][j];
      for (std::size_t j = 0; j < kRows; ++j) Q[i][j] -= along * Q[k][j];
    }
    double length = 0;
    for (const double x : Q[i]) length += x * x;
    for (double& x : Q[i]) x /= std::sqrt(length);
  }
  for (std::size_t i = 0; i < kRows; ++i) {
    const double root = std::sqrt(std::pow(10, -exponent * (i == 0 ? 0 : i + 1 == kRows ? 1 : share(g))));
    for (double& x : Q[i]) x *= root;
  }
  std::vector<double> b(kRows);
  for (double& x : b) x = normal(g);
  return problem(gram(Q), b, {share(g), share(g), share(g)});
}

// A solution exists: it is found, or found as well as rounding allows, and then the residual says how well.
TEST(PositiveDefinite, IsSolvedOrIllConditioned) {
  std::mt19937_64 g(2);
  int converged = 0, rounded = 0, left = 0;
  for (int trial = 0; trial < 600; ++trial) {
    const Problems p = ill_conditioned(g, 2.0 * (1 + trial % 6));
    const Solutions s = contact::solve(p, {}, kLanes);
    converged += s.status[0] == Status::kConverged;
    if (s.status[0] != Status::kConverged && s.status[0] != Status::kIllConditioned) {
      ++left;
      continue;
    }
    EXPECT_LE(test::load_change({p.A, p.b, p.mu}, s.c), 1.1 * s.residual[0] + 1e-12) << trial;
    if (s.status[0] != Status::kIllConditioned) continue;
    ++rounded;
    EXPECT_GT(s.residual[0], 1e-8);
    EXPECT_LT(s.residual[0], 1e-3);
  }
  EXPECT_GE(converged, 580);
  EXPECT_LE(left, 3);
  RecordProperty("ill_conditioned", rounded);
}

// Friction of 1e9 was once said to be solved with 2.2 N at a contact that opens.
TEST(LargeFriction, OfAContactThatOpensBearsNoForce) {
  const std::vector<double> A = {8.7,  5.2,  -4.6, -.9, 5.4,  2.6,  5.2, 7.1,  -2.9, -1.3, 7.9, 3.9,
                                 -4.6, -2.9, 4.4,  .3,  -3.3, -1.5, -.9, -1.3, .3,   5.1,  -.2, 3.6,
                                 5.4,  7.9,  -3.3, -.2, 10.1, 5.4,  2.6, 3.9,  -1.5, 3.6,  5.4, 7.9};
  const std::vector<double> b = {-1, 1, -.8, -1.6, -1.4, -2.1};
  for (const double mu : {1e4, 1e6, 1e8, 1e9, 1e12}) {
    const Problems p = problem(A, b, {mu, mu});
    EXPECT_NE(contact::check_solution(p, {1.013, -2.991, .949, 2.2e-9, 2.2014, .0844}).status[0], Status::kConverged)
        << mu;
    const Solutions s = contact::solve(p, {}, kLanes);
    if (s.status[0] != Status::kConverged) continue;
    EXPECT_LE(test::load_change({A, b, p.mu}, s.c), 1.01e-8) << mu;
    for (std::size_t j = 0; j < 6; j += 3)
      if (s.a[j] > 1e-6) {
        EXPECT_EQ(std::hypot(s.c[j], std::hypot(s.c[j + 1], s.c[j + 2])), 0);
      }
  }
}

// Where the search gives up it can say why: forces of the cones that accelerate nothing and that the load presses
// together.
TEST(InternalForces, AreThereWhereASingularProblemIsLeft) {
  NormalNumbers draw(4);
  int left = 0;
  for (int trial = 0; trial < 400; ++trial) {
    const Problems p = rigid_problem(draw, 6, {0.4, 0.7, 1});
    const auto forces = contact::internal_forces(p);
    const Status status = contact::solve(p, {}, kLanes).status[0];
    if (status != Status::kConverged) {
      ++left;
      EXPECT_EQ(forces.found[0], 1) << trial << " " << to_string(status);
    }
    if (forces.found[0] == 0) continue;
    const std::vector<double>& z = forces.z;
    double work = 0;
    for (std::size_t i = 0; i < 9; ++i) {
      double a = 0;
      for (std::size_t k = 0; k < 9; ++k) a += p.A[9 * i + k] * z[k];
      EXPECT_NEAR(a, 0, 1e-3);
      work += p.b[i] * z[i];
    }
    EXPECT_LT(work, 0);
    for (std::size_t j = 0; j < 3; ++j) EXPECT_LE(std::hypot(z[3 * j + 1], z[3 * j + 2]), p.mu[j] * z[3 * j] + 1e-6);
  }
  EXPECT_GE(left, 5);
}

// Effort: what has no solution costs no more steps than the bound, and all of it with "full".
TEST(Effort, OfAProblemWithoutAnAnswerIsBounded) {
  NormalNumbers draw(3);
  int unsolved = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const Solutions s = contact::solve(rigid_problem(draw, 3, {0.3, 0.3}), {}, kScalar);
    unsolved += s.status[0] != Status::kConverged;
    EXPECT_LE(s.iterations[0], 3000);
    if (s.status[0] == Status::kNoSolution) {
      EXPECT_LE(s.iterations[0], solvers::kMaxNewtonSteps);
    }
  }
  EXPECT_GE(unsolved, 5);
}

}  // namespace
}  // namespace garra
