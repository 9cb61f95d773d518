// The certificates against their definitions, written out in long double, in units of many sizes: what they take for a
// solution is all that is promised.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "garra/solvers/friction_problem.hpp"
#include "garra/solvers/lcp.hpp"
#include "load_change.hpp"

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

double residual_by_definition(const Problem& p, const Forces& c) {
  return test::load_change({{p.A.m, p.A.m + kRows * kRows}, {p.b.m, p.b.m + kRows}, {p.mu.m, p.mu.m + kContacts}},
                           {c.m, c.m + kRows});
}

FrictionSolution<double, kContacts> checked(const Problem& p, const Forces& c, double reason = int(Status::kStalled)) {
  return certify(p, make_candidate<double, kContacts>(c, reason, Effort<double>::none()), 1e-8);
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
        EXPECT_NEAR(checked(p, c).residual, want, 1e-13 * (1 + want))
            << "problem " << k << ", A " << size_a << ", b " << size_b;
        EXPECT_NE(checked(p, c).status, double(int(Status::kConverged)));
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
        const auto s = checked(p, c);
        ASSERT_EQ(s.status, double(int(Status::kConverged))) << "problem " << k << ", A " << size_a << ", b " << size_b;
        for (int i = 0; i < kRows; ++i) {
          EXPECT_NEAR(s.c[i], c[i], 1e-14 * norm(c));
          EXPECT_NEAR(s.a[i], 0, 1e-13 * size_b * (1 + norm(p.b) / size_b));
        }
        Forces off = c;
        off[k % kRows] *= 1 + 1e-5;
        const auto wrong = checked(p, off, int(Status::kIterationLimit));
        EXPECT_EQ(wrong.status, double(int(Status::kIterationLimit)));
        for (int i = 0; i < kRows; ++i) EXPECT_TRUE(std::isnan(wrong.c[i]) && std::isnan(wrong.a[i]));
      }
  }
}

// Two opposed contacts that both approach: no force stops them, and the load would have to vanish, however large it is.
TEST(FrictionCertificate, TakesNoForceThatRanAwayInAnyUnit) {
  Problem given{Mat<double, kRows, kRows>::identity(), {{-1, 0, 0, -1, 0, 0}}, {{0, 0}}};
  given.A(0, 3) = given.A(3, 0) = -1;
  for (const double size_a : kSizes)
    for (const double size_b : kSizes) {
      const auto s = checked({size_a * given.A, size_b * given.b, given.mu},
                             {{1e12 * size_b / size_a, 0, 0, 1e12 * size_b / size_a, 0, 0}});
      EXPECT_NEAR(s.residual, 1, 1e-3);
      EXPECT_EQ(s.status, double(int(Status::kStalled))) << "A " << size_a << ", b " << size_b;
    }
}

TEST(FrictionCertificate, ChecksAForceThatOverflowedAsNone) {
  Draw draw(4);
  const Problem p = random_problem(draw);
  const double none = checked(p, Forces::zero()).residual;
  for (int i = 0; i < kRows; ++i)
    for (const double bad : {HUGE_VAL, -HUGE_VAL, std::nan("")}) {
      Forces c = Forces::zero();
      c[i] = bad;
      EXPECT_EQ(checked(p, c).residual, none) << i;
    }
}

/// The residual and the status of forces that solve nothing, and of forces that solve, must not depend on units, on the
/// scale of one contact, on how its tangents are turned, or on a body that touches nothing.
TEST(FrictionCertificate, ItsResidualIsInvariant) {
  Draw draw(6);
  for (int k = 0; k < 40; ++k) {
    const Problem p = random_problem(draw);
    Forces c;
    for (double& x : c.m) x = draw.normal();
    const double want = checked(p, c).residual;
    const double factor = std::exp(draw.uniform(-10, 10)), angle = draw.uniform(0, 6.28);
    Problem scaled = p, turned = p;
    Forces scaled_c = c, turned_c = c;
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < kRows; ++j) {
        scaled.A(i, j) *= factor;
        scaled.A(j, i) *= factor;
      }
      scaled.b[i] *= factor;
      scaled_c[i] /= factor;
    }
    Mat<double, kRows, kRows> turn = Mat<double, kRows, kRows>::identity();
    turn(1, 1) = turn(2, 2) = std::cos(angle);
    turn(2, 1) = std::sin(angle);
    turn(1, 2) = -std::sin(angle);
    turned.A = turn * p.A * transpose(turn);
    turned.b = turn * p.b;
    turned_c = turn * c;
    EXPECT_NEAR(checked(scaled, scaled_c).residual, want, 1e-10 * want);
    EXPECT_NEAR(checked(turned, turned_c).residual, want, 1e-10 * want);
    // A third contact, of another body, under a load a million times as large.
    FrictionProblem<double, 3> more{Mat<double, 9, 9>::zero(), Vec<double, 9>::zero(), {{p.mu[0], p.mu[1], 0.5}}};
    Vec<double, 9> more_c = Vec<double, 9>::zero();
    for (int i = 0; i < kRows; ++i) {
      for (int j = 0; j < kRows; ++j) more.A(i, j) = p.A(i, j);
      more.b[i] = p.b[i];
      more_c[i] = c[i];
    }
    for (int i = 6; i < 9; ++i) more.A(i, i) = 1;
    more.b[6] = 1e6;
    const auto s =
        certify(more, make_candidate<double, 3>(more_c, int(Status::kStalled), Effort<double>::none()), 1e-8);
    EXPECT_NEAR(s.residual, want, 1e-12 * want);
  }
}

