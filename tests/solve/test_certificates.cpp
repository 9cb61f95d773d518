// The certificates against their definitions, written out in long double, in units of many sizes: what they take for a
// solution is all that is promised.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include "garra/solve/friction_problem.hpp"
#include "garra/solve/lcp.hpp"

namespace garra::solvers {
namespace {

constexpr int kContacts = 2, kRows = 3 * kContacts;
using Problem = FrictionProblem<double, kContacts>;
using Forces = Vec<double, kRows>;

class Draw {
 public:
  explicit Draw(unsigned seed) : engine_(seed) {}
  double normal() { return std::normal_distribution<double>()(engine_); }
  double uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(engine_); }

 private:
  std::mt19937_64 engine_;
};

Problem random_problem(Draw& draw) {
  Problem p;
  Mat<double, kRows, kRows> root;
  for (double& x : root.m) x = draw.normal();
  p.A = root * transpose(root);
  for (double& x : p.b.m) x = draw.normal();
  for (double& x : p.mu.m) x = draw.uniform(0, 1.5);
  return p;
}

std::array<long double, 3> on_cone(long double n, long double t, long double o, long double mu) {
  const long double length = std::hypot(t, o);
  if (length <= mu * n) return {n, t, o};
  if (n <= -mu * length) return {0, 0, 0};
  const long double to = (n + mu * length) / (1 + mu * mu);
  return {to, mu * to * t / length, mu * to * o / length};
}

/// |c - P(c - a~)| / max(|b|, |c|, |a|), accelerations in units of the largest |b|, forces of that over the largest
/// A_ii.
double residual_by_definition(const Problem& p, const Forces& force) {
  long double size_a = 0, size_b = 0, error2 = 0, b2 = 0, c2 = 0, a2 = 0;
  for (int i = 0; i < kRows; ++i) {
    size_a = std::max(size_a, static_cast<long double>(p.A(i, i)));
    size_b = std::max(size_b, std::abs(static_cast<long double>(p.b[i])));
  }
  for (int j = 0; j < kContacts; ++j) {
    long double a[3], c[3];
    for (int i = 0; i < 3; ++i) {
      a[i] = p.b[3 * j + i];
      for (int k = 0; k < kRows; ++k) a[i] += static_cast<long double>(p.A(3 * j + i, k)) * force[k];
      a[i] /= size_b;
      c[i] = force[3 * j + i] * size_a / size_b;
      b2 += p.b[3 * j + i] / size_b * (p.b[3 * j + i] / size_b);
      c2 += c[i] * c[i];
      a2 += a[i] * a[i];
    }
    const long double mu = p.mu[j];
    const auto near = on_cone(c[0] - a[0] - mu * std::hypot(a[1], a[2]), c[1] - a[1], c[2] - a[2], mu);
    for (std::size_t i = 0; i < 3; ++i) error2 += (c[i] - near[i]) * (c[i] - near[i]);
  }
  return static_cast<double>(std::sqrt(error2 / std::max({b2, c2, a2})));
}

FrictionSolution<double, kContacts> judged(const Problem& p, const Forces& c, double reason = int(Status::kStalled)) {
  return certify(p, candidate_of<double, kContacts>(c, reason, Effort<double>::none()), 1e-8);
}

constexpr double kSizes[] = {0x1p-40, 0x1p-3, 1, 0x1p5, 0x1p40};

TEST(FrictionCertificate, ItsResidualIsTheDefinitionInEveryUnit) {
  Draw draw(1);
  for (int k = 0; k < 40; ++k) {
    const Problem given = random_problem(draw);
    Forces force;
    for (double& x : force.m) x = draw.normal();
    for (const double size_a : kSizes)
      for (const double size_b : kSizes) {
        const Problem p{size_a * given.A, size_b * given.b, given.mu};
        const Forces c = size_b / size_a * force;
        const double want = residual_by_definition(p, c);
        EXPECT_NEAR(judged(p, c).residual, want, 1e-13) << "problem " << k << ", A " << size_a << ", b " << size_b;
        EXPECT_NE(judged(p, c).status, double(int(Status::kConverged)));
      }
  }
}

TEST(FrictionCertificate, TakesAForceThatHoldsAndReturnsItsAcceleration) {
  Draw draw(2);
  for (int k = 0; k < 40; ++k) {
    const Problem given = random_problem(draw);
    Forces force;
    for (int j = 0; j < kContacts; ++j) {
      const double n = force[3 * j] = draw.uniform(0.5, 2), angle = draw.uniform(0, 6.28);
      force[3 * j + 1] = 0.9 * given.mu[j] * n * std::cos(angle);
      force[3 * j + 2] = 0.9 * given.mu[j] * n * std::sin(angle);
    }
    for (const double size_a : kSizes)
      for (const double size_b : kSizes) {
        Problem p{size_a * given.A, Forces::zero(), given.mu};
        const Forces c = size_b / size_a * force;
        p.b = -(p.A * c);  // both contacts stick
        const auto s = judged(p, c);
        ASSERT_EQ(s.status, double(int(Status::kConverged))) << "problem " << k << ", A " << size_a << ", b " << size_b;
        for (int i = 0; i < kRows; ++i) {
          EXPECT_EQ(s.c[i], c[i]);
          EXPECT_NEAR(s.a[i], 0, 1e-13 * size_b * (1 + norm(p.b) / size_b));
        }
        Forces off = c;
        off[k % kRows] *= 1 + 1e-5;
        const auto wrong = judged(p, off, int(Status::kIterationLimit));
        EXPECT_EQ(wrong.status, double(int(Status::kIterationLimit)));
        for (int i = 0; i < kRows; ++i) EXPECT_TRUE(std::isnan(wrong.c[i]) && std::isnan(wrong.a[i]));
      }
  }
}

// Two opposed contacts that both approach: no force stops them, and a large one makes the relative residual small.
TEST(FrictionCertificate, TakesNoForceThatRanAwayInAnyUnit) {
  Problem given{Mat<double, kRows, kRows>::identity(), {{-1, 0, 0, -1, 0, 0}}, {{0, 0}}};
  given.A(0, 3) = given.A(3, 0) = -1;
  for (const double size_a : kSizes)
    for (const double size_b : kSizes) {
      const auto s = judged({size_a * given.A, size_b * given.b, given.mu},
                            {{1e12 * size_b / size_a, 0, 0, 1e12 * size_b / size_a, 0, 0}});
      EXPECT_LE(s.residual, 1e-8);
      EXPECT_EQ(s.status, double(int(Status::kStalled))) << "A " << size_a << ", b " << size_b;
    }
}

TEST(FrictionCertificate, JudgesAForceThatOverflowedAsNone) {
  Draw draw(4);
  const Problem p = random_problem(draw);
  const double none = judged(p, Forces::zero()).residual;
  for (int i = 0; i < kRows; ++i)
    for (const double bad : {HUGE_VAL, -HUGE_VAL, std::nan("")}) {
      Forces c = Forces::zero();
      c[i] = bad;
      EXPECT_EQ(judged(p, c).residual, none) << i;
    }
}

// c_T = -mu c_n v at a contact that slides: the papers' (25)-(28), done here on whole vectors.
TEST(SlidingContact, IsEliminatedBySubstitution) {
  Draw draw(5);
  for (int k = 0; k < 20; ++k) {
    const Problem given = random_problem(draw);
    SlidingContacts<double, kContacts> sliding{};
    const int j = k % kContacts, other = 1 - j;
    const double angle = draw.uniform(0.1, 6.2);
    sliding.v[2 * j] = k == 4 ? 0 : std::cos(angle);
    sliding.v[2 * j + 1] = k == 4 ? 1 : std::sin(angle);
    Problem p = given;
    eliminate_sliding(p, sliding);
    Forces c;
    for (double& x : c.m) x = draw.normal();
    Forces full = c;
    restore_sliding<double, kContacts>(full, given.mu, sliding);
    for (int i = 0; i < 2; ++i) EXPECT_DOUBLE_EQ(full[3 * j + 1 + i], -given.mu[j] * c[3 * j] * sliding.v[2 * j + i]);
    EXPECT_EQ(full[3 * j], c[3 * j]);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(full[3 * other + i], c[3 * other + i]);
    const Forces want = given.A * full + given.b, a = p.A * c + p.b;
    for (const int row : {3 * j, 3 * other, 3 * other + 1, 3 * other + 2}) EXPECT_NEAR(a[row], want[row], 1e-13);
    for (const int row : {3 * j + 1, 3 * j + 2}) {  // decoupled
      EXPECT_EQ(p.b[row], 0);
      for (int m = 0; m < kRows; ++m) EXPECT_EQ(p.A(row, m), m == row ? given.A(row, row) : 0) << row << " " << m;
    }
    EXPECT_EQ(p.mu[j], 0);
    EXPECT_EQ(p.mu[other], given.mu[other]);
  }
}

using Lcp = LcpProblem<double, 4>;

LcpSolution<double, 4> judged(const Lcp& p, const Vec<double, 4>& z) {
  return certify(p, LcpCandidate<double, 4>{z, double(int(Status::kConverged)), 7}, 1e-8);
}

TEST(LcpCertificate, ItsResidualIsTheDefinitionInEveryUnit) {
  Draw draw(3);
  for (int k = 0; k < 40; ++k) {
    Lcp given;
    for (double& x : given.M.m) x = draw.normal();
    for (double& x : given.q.m) x = draw.normal();
    Vec<double, 4> solution;
    for (double& x : solution.m) x = draw.normal();
    for (const double size_m : kSizes)
      for (const double size_q : kSizes) {
        const Lcp p{size_m * given.M, size_q * given.q};
        const Vec<double, 4> z = size_q / size_m * solution;
        long double m = 0, q = 0, error = 0, size = 1;
        for (const double x : p.M.m) m = std::max(m, std::abs(static_cast<long double>(x)));
        for (const double x : p.q.m) q = std::max(q, std::abs(static_cast<long double>(x)));
        for (int i = 0; i < 4; ++i) {
          long double w = p.q[i];
          for (int j = 0; j < 4; ++j) w += static_cast<long double>(p.M(i, j)) * z[j];
          const long double zi = z[i] * m / q, wi = w / q;
          error = std::max(error, std::abs(std::min(zi, wi)));
          size = std::max({size, std::abs(zi), std::abs(wi)});
        }
        const auto s = judged(p, z);
        EXPECT_NEAR(s.residual, static_cast<double>(error / size), 1e-13) << "M " << size_m << ", q " << size_q;
        EXPECT_EQ(s.status, double(int(Status::kStalled)));
        EXPECT_EQ(s.pivots, 7);
      }
  }
}

}  // namespace
}  // namespace garra::solvers
