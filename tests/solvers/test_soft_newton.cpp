// Newton's restarts for soft contacts, whose forces are four numbers: closed forms, problems built from their answers,
// and problems of points that it must solve as ever.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "contact/batch/body.hpp"
#include "garra/solvers/friction_newton.hpp"

namespace garra::solvers {
namespace {

template <int N>
using Problem = FrictionProblem<double, N, 4>;
template <int N>
using Solution = FrictionSolution<double, N, 4>;

template <int N>
Solution<N> solved(const Problem<N>& p) {
  return FrictionNewton{}.solve(p);
}
bool converged(double status) { return status == static_cast<double>(Status::kConverged); }

// A disk that lies on a plane, pressed, pushed along it and twisted: its three tangential directions move apart from
// each other, so it rests where the ellipse holds it, and else slides against what is left.
TEST(SoftNewton, ADiskOnAPlaneRestsWithinTheEllipseAndSlidesBeyond) {
  constexpr double kDiskMass = 0.3, kInertia = 2e-5, kRadius = 0.008, kPress = 4, kMu = 0.4;
  const double turn = kRadius * kRadius / kInertia;
  for (const double angle : {0.0, 0.4, 1.0, 1.3, M_PI / 2})
    for (const double of : {0.5, 0.999, 1.001, 3.0}) {
      const double push = of * kMu * kPress * std::cos(angle), moment = of * kMu * kPress * kRadius * std::sin(angle);
      Problem<1> p{};
      for (int i = 0; i < 3; ++i) p.A(i, i) = 1 / kDiskMass;
      p.A(3, 3) = turn;
      p.b = {{-kPress / kDiskMass, push / kDiskMass, 0, kRadius * moment / kInertia}};
      p.mu = {{kMu}};
      const Solution<1> s = solved(p);
      ASSERT_TRUE(converged(s.status)) << angle << ' ' << of;
      EXPECT_NEAR(s.c[0], kPress, 1e-7);
      const double slip = std::hypot(s.a[1], s.a[2], s.a[3]);
      if (of < 1) {
        EXPECT_NEAR(s.c[1], -push, 1e-7);
        EXPECT_NEAR(kRadius * s.c[3], -moment, 1e-9);
        EXPECT_LT(slip, 1e-5);
      } else {
        EXPECT_NEAR(std::hypot(s.c[1], s.c[2], s.c[3]), kMu * kPress, 1e-7);
        for (int i = 1; i < 4; ++i) EXPECT_NEAR(s.c[i] * slip, -kMu * kPress * s.a[i], 1e-6 * (1 + slip)) << i;
        // Turning, r^2 / I is not 1 / m: it does not slide the way it is pushed.
        if (of == 3 && angle == 1.0) {
          EXPECT_GT(std::abs(std::atan2(s.a[3], s.a[1]) - std::atan2(turn * moment / kRadius, push / kDiskMass)), 1e-3);
        }
      }
    }
}

/// A positive definite matrix, and an answer that obeys the law at every contact; b is what makes it one.
template <int N>
struct Manufactured {
  Problem<N> problem;
  Vec<double, 4 * N> c;
};
template <int N>
Manufactured<N> manufactured(std::mt19937_64& g) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform(0.1, 1);
  Manufactured<N> out;
  Mat<double, 4 * N, 4 * N> B;
  for (int k = 0; k < 16 * N * N; ++k) B[k] = normal(g);
  out.problem.A = transpose_times(B, B);
  for (int k = 0; k < 4 * N; ++k) out.problem.A(k, k) += 0.3;
  auto a = Vec<double, 4 * N>::zero();
  out.c = a;
  for (int j = 0; j < N; ++j) {
    const double mu = out.problem.mu[j] = uniform(g), press = 3 * uniform(g);
    Vec<double, 4> d{{0, normal(g), normal(g), normal(g)}};
    d = (1 / norm(d)) * d;
    const int what = static_cast<int>(g() % 3);
    if (what == 0) {  // opens
      a[4 * j] = uniform(g);
      for (int i = 1; i < 4; ++i) a[4 * j + i] = normal(g);
    } else {
      const double bears = what == 1 ? uniform(g) * 0.95 : 1, slip = what == 1 ? 0 : uniform(g);
      out.c[4 * j] = press;
      for (int i = 1; i < 4; ++i) {
        out.c[4 * j + i] = -bears * mu * press * d[i];
        a[4 * j + i] = slip * d[i];
      }
    }
  }
  out.problem.b = a - out.problem.A * out.c;
  return out;
}

/// By the definition alone.
template <int N>
void expect_law(const Problem<N>& p, const Solution<N>& s) {
  const Vec<double, 4 * N> a = p.A * s.c + p.b;
  const double size = 1e-5 * (1 + norm(p.b));
  for (int j = 0; j < N; ++j) {
    const double* c = s.c.m + 4 * j;
    const double *aj = a.m + 4 * j, slip = std::hypot(aj[1], aj[2], aj[3]), ct = std::hypot(c[1], c[2], c[3]);
    EXPECT_GE(c[0], -size);
    EXPECT_GE(aj[0], -size);
    EXPECT_LE(std::abs(c[0] * aj[0]), size * (1 + c[0]));
    EXPECT_LE(ct, p.mu[j] * c[0] + size);
    for (int i = 1; i < 4; ++i) EXPECT_NEAR(c[i] * slip, -p.mu[j] * c[0] * aj[i], size * (1 + std::abs(c[0])) * 10);
  }
}

template <int N>
void solve_manufactured() {
  SCOPED_TRACE(N);
  std::mt19937_64 g(N);
  int unsolved = 0, found = 0;
  constexpr int kProblems = 300;
  for (int k = 0; k < kProblems; ++k) {
    const Manufactured<N> m = manufactured<N>(g);
    const Solution<N> s = solved(m.problem);
    if (!converged(s.status)) {
      ++unsolved;
      continue;
    }
    expect_law(m.problem, s);
    found += norm(s.c - m.c) < 1e-5 * (1 + norm(m.c));
  }
  EXPECT_LE(unsolved, kProblems / 100);
  EXPECT_GE(found, kProblems / 2) << "the answer need not be the only one, but mostly is";
}
TEST(SoftNewton, FindsForcesThatObeyTheLaw) {
  solve_manufactured<1>();
  solve_manufactured<2>();
  solve_manufactured<3>();
  solve_manufactured<5>();
}

// Where nothing turns the contacts, and what turns them moves nothing else, they are points.
TEST(SoftNewton, ContactsThatNothingTurnsAreSolvedAsPoints) {
  std::mt19937_64 g(11);
  std::normal_distribution<double> normal;
  constexpr int N = 3;
  int compared = 0;
  for (int k = 0; k < 200; ++k) {
    Mat<double, 3 * N, 3 * N> B;
    for (int i = 0; i < 9 * N * N; ++i) B[i] = normal(g);
    FrictionProblem<double, N> points;
    points.A = transpose_times(B, B) + Mat<double, 3 * N, 3 * N>::identity();
    for (int i = 0; i < 3 * N; ++i) points.b[i] = i % 3 == 0 ? -std::abs(normal(g)) : normal(g);
    points.mu = {{0.3, 0.5, 0.8}};
    Problem<N> soft{Mat<double, 4 * N, 4 * N>::zero(), Vec<double, 4 * N>::zero(), points.mu};
    for (int r = 0; r < 3 * N; ++r) {
      for (int c = 0; c < 3 * N; ++c) soft.A(4 * (r / 3) + r % 3, 4 * (c / 3) + c % 3) = points.A(r, c);
      soft.b[4 * (r / 3) + r % 3] = points.b[r];
    }
    for (int j = 0; j < N; ++j) soft.A(4 * j + 3, 4 * j + 3) = 1 + j;
    const auto expected = FrictionNewton{}.solve(points);
    const Solution<N> s = solved(soft);
    if (!converged(expected.status) || !converged(s.status)) continue;
    ++compared;
    expect_law(soft, s);
    for (int j = 0; j < N; ++j) {
      EXPECT_NEAR(s.c[4 * j + 3], 0, 1e-7);
      for (int i = 0; i < 3; ++i) EXPECT_NEAR(s.c[4 * j + i], expected.c[3 * j + i], 1e-5);
    }
  }
  EXPECT_GT(compared, 195);
}

/// A rigid object in soft contacts of rigid fingers: A = L' L and b = L' y, so that b presses no internal forces.
template <int N>
Problem<N> rigid_hand(std::mt19937_64& g) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform(0.1, 1);
  constexpr int kRows = 6 + N;
  Mat<double, kRows, 4 * N> L;
  for (int k = 0; k < 4 * N * kRows; ++k) L[k] = normal(g);
  // Fingers move their own contact alone.
  for (int r = 6; r < kRows; ++r)
    for (int k = 0; k < 4 * N; ++k)
      if (k / 4 != r - 6) L(r, k) = 0;
  Vec<double, kRows> y;
  for (int r = 0; r < kRows; ++r) y[r] = normal(g);
  Problem<N> p{transpose_times(L, L), transpose(L) * y, Vec<double, N>::zero()};
  for (int j = 0; j < N; ++j) p.mu[j] = uniform(g);
  return p;
}

