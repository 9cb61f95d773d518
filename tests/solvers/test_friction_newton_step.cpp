// One step of the contact solver against the definition of its function and against differences of it: how fast it
// converges shows in no certificate.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>

#include "garra/solvers/friction_newton.hpp"

namespace garra {
namespace {

using solvers::friction_newton::classify;
using solvers::friction_newton::local_rho;
constexpr int kContacts = 3, kRows = 3 * kContacts;
using State = solvers::FrictionState<double, kContacts>;
using Forces = Vec<double, kRows>;

/// A regular problem, and an iterate that is not its solution: about a third each of the contacts is open, sticks and
/// slips.
State random_state(std::mt19937_64& g) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> u(0.2, 2);
  solvers::FrictionProblem<double, kContacts> p;
  Mat<double, kRows, kRows> root;
  for (double& x : root.m) x = normal(g);
  p.A = root * transpose(root);
  for (int i = 0; i < kRows; ++i) p.A(i, i) += 1;
  for (double& x : p.b.m) x = 3 * normal(g);
  for (double& x : p.mu.m) x = u(g);
  State s = solvers::FrictionNewton{}.start(p);
  for (double& x : s.c.m) x = normal(g);
  s.rho = u(g);
  s.a = s.problem.A * s.c + s.problem.b;
  return s;
}

struct Value {
  Forces F;
  int pieces = 0;  ///< open, stick or slip of each contact
};
/// F(c) = c - P(c - rho a): P projects normal forces on c_n >= 0 and friction on the disk of radius mu c_n of that
/// projection.
Value by_definition(const State& s, const Forces& c) {
  Value out;
  for (int j = 0; j < kContacts; ++j) {
    double a[3];
    for (int i = 0; i < 3; ++i) {
      a[i] = s.problem.b[3 * j + i];
      for (int k = 0; k < kRows; ++k) a[i] += s.problem.A(3 * j + i, k) * c[k];
    }
    const double rho_n = s.rho / (s.problem.A(3 * j, 3 * j) * std::max(1.0, s.problem.mu[j])),
                 rho_t = s.rho * 2 / (s.problem.A(3 * j + 1, 3 * j + 1) + s.problem.A(3 * j + 2, 3 * j + 2));
    const double cn = c[3 * j] - rho_n * a[0], y1 = c[3 * j + 1] - rho_t * a[1], y2 = c[3 * j + 2] - rho_t * a[2];
    const double radius = s.problem.mu[j] * std::max(cn, 0.0), length = std::hypot(y1, y2);
    const double shrink = length > radius ? radius / length : 1;
    out.F[3 * j] = c[3 * j] - std::max(cn, 0.0);
    out.F[3 * j + 1] = c[3 * j + 1] - shrink * y1;
    out.F[3 * j + 2] = c[3 * j + 2] - shrink * y2;
    out.pieces = 3 * out.pieces + (cn <= 0 ? 0 : length <= radius ? 1 : 2);
  }
  return out;
}

TEST(FrictionNewtonStep, ItsFunctionIsTheForceLessItsProjection) {
  std::mt19937_64 g(3);
  for (int k = 0; k < 200; ++k) {
    const State s = random_state(g);
    const Forces want = by_definition(s, s.c).F;
    for (int j = 0; j < kContacts; ++j) {
      const auto piece =
          classify(solvers::contact<double, kContacts>(s.c, j), solvers::contact<double, kContacts>(s.a, j),
                   s.problem.mu[j], local_rho<double, kContacts>(s, j));
      for (int i = 0; i < 3; ++i) EXPECT_NEAR(piece.F[i], want[3 * j + i], 1e-12) << "state " << k << " contact " << j;
    }
  }
}

TEST(FrictionNewtonStep, ItsDirectionMakesTheLinearizedFunctionZero) {
  std::mt19937_64 g(4);
  int seen = 0;
  std::set<int> pieces;
  for (int k = 0; k < 400; ++k) {
    const State s = random_state(g);
    double merit = 0;
    const Forces d = solvers::friction_newton::direction<double, kContacts>(s, merit);
    const Value here = by_definition(s, s.c);
    EXPECT_NEAR(merit, dot(here.F, here.F), 1e-11 * merit);
    const double h = 1e-5 / (1 + norm(d));
    const Value ahead = by_definition(s, axpy(h, d, s.c)), behind = by_definition(s, axpy(-h, d, s.c));
    if (ahead.pieces != here.pieces || behind.pieces != here.pieces) continue;  // across a kink there is no derivative
    for (int i = 0; i < kRows; ++i)
      EXPECT_NEAR((ahead.F[i] - behind.F[i]) / (2 * h), -here.F[i], 1e-5 * (1 + norm(d)))
          << "state " << k << " row " << i;
    pieces.insert(here.pieces);
    ++seen;
  }
  EXPECT_GE(seen, 390);
  EXPECT_GE(pieces.size(), 20u);  // of 27
}

// One factorization solves a grasp that holds; a guess that does, too.
TEST(FrictionNewtonStep, NoneIsTakenWhereAllContactsStick) {
  std::mt19937_64 g(5);
  for (int k = 0; k < 100; ++k) {
    const State s = random_state(g);
    auto p = s.problem;
    Forces c;
    for (int j = 0; j < kContacts; ++j) {
      c[3 * j] = 1 + 0.1 * j;
      c[3 * j + 1] = 0.6 * p.mu[j] * c[3 * j];
      c[3 * j + 2] = -0.6 * p.mu[j] * c[3 * j];
    }
    p.b = -(p.A * c);
    const auto answer = solvers::FrictionNewton{}.solve(p);
    EXPECT_EQ(answer.status, double(int(Status::kConverged)));
    EXPECT_EQ(answer.effort.outer, 0);
    for (int i = 0; i < kRows; ++i) EXPECT_NEAR(answer.c[i], c[i], 1e-6);
    const State guessed = solvers::FrictionNewton{.cold = true}.start(p, c);
    EXPECT_EQ(guessed.running, 0);
  }
}

// Where nothing can move (A and b are zero) sweeps leave forces as they are, so that a restart shows where it starts.
TEST(FrictionNewtonRestarts, RestartsStartWhereTheDocsSay) {
  std::mt19937_64 g(3);
  State s = random_state(g);
  s.problem.A = Mat<double, kRows, kRows>::zero();
  s.problem.b = Forces::zero();
  for (int j = 0; j < kContacts; ++j) {
    s.rho_t[j] = 1 + 0.5 * j;
    s.rho_n[j] = s.rho_t[j] / std::max(1.0, s.problem.mu[j]);
  }
  s.stage = s.weyl = 0;
  const Forces before = s.base = solvers::project_on_cones<double, kContacts>(s.c, s.problem.mu);
  const auto fraction = [](double x) { return x - std::floor(x); };
  for (int restart = 1; restart <= 8; ++restart) {
    SCOPED_TRACE(restart);
    solvers::friction_newton::next_restart<double, kContacts>(s, true);
    EXPECT_EQ(s.stage, restart);
    EXPECT_EQ(s.rho, restart == 2 ? 0.3 : restart == 3 ? 3.0 : 1.0);
    EXPECT_EQ(s.stage_steps, 0);
    EXPECT_NEAR(s.weyl, fraction(restart * (std::sqrt(5.0) - 1) / 2), 1e-12) << "the golden section";
    for (int j = 0; j < kContacts; ++j) {
      if (restart <= 3) {
        for (int i = 0; i < 3; ++i) EXPECT_NEAR(s.c[3 * j + i], before[3 * j + i], 1e-12);
        continue;
      }
      // 1 / 1.3247..., the plastic number, spreads the contacts of one start.
      const double w = fraction(s.weyl + j * 0.7548776662466927);
      EXPECT_NEAR(s.c[3 * j], 30 * w * w * w * s.rho_t[j], 1e-9);
      EXPECT_EQ(s.c[3 * j + 1], 0);
      EXPECT_EQ(s.c[3 * j + 2], 0);
    }
  }
}

TEST(FrictionProblem, ANumberThatIsNoneIsInvalidWhereverItStands) {
  std::mt19937_64 g(5);
  const auto problem = random_state(g).problem;
  const auto status_with = [&](auto spoil) {
    auto p = problem;
    spoil(p);
    return static_cast<Status>(static_cast<int>(solvers::FrictionNewton{}.solve(p).status));
  };
  EXPECT_EQ(status_with([](auto&) {}), Status::kConverged);
  for (int k = 0; k < kRows * kRows; ++k)
    EXPECT_EQ(status_with([&](auto& p) { p.A.m[k] = NAN; }), Status::kInvalidInput) << "A, " << k;
  for (int k = 0; k < kRows; ++k)
    EXPECT_EQ(status_with([&](auto& p) { p.b[k] = INFINITY; }), Status::kInvalidInput) << "b, " << k;
  for (int k = 0; k < kContacts; ++k)
    EXPECT_EQ(status_with([&](auto& p) { p.mu[k] = -1; }), Status::kInvalidInput) << "mu, " << k;
}

}  // namespace
}  // namespace garra
