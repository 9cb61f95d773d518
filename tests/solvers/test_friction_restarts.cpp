// The solvers beyond Newton by themselves, on problems that all of them solve: in the restarts each sees only what
// those before it leave, so a mistake in one is mended by the next, and shows in time only.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "garra/solvers/friction_convex.hpp"
#include "garra/solvers/friction_path.hpp"
#include "garra/solvers/friction_proximal.hpp"

namespace garra::solvers {
namespace {

constexpr int kContacts = 3, kRows = 3 * kContacts, kProblems = 60;
using Problem = FrictionProblem<double, kContacts>;
using Forces = Vec<double, kRows>;
using Speeds = Vec<double, kContacts>;

/// Regular, approaching, with friction that some contacts exceed.
Problem random_problem(std::mt19937_64& g) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> friction(0.1, 0.9);
  Problem p;
  Mat<double, kRows, kRows> root;
  for (double& x : root.m) x = normal(g);
  p.A = 0.1 * (root * transpose(root));
  for (int i = 0; i < kRows; ++i) p.A(i, i) += 0.1;
  for (int i = 0; i < kRows; ++i) p.b[i] = i % 3 == 0 ? -1 + 0.5 * normal(g) : normal(g);
  for (double& x : p.mu.m) x = friction(g);
  return p;
}

/// How far forces are from c in K, a + mu |a_T| e_n in its dual, the product zero; with sliding speeds given, |a_T| is
/// those.
double broken_law(const Problem& p, const Forces& c, const Speeds* speeds = nullptr) {
  double worst = 0;
  for (int j = 0; j < kContacts; ++j) {
    double a[3];
    for (int i = 0; i < 3; ++i) {
      a[i] = p.b[3 * j + i];
      for (int k = 0; k < kRows; ++k) a[i] += p.A(3 * j + i, k) * c[k];
    }
    const double mu = p.mu[j], at = std::hypot(a[1], a[2]), rise = mu * (speeds ? (*speeds)[j] : at);
    const double *f = &c[3 * j], product = f[0] * (a[0] + rise) + f[1] * a[1] + f[2] * a[2];
    worst = std::max({worst, -f[0], std::hypot(f[1], f[2]) - mu * f[0], mu * at - a[0] - rise, std::abs(product)});
  }
  return worst;
}

struct Cost {
  double mean, most;  ///< steps
};
template <class Solver>
Cost cost_of_solving(const Solver& solver) {
  std::mt19937_64 g(1);
  Cost cost{0, 0};
  for (int k = 0; k < kProblems; ++k) {
    const Problem p = random_problem(g);
    const auto s = solver.solve(p);
    EXPECT_EQ(s.status, double(int(Status::kConverged))) << k;
    EXPECT_LE(broken_law(p, s.c), 1e-6) << k;
    cost.mean += s.effort.outer / kProblems;
    cost.most = std::max(cost.most, s.effort.outer);
  }
  return cost;
}

// Measured: 19.4 and 219; the same bits everywhere.
TEST(FrictionRestarts, TheConvexProblemsSolveAllInTwentyStepsOnAverage) {
  const Cost cost = cost_of_solving(FrictionConvex{});
  EXPECT_LE(cost.mean, 20);
  EXPECT_LE(cost.most, 220);
}

/// On the path to its end.
PathState<kContacts> ended(const FrictionPath& path, const Problem& p) {
  PathState<kContacts> s;
  path.start(p, s);
  while (path.running(s)) path.step(s);
  return s;
}

// Measured: 140 and 172; the same bits everywhere.
TEST(FrictionRestarts, ThePathLeadsToASolutionOfAll) {
  std::mt19937_64 g(1);
  Cost cost{0, 0};
  for (int k = 0; k < kProblems; ++k) {
    const Problem p = random_problem(g);
    const auto s = ended(FrictionPath{}, p);
    EXPECT_LE(broken_law(p, FrictionPath{}.candidate(s).c), 1e-6) << k;
    cost.mean += s.steps / kProblems;
    cost.most = std::max(cost.most, s.steps);
  }
  EXPECT_LE(cost.mean, 150);
  EXPECT_LE(cost.most, 200);
}

// Measured: 12.4 and 15.
TEST(FrictionRestarts, TheProximalPointMethodSolvesAllInAtMostFifteenSteps) {
  const Cost cost = cost_of_solving(FrictionProximal{});
  EXPECT_LE(cost.mean, 12.5);
  EXPECT_LE(cost.most, 15);
}

TEST(FrictionConvex, ItsForcesAreOptimalForTheSpeedsGiven) {
  std::mt19937_64 g(2);
  std::uniform_real_distribution<double> speed(0, 2);
  for (int k = 0; k < kProblems; ++k) {
    const Problem p = random_problem(g);
    Speeds s;
    for (double& x : s.m) x = speed(g);
    EXPECT_LE(broken_law(p, friction_convex::convex_forces(p, s), &s), 1e-7) << k;  // c.z / N is 1e-15 where it stops
  }
}

TEST(FrictionConvex, ItsDirectionMakesTheLinearizedErrorZero) {
  std::mt19937_64 g(3);
  std::uniform_real_distribution<double> speed(0, 2);
  constexpr int kMany = 10 * kProblems;
  int smooth = 0;
  for (int k = 0; k < kMany; ++k) {
    auto x = FrictionConvex{}.start(random_problem(g));
    for (double& v : x.s.m) v = speed(g);
    x.error = friction_convex::speed_error(x.problem, x.s, x.c);
    const Forces a = x.problem.A * x.c + x.problem.b;
    for (int j = 0; j < kContacts; ++j) EXPECT_NEAR(x.error[j], std::hypot(a[3 * j + 1], a[3 * j + 2]) - x.s[j], 1e-14);
    const Speeds d = friction_convex::newton_direction(x);
    const double h = 1e-2 / (1 + norm(d));  // forces are known to 3e-8
    Forces c;
    const Speeds ahead = friction_convex::speed_error(x.problem, axpy(h, d, x.s), c),
                 behind = friction_convex::speed_error(x.problem, axpy(-h, d, x.s), c);
    double off = 0;
    for (int j = 0; j < kContacts; ++j) off = std::max(off, std::abs((ahead[j] - behind[j]) / (2 * h) + x.error[j]));
    smooth += off <= 0.1 * norm(x.error);  // the others change what a contact does within the differences
  }
  // Measured, over six seeds and two orders of the sums: 71 to 76 %.
  EXPECT_GE(smooth, kMany * 68 / 100);
}

/// What the path's equations lack, and the step that takes it away to first order.
struct PathStep {
  friction_path::Lack<kContacts> lack;
  Forces d;
};
PathStep step_tile(PathState<kContacts>& s, double share) {
  PathStep out;
  for (int j = 0; j < kContacts; ++j) friction_path::set_normal(s, j);
  friction_path::compute_lack(s, share, out.lack);
  out.d = friction_path::path_direction(s, share, out.lack, out.lack.value);
  return out;
}
PathState<kContacts> moved(PathState<kContacts> s, const Forces& d, double h) {
  for (int j = 0; j < kContacts; ++j) {
    s.depth[j] *= std::exp(h * d[3 * j]);
    for (int i = 3 * j + 1; i < 3 * j + 3; ++i) s.c[i] += h * s.c[3 * j] * d[i];
  }
  return s;
}

TEST(FrictionPath, ItsDirectionMakesTheLinearizedLackZero) {
  std::mt19937_64 g(3);
  for (int k = 0; k < kProblems; ++k) {
    const Problem p = random_problem(g);
    for (const int steps : {25, 50, 75}) {
      FrictionPath path;
      path.max_iterations = steps;
      PathState<kContacts> s = ended(path, p);
      const double share = 0.25 * (steps / 25);
      const PathStep at = step_tile(s, share);
      const double h = 1e-4 / (1 + norm(at.d));
      PathState<kContacts> ahead = moved(s, at.d, h), behind = moved(s, at.d, -h);
      const Forces change = (1 / (2 * h)) * (step_tile(ahead, share).lack.value - step_tile(behind, share).lack.value);
      EXPECT_LE(norm(change + at.lack.value), 1e-5 * (norm(at.lack.value) + norm(p.b))) << k << ", " << steps;
    }
  }
}

TEST(FrictionProximal, SpreadsItsCentersByTheGoldenSection) {
  double weyl = 0;
  for (int k = 1; k <= 20; ++k) {
    weyl = friction_proximal::next_weyl(weyl);
    const double whole = k * (std::sqrt(5.0) - 1) / 2;
    EXPECT_NEAR(weyl, whole - std::floor(whole), 1e-12);
  }
}

}  // namespace
}  // namespace garra::solvers