// docs/theory/contact-solver.md: c obeys the law to rounding, and A c + b + delta is the acceleration that goes with
// it.
TEST(FrictionCertificate, ForcesOfAnyMuObeyTheLawAfterOneStep) {
  Draw draw(7);
  for (int k = 0; k < 2000; ++k) {
    const double mu = k % 5 == 0 ? 0 : std::pow(10, draw.uniform(-3, 12)), g = std::exp(draw.uniform(-5, 5));
    Vec3<double> c, a;
    for (double& x : c.m) x = draw.normal();
    for (double& x : a.m) x = draw.normal();
    const auto to = lawful_pair(c, a, mu, g);
    const double ct = std::hypot(to.c[1], to.c[2]), at = std::hypot(to.a[1], to.a[2]);
    ASSERT_GE(to.c[0], 0);
    ASSERT_GE(to.a[0], 0);
    ASSERT_EQ(to.c[0] * to.a[0], 0);
    ASSERT_LE(ct, mu * to.c[0] * (1 + 1e-15));
    if (at > 0 && to.c[0] > 0) {
      ASSERT_NEAR(ct, mu * to.c[0], 1e-15 * ct);
      ASSERT_NEAR(to.c[1] * to.a[1] + to.c[2] * to.a[2], -ct * at, 1e-14 * ct * at);
    }
    const auto again = lawful_pair(to.c, to.a, mu, g);
    for (int i = 0; i < 3; ++i) ASSERT_NEAR(again.c[i], to.c[i], 1e-14 * norm(to.c));
  }
}

// Rounding in working precision is 1e-4 here, and the forces are exact: compensated products say so.
TEST(FrictionCertificate, SeesThroughItsOwnRounding) {
  FrictionProblem<double, 1> p{Mat<double, 3, 3>::identity(), {{0, 0, 0}}, {{1}}};
  p.A(0, 0) = 0x1p40;
  p.A(0, 1) = p.A(1, 0) = 1;
  const Vec3<double> c = {{1 + 0x1p-40, 0.25, 0}};
  p.b = {{-0x1p40 - 1, 0, 0}};  // A c is 2^40 + 1 + 1/4
  p.b[0] -= 0.25;
  p.b[1] = -(c[0] + c[1]);
  const auto s = certify(p, make_candidate<double, 1>(c, int(Status::kStalled), Effort<double>::none()), 1e-15);
  EXPECT_EQ(s.status, double(int(Status::kConverged))) << s.residual;
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

LcpSolution<double, 4> checked(const Lcp& p, const Vec<double, 4>& z) {
  return certify(p, LcpCandidate<double, 4>{z, double(int(Status::kConverged)), 7}, 1e-8);
}

/// Largest |delta_i| / |q| of z by the definition in docs/theory/lcp.md.
long double change_of_q(const Lcp& p, const Vec<double, 4>& z) {
  long double m = 0, q = 0, largest = 0;
  for (const double x : p.M.m) m = std::max(m, std::abs(static_cast<long double>(x)));
  for (const double x : p.q.m) q = std::max(q, std::abs(static_cast<long double>(x)));
  long double to_z[4], to_w[4];
  for (int i = 0; i < 4; ++i) {
    long double w = p.q[i];
    for (int j = 0; j < 4; ++j) w += static_cast<long double>(p.M(i, j)) * z[j];
    const bool bears = z[i] * m / q > w / q;
    to_z[i] = bears ? std::max(z[i], 0.0) : 0;
    to_w[i] = bears ? 0 : std::max(w, 0.0L);
  }
  for (int i = 0; i < 4; ++i) {
    long double delta = to_w[i] - p.q[i];
    for (int j = 0; j < 4; ++j) delta -= p.M(i, j) * to_z[j];
    largest = std::max(largest, std::abs(delta) / q);
  }
  return largest;
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
        const auto s = checked(p, z);
        EXPECT_NEAR(s.residual, static_cast<double>(change_of_q(p, z)), 1e-13) << "M " << size_m << ", q " << size_q;
        EXPECT_EQ(s.status, double(int(Status::kStalled)));
        EXPECT_EQ(s.pivots, 7);
      }
  }
}

// M z + q = 0 has no solution, but z of 1e10 leaves a hundredth of q: tiny beside z, which no scale may contain.
TEST(LcpCertificate, RefusesALargeZThatSolvesNothing) {
  Lcp p{Mat<double, 4, 4>::identity(), {{-1, -1, 0, 0}}};
  p.M(0, 1) = p.M(1, 0) = -1;
  const Vec<double, 4> z{{1e10 + 1.01, 1e10, 0, 0}};
  EXPECT_EQ(checked(p, z).status, double(int(Status::kStalled)));
}

// Rows of 1e10 whose sum is 1: z is right to its last bit, which counts 1e-6 of q.
TEST(LcpCertificate, NamesRoundingOfZ) {
  Lcp p{Mat<double, 4, 4>::identity(), {{-1, -1, -1, -1}}};
  p.M(0, 0) = 1e10;
  p.M(0, 1) = -1e10;
  const double z1 = 1 + 1.0 / 3;
  p.q[1] = -z1;
  const Vec<double, 4> z{{z1 + 1e-10, z1, 1, 1}};
  const auto s = checked(p, z);
  EXPECT_EQ(s.status, double(int(Status::kIllConditioned)));
  EXPECT_EQ(s.z[1], z1);
  EXPECT_GT(s.residual, 1e-8);
  EXPECT_LT(s.residual, 1e-5);
}

}  // namespace
}  // namespace garra::solvers
