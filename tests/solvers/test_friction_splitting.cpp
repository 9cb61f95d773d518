// NSGS, ADMM and extragradient against a residual that is written out here, against the Newton solver, and their
// promises.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <numbers>
#include <vector>

#include "contact/problems/classes.hpp"
#include "garra/core/lanes.hpp"
#include "garra/solvers/friction_admm.hpp"
#include "garra/solvers/friction_extragradient.hpp"
#include "garra/solvers/friction_newton.hpp"
#include "garra/solvers/friction_nsgs.hpp"
#include "load_change.hpp"

namespace garra {
namespace {

using solvers::FrictionAdmm;
using solvers::FrictionExtragradient;
using solvers::FrictionNsgs;
using solvers::SlidingContacts;

constexpr double kTol = 1e-8;

template <class S, int N>
using Problem = solvers::FrictionProblem<S, N>;
template <int N>
using Solution = solvers::FrictionSolution<double, N>;
template <int N>
using Problems = std::vector<Problem<double, N>>;
template <int N>
using Solutions = std::vector<Solution<N>>;

template <int N>
Problems<N> unpack(const contact::Problems& in) {
  Problems<N> out(static_cast<std::size_t>(in.count));
  for (std::size_t k = 0; k < out.size(); ++k) {
    std::copy_n(in.A.data() + k * 9 * N * N, 9 * N * N, out[k].A.m);
    std::copy_n(in.b.data() + k * 3 * N, 3 * N, out[k].b.m);
    std::copy_n(in.mu.data() + k * N, N, out[k].mu.m);
  }
  return out;
}

template <int N>
Problems<N> random_grasps(std::int64_t count) {
  return unpack<N>(bench::random_grasps({N, count, 0}));
}
template <int N>
Problems<N> manufactured(bench::ManufacturedClass kind, std::int64_t count) {
  return unpack<N>(bench::manufactured(kind, bench::Mode::mixed, {N, count, 1}).problems);
}

template <class Method, int N>
Solutions<N> solve_scalar(const Method& method, const Problems<N>& problems) {
  Solutions<N> out;
  for (const auto& p : problems) out.push_back(method.solve(p));
  return out;
}

/// The same in lanes; spare lanes of the last group hold the last problem.
template <class Method, int N>
Solutions<N> solve_lanes(const Method& method, const Problems<N>& problems) {
  using L = Lanes<double>;
  Solutions<N> out(problems.size());
  for (std::size_t first = 0; first < problems.size(); first += L::kSize) {
    Problem<L, N> group;
    for (int lane = 0; lane < L::kSize; ++lane) {
      const auto& p = problems[std::min(first + static_cast<std::size_t>(lane), problems.size() - 1)];
      for (int i = 0; i < 9 * N * N; ++i) group.A[i].set(lane, p.A[i]);
      for (int i = 0; i < 3 * N; ++i) group.b[i].set(lane, p.b[i]);
      for (int i = 0; i < N; ++i) group.mu[i].set(lane, p.mu[i]);
    }
    const auto solved = method.solve(group);
    const L* from = reinterpret_cast<const L*>(&solved);
    for (int lane = 0; lane < L::kSize && first + static_cast<std::size_t>(lane) < problems.size(); ++lane) {
      auto* to = reinterpret_cast<double*>(&out[first + static_cast<std::size_t>(lane)]);
      for (std::size_t f = 0; f < sizeof(solved) / sizeof(L); ++f) to[f] = from[f][lane];
    }
  }
  return out;
}

/// What the certificate calls the residual, by its definition.
template <int N>
double residual(const Problem<double, N>& p, const Vec<double, 3 * N>& c, const std::vector<double>& slip = {}) {
  return test::load_change({{p.A.m, p.A.m + 9 * N * N}, {p.b.m, p.b.m + 3 * N}, {p.mu.m, p.mu.m + N}, slip},
                           {c.m, c.m + 3 * N});
}

template <int N>
bool converged(const Solution<N>& s) {
  return s.status == static_cast<double>(Status::kConverged);
}

/// Share of problems solved; every one that is called converged has to have a small residual.
template <int N>
double certified_share(const Problems<N>& problems, const Solutions<N>& solutions) {
  double count = 0;
  for (std::size_t k = 0; k < problems.size(); ++k) {
    if (!converged<N>(solutions[k])) {
      EXPECT_TRUE(std::isnan(solutions[k].c[0])) << k;
      continue;
    }
    EXPECT_LE((residual<N>(problems[k], solutions[k].c)), kTol * (1 + 1e-6)) << k;
    ++count;
  }
  return count / static_cast<double>(problems.size());
}

template <int N>
bool same_bits(const Solution<N>& a, const Solution<N>& b) {
  return std::memcmp(a.c.m, b.c.m, sizeof a.c) == 0 && std::memcmp(&a.residual, &b.residual, sizeof(double)) == 0 &&
         a.status == b.status && a.effort.outer == b.effort.outer;
}

/// Converged or NaN alike: NaN has no bits that are promised.
template <int N>
bool same_answer(const Solution<N>& a, const Solution<N>& b) {
  if (!converged<N>(a)) return a.status == b.status && a.effort.outer == b.effort.outer;
  return same_bits<N>(a, b);
}

/// Shares that each method reaches, with the default limit of iterations (docs/theory/friction-cone-solvers.md).
template <class Method>
struct Floors;
template <>
struct Floors<FrictionNsgs> {
  static constexpr double random = 0.998, compliant = 0.998, rigid = 0.975, eight = 1, sliding = 0.99;
};
template <>
struct Floors<FrictionAdmm> {
  static constexpr double random = 1, compliant = 0.998, rigid = 0.965, eight = 1, sliding = 0.99;
};
template <>
struct Floors<FrictionExtragradient> {
  static constexpr double random = 1, compliant = 0.998, rigid = 0.96, eight = 1, sliding = 0.99;
};

template <class Method>
class Splitting : public testing::Test {
 protected:
  const Method method{};
};
using Methods = testing::Types<FrictionNsgs, FrictionAdmm, FrictionExtragradient>;
TYPED_TEST_SUITE(Splitting, Methods);

TYPED_TEST(Splitting, SolvesRandomGraspsAndLanesEqualScalarToTheBit) {
  const auto problems = random_grasps<3>(1003);
  const auto lanes = solve_lanes(this->method, problems), scalar = solve_scalar(this->method, problems);
  EXPECT_GE(certified_share<3>(problems, lanes), Floors<TypeParam>::random);
  for (std::size_t k = 0; k < problems.size(); ++k) EXPECT_TRUE(same_answer<3>(lanes[k], scalar[k])) << k;
}

TYPED_TEST(Splitting, SolvesItsShareOfManufacturedProblems) {
  using bench::ManufacturedClass;
  const auto compliant = manufactured<3>(ManufacturedClass::compliant, 2000);
  EXPECT_GE(certified_share<3>(compliant, solve_lanes(this->method, compliant)), Floors<TypeParam>::compliant);
  const auto rigid = manufactured<3>(ManufacturedClass::rigid, 1000);
  EXPECT_GE(certified_share<3>(rigid, solve_lanes(this->method, rigid)), Floors<TypeParam>::rigid);
}

/// What a method with other options than those of the batches solves, by the residual above; in lanes the same bits.
template <class Method>
void expect_all_solved(const Method& method) {
  const auto problems = random_grasps<3>(50);
  const auto lanes = solve_lanes(method, problems), scalar = solve_scalar(method, problems);
  EXPECT_EQ(certified_share<3>(problems, lanes), 1.0);
  for (std::size_t k = 0; k < problems.size(); ++k) EXPECT_TRUE(same_bits<3>(lanes[k], scalar[k])) << k;
}

TEST(Options, OfSplittingMethodsChangeTheWayAndNotTheAnswer) {
  for (const double relaxation : {0.7, 1.3}) expect_all_solved(FrictionNsgs{.relaxation = relaxation});
  expect_all_solved(FrictionNsgs{.extrapolate = false});
  expect_all_solved(FrictionExtragradient{.extrapolate = false});
}

TYPED_TEST(Splitting, SolvesOneAndEightContacts) {
  const auto one = random_grasps<1>(200);
  EXPECT_EQ(certified_share<1>(one, solve_scalar(this->method, one)), 1.0);
  const auto eight = random_grasps<8>(40);
  EXPECT_GE(certified_share<8>(eight, solve_scalar(this->method, eight)), Floors<TypeParam>::eight);
}

// The elimination of contacts that slide already leaves an unsymmetric matrix and mu = 0 there. Sliding can make a
// problem without a solution, so the Newton solver says which problems count.
TYPED_TEST(Splitting, SolvesWhatNewtonSolvesWhereContactsSlideAlready) {
  bench::Random random(5);
  int newton_solves = 0, both = 0, unsymmetric = 0;
  for (const auto& given : random_grasps<3>(600)) {
    SlidingContacts<double, 3> sliding{Vec<double, 6>::zero()};
    for (int j = 0; j < 3; ++j) {
      if (random.uniform() > 0.4) continue;
      const double angle = 2 * std::numbers::pi * random.uniform();
      sliding.v[2 * j] = std::cos(angle);
      sliding.v[2 * j + 1] = std::sin(angle);
    }
    auto reduced = given;
    eliminate_sliding(reduced, sliding);
    for (int i = 0; i < 9; ++i)
      for (int k = 0; k < i; ++k) unsymmetric += std::abs(reduced.A(i, k) - reduced.A(k, i)) > 0.1;
    const solvers::FrictionNewton newton;
    if (!converged<3>(newton.solve(reduced))) continue;
    ++newton_solves;
    auto state = this->method.start(reduced);
    while (TypeParam::running(state)) this->method.step(state);
    const auto full = certify(given, sliding, this->method.candidate(state), kTol);
    if (!converged<3>(full)) continue;
    ++both;
    for (int j = 0; j < 3; ++j)
      if (sliding.slides(j)) {
        EXPECT_NEAR(full.c[3 * j + 1], -given.mu[j] * full.c[3 * j] * sliding.v[2 * j], 1e-12 * (1 + full.c[3 * j]));
      }
    EXPECT_LE((residual<3>(given, full.c, {sliding.v.m, sliding.v.m + 6})), 1.01 * kTol);
  }
  EXPECT_GE(newton_solves, 580);
  EXPECT_GE(unsymmetric, 1000);
  EXPECT_GE(both, Floors<TypeParam>::sliding * newton_solves);
}

TYPED_TEST(Splitting, ScalingTheLoadScalesTheAnswer) {
  auto problems = random_grasps<3>(100);
  const auto small = solve_scalar(this->method, problems);
  for (auto& p : problems) p.b = 1024.0 * p.b;  // a power of two: scaling is exact, so are the answers
  const auto big = solve_scalar(this->method, problems);
  for (std::size_t k = 0; k < problems.size(); ++k)
    for (int i = 0; i < 9; ++i) EXPECT_EQ(big[k].c[i], 1024.0 * small[k].c[i]);
}

// Answers of a turned or relabeled problem are turned or relabeled answers: checked by putting them back into the
// problem as given, since solutions need not be unique.
TYPED_TEST(Splitting, TurningTangentsAndRelabellingContactsKeepsAnswersValid) {
  const auto problems = random_grasps<3>(100);
  const double co = std::cos(0.7), si = std::sin(0.7);
  Mat<double, 9, 9> Q = Mat<double, 9, 9>::zero();  // new contact j is old contact (j + 1) % 3, its tangents turned
  for (int j = 0; j < 3; ++j) {
    const int from = 3 * ((j + 1) % 3);
    Q(3 * j, from) = 1;
    Q(3 * j + 1, from + 1) = Q(3 * j + 2, from + 2) = co;
    Q(3 * j + 1, from + 2) = si;
    Q(3 * j + 2, from + 1) = -si;
  }
  int close = 0;
  for (const auto& p : problems) {
    const Problem<double, 3> moved{Q * p.A * transpose(Q), Q * p.b, vec3<double>(p.mu[1], p.mu[2], p.mu[0])};
    const auto s = this->method.solve(p), m = this->method.solve(moved);
    ASSERT_TRUE(converged<3>(s) && converged<3>(m));
    const Vec<double, 9> back = transpose(Q) * m.c;
    EXPECT_LE((residual<3>(p, back)), 1.01 * kTol);
    close += norm(back - s.c) <= 1e-5 * norm(s.c);
  }
  EXPECT_GE(close, 97);
}

TYPED_TEST(Splitting, NeighboursOfAPoisonedProblemKeepTheirBits) {
  const auto clean = random_grasps<3>(40);
  auto bad = clean;
  bad[5].A[3] = std::numeric_limits<double>::quiet_NaN();
  bad[12].b[0] = std::numeric_limits<double>::infinity();
  bad[20].mu[1] = -0.1;
  bad[21].mu[0] = std::numeric_limits<double>::quiet_NaN();
  const auto a = solve_lanes(this->method, clean), b = solve_lanes(this->method, bad);
  for (std::size_t k = 0; k < clean.size(); ++k) {
    const bool poisoned = k == 5 || k == 12 || k == 20 || k == 21;
    EXPECT_EQ(b[k].status, static_cast<double>(poisoned ? Status::kInvalidInput : Status::kConverged)) << k;
    if (poisoned) continue;
    EXPECT_TRUE(same_bits<3>(a[k], b[k])) << k;
  }
}

TYPED_TEST(Splitting, IterationLimitIsSaidAndKept) {
  TypeParam short_run = this->method;
  short_run.max_iterations = 10;
  short_run.tolerance = 1e-15;
  for (const auto& s : solve_scalar(short_run, random_grasps<3>(20))) {
    if (converged<3>(s)) continue;
    EXPECT_EQ(s.status, static_cast<double>(Status::kIterationLimit));
    EXPECT_GE(s.effort.outer, 10);
    EXPECT_LE(s.effort.outer, 20);  // tests come every few iterations
    EXPECT_TRUE(std::isnan(s.c[0]));
  }
}

TYPED_TEST(Splitting, DegenerateProblemsGetAStatusAndAFiniteResidual) {
  const auto base = random_grasps<3>(4)[3];
  Problems<3> cases(8, base);
  cases[0].mu = Vec3<double>::zero();
  cases[1].mu = vec3<double>(10, 10, 10);
  cases[2].A = Mat<double, 9, 9>::zero();
  cases[3].b = Vec<double, 9>::zero();
  cases[4].A = 1e100 * base.A;
  cases[5].b = 1e-100 * base.b;
  std::fill_n(cases[6].A.m, 81, 1.0);
  cases[7].A = -base.A;
  TypeParam method = this->method;
  method.max_iterations = 5000;
  const auto solutions = solve_lanes(method, cases);
  for (std::size_t k = 0; k < cases.size(); ++k) {
    EXPECT_TRUE(std::isfinite(solutions[k].residual)) << k;
    EXPECT_NE(solutions[k].status, static_cast<double>(Status::kInvalidInput)) << k;
  }
  for (const std::size_t k : {std::size_t{0}, std::size_t{3}, std::size_t{4}, std::size_t{5}})
    EXPECT_TRUE(converged<3>(solutions[k])) << k;
  for (int i = 0; i < 9; ++i) EXPECT_EQ(solutions[3].c[i], 0);
}

// Two opposed contacts of a rigid body that both approach: no finite force stops them.
TYPED_TEST(Splitting, ForceThatRunsAwayIsNotCalledConverged) {
  Problem<double, 2> p{Mat<double, 6, 6>::identity(), Vec<double, 6>::zero(), {{0, 0}}};
  p.A(0, 3) = p.A(3, 0) = -1;  // a_n1 = c1 - c2 - 1, a_n2 = c2 - c1 - 1: their sum is -2 whatever c
  p.b[0] = p.b[3] = -1;
  TypeParam method = this->method;
  method.max_iterations = 2000;
  const auto s = method.solve(p);
  EXPECT_FALSE(converged<2>(s));
  EXPECT_TRUE(std::isfinite(s.residual));
}

TEST(FrictionSplitting, ForcesThatRunAwayAreLostAndOthersAreNot) {
  solvers::FrictionProblem<double, 1> p{Mat<double, 3, 3>::identity(), {{-1, 0, 0}}, {{0.5}}};
  const auto lost = [&](double force) {
    const Vec<double, 3> c = {{force, 0, 0}};
    return solvers::friction_splitting::check_scaled_iterate(p, solvers::load_scale(p), c, p.A * c + p.b, 1e-8).lost;
  };
  EXPECT_FALSE(lost(2));
  EXPECT_FALSE(lost(1e15));
  EXPECT_TRUE(lost(1e17));
  EXPECT_TRUE(lost(std::numeric_limits<double>::quiet_NaN()));
}

TEST(PapersMerit, SlidingContactsHaveNoFrictionLaw) {
  // Both contacts press, neither moves along its normal, and their friction is nowhere in its law: the merit is that of
  // the contact that rolls, whichever it is.
  const Vec<double, 2> mu = {{0.5, 0.4}};
  const Vec<double, 6> c = {{2, 3, 1, 1, 0.2, 0.1}}, a = {{0, 1, 2, 0, -1, 0.5}};
  const auto alone = [&](int j) {
    const Vec<double, 3> cj = {{c[3 * j], c[3 * j + 1], c[3 * j + 2]}}, aj = {{a[3 * j], a[3 * j + 1], a[3 * j + 2]}};
    return solvers::papers_merit<double, 1>({{mu[j]}}, cj, aj);
  };
  for (int sliding = 0; sliding < 2; ++sliding) {
    solvers::SlidingContacts<double, 2> slides{{{0, 0, 0, 0}}};
    slides.v[2 * sliding] = 1;
    EXPECT_NEAR((solvers::papers_merit<double, 2>(mu, slides, c, a)), alone(1 - sliding), 1e-12);
  }
  EXPECT_GT(alone(0), 1);
  EXPECT_GT(std::abs(alone(0) - alone(1)), 0.1);
}

}  // namespace
}  // namespace garra