TEST(SoftNewton, FallbackSolversFollowWhereItReachesItsLimit) {
  constexpr int N = 8, kProblems = 6000;
  using AnyProblem = FrictionProblem<double, kAnyContacts, 4>;
  using AnyCandidate = Candidate<double, kAnyContacts, 4>;
  const ContactsInUse many(N);
  std::mt19937_64 g(5);
  int left = 0, solved_later = 0;
  for (int k = 0; k < kProblems; ++k) {
    const Problem<N> p = rigid_hand<N>(g);
    const Solution<N> first = solved(p);
    if (converged(first.status)) continue;
    ++left;
    batch::Tiles<AnyProblem> problems(1);
    batch::Tiles<AnyCandidate> candidates(1);
    AnyProblem any;
    for (int i = 0; i < 16 * N * N; ++i) any.A[i] = p.A[i];
    for (int i = 0; i < 4 * N; ++i) any.b[i] = p.b[i];
    for (int j = 0; j < N; ++j) any.mu[j] = p.mu[j];
    problems.set(0, any);
    candidates.set(0, make_candidate<double, kAnyContacts, 4>(Vec<double, 4 * kAnyContacts>::zero(),
                                                              static_cast<double>(Status::kIterationLimit),
                                                              Effort<double>::none()));
    contact::solve_remaining_soft({}, problems.data(), candidates.data(), 1);
    Candidate<double, N, 4> found =
        make_candidate<double, N, 4>(Vec<double, 4 * N>::zero(), candidates.get(0).reason, Effort<double>::none());
    for (int i = 0; i < 4 * N; ++i) found.c[i] = candidates.get(0).c[i];
    const Solution<N> s = certify(p, found, 1e-8);
    if (!converged(s.status)) continue;
    ++solved_later;
    expect_law(p, s);
  }
  EXPECT_GE(left, 10) << "problems for the fallback solvers";
  EXPECT_EQ(solved_later, left);
}

TEST(SoftNewton, WhatIsNoProblemIsNamedAndAnotherForceIsRefused) {
  std::mt19937_64 g(2);
  const Manufactured<2> m = manufactured<2>(g);
  Problem<2> bad = m.problem;
  bad.b[3] = std::nan("");
  EXPECT_EQ(solved(bad).status, static_cast<double>(Status::kInvalidInput));
  Candidate<double, 2, 4> found =
      make_candidate<double, 2, 4>(m.c, static_cast<double>(Status::kStalled), Effort<double>::none());
  EXPECT_TRUE(converged(certify(m.problem, found, 1e-8).status));
  found.c[3] += 1e-3;
  EXPECT_FALSE(converged(certify(m.problem, found, 1e-8).status));
}

}  // namespace
}  // namespace garra::solvers
