// The merit function on the friction cone, and a_T taken out of the others: values against definitions, derivatives
// against differences, and the solved shares of the pairs that use them.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "contact/problems/classes.hpp"
#include "garra/solvers/friction_newton.hpp"
#include "garra/solvers/merit/second_order_cone.hpp"
#include "garra/solvers/merit/spg_newton.hpp"

namespace garra::solvers {
namespace {

using Problem3 = FrictionProblem<double, 3>;
using View = SecondOrderConeMerit::View<ConeFriction<3>, double>;

std::vector<Problem3> to_problems(const contact::Problems& in) {
  std::vector<Problem3> out(static_cast<std::size_t>(in.count));
  for (std::size_t k = 0; k < out.size(); ++k) {
    std::memcpy(out[k].A.m, &in.A[81 * k], sizeof out[k].A);
    std::memcpy(out[k].b.m, &in.b[9 * k], sizeof out[k].b);
    std::memcpy(out[k].mu.m, &in.mu[3 * k], sizeof out[k].mu);
  }
  return out;
}
std::vector<Problem3> random_problems(std::int64_t count) { return to_problems(bench::random_grasps({3, count, 0})); }
std::vector<Problem3> manufactured(bench::ManufacturedClass kind, std::int64_t count) {
  return to_problems(bench::manufactured(kind, bench::Mode::mixed, {3, count, 7}).problems);
}

Vec3<double> jordan(const Vec3<double>& x, const Vec3<double>& y) {
  return vec3<double>(dot(x, y), x[0] * y[1] + y[0] * x[1], x[0] * y[2] + y[0] * x[2]);
}

TEST(ConeFunction, TakesTheSquareRootOfTheSumOfSquares) {
  bench::Random random(1);
  for (int k = 0; k < 1000; ++k) {
    const Vec3<double> x = random.normal3(), y = random.normal3();
    const auto r = cone_merit::root(x, y);
    const Vec3<double> square = jordan(r.w, r.w), sum = jordan(x, x) + jordan(y, y);
    for (int i = 0; i < 3; ++i) EXPECT_NEAR(square[i], sum[i], 1e-13 * (1 + sum[0]));
    EXPECT_GE(r.w[0], std::hypot(r.w[1], r.w[2]) * (1 - 1e-14));  // in the cone
  }
}

// Of (x, y) with x'y = 0, both in the cone: one is 0, or both lie on opposite sides of the boundary.
TEST(ConeFunction, IsZeroExactlyAtComplementaryPairs) {
  bench::Random random(2);
  for (int k = 0; k < 500; ++k) {
    const double angle = random.uniform(0, 7), a = random.uniform(0, 3), b = random.uniform(0, 3);
    const Vec3<double> x = vec3<double>(a, a * std::cos(angle), a * std::sin(angle));
    const Vec3<double> y = vec3<double>(b, -b * std::cos(angle), -b * std::sin(angle));
    const Vec3<double> inside = vec3<double>(a + 0.1, 0.9 * a * std::cos(angle), 0.9 * a * std::sin(angle));
    const Vec3<double> zero = vec3<double>(0, 0, 0), outside = vec3<double>(a, 2 * a + 0.1, 0);
    EXPECT_LT(norm(cone_merit::value(x, y)), 1e-14 * (1 + a + b));
    EXPECT_LT(norm(cone_merit::value(inside, zero)), 1e-14 * (1 + a));
    EXPECT_LT(norm(cone_merit::value(zero, inside)), 1e-14 * (1 + a));
    EXPECT_GT(norm(cone_merit::value(inside, inside)), 0.02);
    EXPECT_GT(norm(cone_merit::value(outside, zero)), 0.02);
  }
}

TEST(ConeMerit, HasTheDerivativesOfItsFormula) {
  std::vector<Problem3> problems = random_problems(40);
  problems[3].mu[1] = 0;
  bench::Random random(4);
  for (const Problem3& given : problems) {
    const Problem3 p = scaled(given).problem;
    const View view(p);
    Vec<double, 9> c;
    for (int i = 0; i < 9; ++i) c[i] = random.normal();
    const auto J = view.jacobian(c);
    for (int k = 0; k < 9; ++k) {
      Vec<double, 9> e = Vec<double, 9>::zero();
      e[k] = 1e-6;
      const auto difference = 0.5e6 * (view.residual(c + e) - view.residual(c - e));
      for (int i = 0; i < 9; ++i) EXPECT_NEAR(J(i, k), difference[i], 1e-7) << i << " " << k;
    }
  }
}

TEST(ConeMerit, IsZeroAtTheForcesOfNewtonsMethod) {
  int compared = 0;
  for (const Problem3& given : random_problems(100)) {
    FrictionNewton newton;
    newton.tolerance = 1e-12;
    const auto solution = newton.solve<double, 3>(given);
    if (solution.status != int(Status::kConverged)) continue;
    ++compared;
    const auto in = scaled(given);
    EXPECT_LT(norm(View(in.problem).residual((1 / in.unit) * solution.c)), 1e-9);
  }
  EXPECT_GT(compared, 90);
}

TEST(ConeMerit, HasFiniteDerivativesAtTheApexAndAtRest) {
  Problem3 p = scaled(random_problems(1)[0]).problem;
  p.b = Vec<double, 9>::zero();  // x = y = 0 and a_T = 0 at c = 0
  const auto J = View(p).jacobian(Vec<double, 9>::zero());
  for (double v : J.m) EXPECT_TRUE(std::isfinite(v));
}

// The papers' rows in (c_n, lambda, c_T), with a_T = A_T c + b_T put in.
TEST(EliminatedFriction, HasTheRowsOfThePapersFormAndTheDerivativesOfItsOwn) {
  using Full = FrictionMncp<3>;
  using Reduced = EliminatedFriction<3>;
  std::vector<Problem3> problems = random_problems(10);
  problems[3].mu[1] = 0;
  bench::Random random(6);
  for (const Problem3& given : problems) {
    const Problem3 p = scaled(given).problem;
    Vec<double, 12> x, w;
    for (double& v : x.m) v = random.normal();
    for (double& v : w.m) v = random.normal();
    const Vec<double, 9> c = Full::forces(x), a = p.A * c + p.b;
    Vec<double, 18> full;
    for (int i = 0; i < 12; ++i) full[i] = x[i];
    for (int j = 0; j < 3; ++j) {
      full[Full::a_t(j)] = a[3 * j + 1];
      full[Full::a_o(j)] = a[3 * j + 2];
    }
    const auto y = Reduced::evaluate(p, x);
    const auto z = Full::evaluate(p, full);
    for (int i = 0; i < 12; ++i) EXPECT_NEAR(y[i], z[i], 1e-13);
    for (int i = 12; i < 18; ++i) EXPECT_NEAR(z[i], 0, 1e-13);
    const auto f = [&](const auto& v) { return Reduced::evaluate(p, v); };
    const auto J = Reduced::jacobian(p, x), dual = dual_jacobian<double, 12, 12>(f, x);
    auto H = Mat<double, 12, 12>::zero(), dual_h = H;
    Reduced::add_curvature(p, x, w, H);
    dual_add_curvature<double, 12, 12>(f, x, w, dual_h);
    for (int k = 0; k < 144; ++k) {
      EXPECT_NEAR(J[k], dual[k], 1e-13) << k;
      EXPECT_NEAR(H[k], dual_h[k], 1e-13) << k;
    }
  }
}

template <class Merit, class Minimizer>
double solved_share(const std::vector<Problem3>& problems) {
  FrictionMerit<Minimizer, Merit> method;
  method.first = FrictionStart::kSweeps;
  method.starts = 20;
  int solved = 0;
  for (const Problem3& p : problems) {
    const auto found = method.template solve<double, 3>(p);
    solved += found.status == int(Status::kConverged) ? 1 : 0;
  }
  return solved / static_cast<double>(problems.size());
}
template <class Merit, class Minimizer>
void expect_nearly_all_solved() {
  EXPECT_GE((solved_share<Merit, Minimizer>(random_problems(500))), 0.995);
  EXPECT_GE((solved_share<Merit, Minimizer>(manufactured(bench::ManufacturedClass::compliant, 500))), 0.995);
  EXPECT_GE((solved_share<Merit, Minimizer>(manufactured(bench::ManufacturedClass::rigid, 500))), 0.995);
}
TEST(RecommendedPairs, SolveNearlyAllByTheConeFunction) {
  expect_nearly_all_solved<SecondOrderConeMerit, ProjectedLm>();
  expect_nearly_all_solved<SecondOrderConeMerit, SpgNewton>();
}
TEST(RecommendedPairs, SolveNearlyAllByTheFischerBurmeisterFunction) {
  expect_nearly_all_solved<FischerBurmeisterMerit, ProjectedLm>();
  expect_nearly_all_solved<FischerBurmeisterMerit, SpgNewton>();
}

}  // namespace
}  // namespace garra::solvers
