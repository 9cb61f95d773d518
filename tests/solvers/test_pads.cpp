// Pads: contacts whose normal forces have one limit together. By hand, by the definitions, and in lanes.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>

#include "balance_cases.hpp"
#include "contact/balance/op.hpp"
#include "garra/batch/rows.hpp"

namespace garra::solvers {
namespace {

constexpr int kContacts = 9;
using Problem = WrenchBalance<double, kContacts, kPads>;
using Answer = BalanceAnswer<double, kContacts, kPads>;

template <class P>
void set_contact_axes(P& p, int j, const Vec3<double>& point, const Vec3<double>& n) {
  const Vec3<double> across = cross(n, std::abs(n[0]) < 0.6 ? vec3(1.0, 0.0, 0.0) : vec3(0.0, 1.0, 0.0));
  const Vec3<double> t = (1 / norm(across)) * across, axes[3] = {n, t, cross(n, t)};
  for (int k = 0; k < 3; ++k)
    for (int r = 0; r < 3; ++r) {
      p.W(r, 3 * j + k) = axes[k][r];
      p.W(r + 3, 3 * j + k) = cross(point, axes[k])[r];
    }
}

/// Two or three pads around an object, with limits of 1 to 4, some without; friction differs between contacts.
Problem random_problem(std::mt19937& random, std::array<int, kContacts>& pad) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform(0, 1);
  Problem p;
  p.pad = pad.data();
  const int pads = 2 + static_cast<int>(random() % 2);
  for (int j = 0; j < kContacts; ++j) {
    const int first = pad[static_cast<std::size_t>(j)] = j < pads ? j : static_cast<int>(random()) & 1;
    const Vec3<double> off = vec3(normal(random), normal(random), normal(random));
    const double angle = 2 * M_PI * first / pads;
    const Vec3<double> any = vec3(std::cos(angle), std::sin(angle), 0.0) + 0.2 * off, n = (1 / norm(any)) * any;
    set_contact_axes(p, j, vec3(-n[0] + 0.1 * off[1], -0.8 * n[1], -0.7 * n[2] + 0.1 * off[0]), n);
    p.mu[j] = uniform(random) < 0.1 ? 0 : 0.2 + 0.6 * uniform(random);
    p.limit[j] = uniform(random) < 0.1 ? HUGE_VAL : 1 + 3 * uniform(random);
    p.limit[j] = p.limit[first];
  }
  const double size = 3 * uniform(random);
  for (int r = 0; r < 6; ++r) p.w[r] = size * normal(random) * (r < 3 ? 1 : 0.5);
  return p;
}

void expect_certificate(const Problem& p, const Answer& a) {
  test::BalanceSums sums = test::balance_sums(p, a);
  for (int pad = 0; pad < kContacts; ++pad) {
    if (p.pad[pad] != pad) continue;
    double least = 0, together = 0;
    for (int j = 0; j < kContacts; ++j) {
      if (p.pad[j] != pad) continue;
      double z[3] = {0, 0, 0};
      for (int k = 0; k < 3; ++k)
        for (int r = 0; r < 6; ++r) z[k] += p.W(r, 3 * j + k) * a.y[r];
      least = std::min(least, z[0] - p.mu[j] * std::hypot(z[1], z[2]));
      together += a.c[3 * j];
      EXPECT_LE(std::hypot(a.c[3 * j + 1], a.c[3 * j + 2]), p.mu[j] * a.c[3 * j] + 1e-12 * (1 + a.c[3 * j]));
    }
    EXPECT_LE(together, p.limit[pad] * (1 + 1e-12));
    sums.value += least * std::min(p.limit[pad], kMaxForce * sums.size);
  }
  test::expect_decided(a.balanced, sums);
}

TEST(Pads, EveryAnswerIsProven) {
  std::mt19937 random(1);
  std::array<int, kContacts> pad{};
  int held = 0;
  constexpr int kProblems = 3000;
  for (int i = 0; i < kProblems; ++i) {
    const Problem p = random_problem(random, pad);
    const Answer a = balance_wrench(p, Vec<double, 3 * kContacts>::zero());
    ASSERT_FALSE(std::isnan(a.balanced)) << i;
    held += a.balanced == 1;
    expect_certificate(p, a);
  }
  EXPECT_GT(held, kProblems / 5);
  EXPECT_LT(held, 4 * kProblems / 5);
}

TEST(Pads, OfOneContactEachAreContactsWithLimits) {
  std::mt19937 random(2);
  std::array<int, kContacts> pad{};
  for (int i = 0; i < 500; ++i) {
    Problem p = random_problem(random, pad);
    for (int j = 0; j < kContacts; ++j) pad[static_cast<std::size_t>(j)] = j;
    const WrenchBalance<double, kContacts> alone{{}, p.W, p.w, p.mu, p.limit};
    const auto zero = Vec<double, 3 * kContacts>::zero();
    EXPECT_EQ(balance_wrench(p, zero).balanced, balance_wrench(alone, zero).balanced) << i;
  }
}

/// A load of 1 N beside the middle of two pads of two points, 1 apart from the middle. Each pad bears half of it, and
/// its points 1/4 (1 +- offset) by friction.
TEST(Pads, OfALongPadBesideTheLoadTheSumDecides) {
  constexpr double kFriction = 0.5;
  const int pad[4] = {0, 1, 0, 1};
  for (const double offset : {0.0, 0.5, 0.9, 1.5})
    for (const double factor : {0.999, 1.001}) {
      WrenchBalance<double, 4, kPads> p;
      p.pad = pad;
      const double needed = std::max(1.0, offset) / (2 * kFriction);
      for (int j = 0; j < 4; ++j) {
        const double x = j % 2 == 0 ? -1 : 1;
        set_contact_axes(p, j, vec3(x, j < 2 ? -1.0 : 1.0, 0.0), vec3(-x, 0.0, 0.0));
        p.mu[j] = kFriction;
        p.limit[j] = factor * needed;
      }
      p.w = Vec<double, 6>::zero();
      p.w[2] = -1;
      p.w[3] = -offset;  // at y = offset: y times the force along z
      const auto a = balance_wrench(p, Vec<double, 12>::zero());
      EXPECT_EQ(a.balanced, factor > 1 ? 1 : 0) << offset;
      if (a.balanced != 1 || offset != 0.5) continue;
      EXPECT_NEAR(a.c[0] / a.c[6], 1.0 / 3, 0.02);  // shares differ, by the limit's slack at most
    }
}

TEST(Pads, LanesHaveTheBitsOfScalarCode) {
  using Op = contact::BalanceOp<kContacts, 3, kPads>;
  std::mt19937 random(3);
  std::array<int, kContacts> pad{}, used{};
  constexpr std::int64_t kProblems = 41;
  batch::Tiles<Op::In<double>> problems(kProblems);
  for (std::int64_t i = 0; i < kProblems; ++i) {
    const Problem p =
        random_problem(random, i == 0 ? used : pad);  // pads are those of a grasp, which all samples share
    Op::In<double> in{p.W, p.w, p.mu, p.limit};
    for (int j = 0; j < kContacts; ++j) in.limit[j] = 2.5;
    if (i == 7) in.w[2] = NAN;
    problems.set(i, in);
  }
  problems.pad();
  batch::Tiles<Op::Out<double>> one(kProblems), many(kProblems);
  batch::for_each(Executor::kScalar, kProblems, batch::RowsKernel<Op>{{{used.data()}}, problems.data(), one.data()});
  batch::for_each(Executor::kLanes, kProblems, batch::RowsKernel<Op>{{{used.data()}}, problems.data(), many.data()});
  for (std::int64_t i = 0; i < kProblems; ++i) {
    const auto a = one.get(i), b = many.get(i);
    EXPECT_TRUE(test::same_bits(reinterpret_cast<const double*>(&a), reinterpret_cast<const double*>(&b),
                                sizeof a / sizeof(double)))
        << i;
    EXPECT_EQ(a.decision == 2, i == 7);
  }
}

}  // namespace
}  // namespace garra::solvers
