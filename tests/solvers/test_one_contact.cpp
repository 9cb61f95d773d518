// The exact one-contact solver against closed forms and against a residual that is written out here.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <numbers>
#include <random>
#include <vector>

#include "garra/core/lanes.hpp"
#include "garra/solvers/one_contact.hpp"

namespace garra {
namespace {

using solvers::solve_one_contact;

struct Problem {
  Mat3<double> W;
  Vec3<double> b;
  double mu;
};

/// |c - P_K(c - a~)| of the scaled problem over max(|b|, |c|, |a|), in plain doubles.
double natural_map_error(const Problem& p, const Vec3<double>& force) {
  const double size_w = std::max({p.W(0, 0), p.W(1, 1), p.W(2, 2)});
  const double size_b = std::max({std::abs(p.b[0]), std::abs(p.b[1]), std::abs(p.b[2])});
  double a[3], c[3], b2 = 0, c2 = 0, a2 = 0;
  for (int i = 0; i < 3; ++i) {
    a[i] = p.b[i] / size_b;
    for (int k = 0; k < 3; ++k) a[i] += p.W(i, k) * force[k] / size_b;
    c[i] = force[i] * size_w / size_b;
    b2 += p.b[i] * p.b[i] / (size_b * size_b);
    c2 += c[i] * c[i];
    a2 += a[i] * a[i];
  }
  const double n = c[0] - a[0] - p.mu * std::hypot(a[1], a[2]), t = c[1] - a[1], o = c[2] - a[2];
  const double length = std::hypot(t, o);
  double pn = n, pt = t, po = o;
  if (n <= -p.mu * length) {
    pn = pt = po = 0;
  } else if (length > p.mu * n) {
    pn = (n + p.mu * length) / (1 + p.mu * p.mu);
    pt = p.mu * pn * t / length;
    po = p.mu * pn * o / length;
  }
  const double error2 = (c[0] - pn) * (c[0] - pn) + (c[1] - pt) * (c[1] - pt) + (c[2] - po) * (c[2] - po);
  return std::sqrt(error2 / std::max({b2, c2, a2}));
}

class Draw {
 public:
  explicit Draw(unsigned seed) : engine_(seed) {}
  double uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(engine_); }
  double normal() { return std::normal_distribution<double>()(engine_); }
  Mat3<double> square() {
    Mat3<double> m;
    for (double& v : m.m) v = normal();
    return m;
  }
  /// W = B B' with the rows of B scaled by up to 10^+-spread, mu between 1e-5 and 10, one in ten separating.
  Problem problem(double spread) {
    Mat3<double> B = square();
    for (int i = 0; i < 3; ++i) {
      const double scale = std::pow(10, uniform(-spread, spread));
      for (int j = 0; j < 3; ++j) B(i, j) *= scale;
    }
    Problem p{B * transpose(B), {{-3 * std::abs(normal()), normal(), normal()}}, 0};
    for (int i = 0; i < 3; ++i) p.W(i, i) *= 1.0001;
    p.mu = uniform(0, 1) < 0.5 ? uniform(0, 1) : std::pow(10, uniform(-5, 1));
    if (uniform(0, 1) < 0.1) p.b[0] = -p.b[0];
    return p;
  }

 private:
  std::mt19937_64 engine_;
};

TEST(OneContactSolver, FollowsTheClosedFormWhereTheMatrixIsDiagonal) {
  Draw draw(7);
  std::array<int, 3> seen{};
  for (int k = 0; k < 10000; ++k) {
    const double an = draw.uniform(0.1, 2), at = draw.uniform(0.1, 2), mu = draw.uniform(0, 1);
    const Problem p{{{an, 0, 0, 0, at, 0, 0, 0, at}}, {{draw.normal(), draw.normal(), draw.normal()}}, mu};
    const Vec3<double> c = solve_one_contact(p.W, p.b, mu);
    const double cn = p.b[0] >= 0 ? 0 : -p.b[0] / an, bt = std::hypot(p.b[1], p.b[2]);
    const double friction = std::min(bt / at, mu * cn);
    ++seen[cn == 0 ? 0 : bt / at <= mu * cn ? 1 : 2];
    EXPECT_NEAR(c[0], cn, 1e-14 * (1 + cn));
    EXPECT_NEAR(c[1], -friction * p.b[1] / bt, 1e-13 * (1 + cn));
    EXPECT_NEAR(c[2], -friction * p.b[2] / bt, 1e-13 * (1 + cn));
  }
  for (const int count : seen) EXPECT_GE(count, 500);  // open, stick and slip were all there
}

struct Class {
  const char* name;
  double spread;
  double unsymmetric;
};
class RandomBlocks : public testing::TestWithParam<Class> {};

TEST_P(RandomBlocks, AreSolvedToRounding) {
  Draw draw(1);
  double worst = 0;
  int slips = 0;
  for (int k = 0; k < 100000; ++k) {
    Problem p = draw.problem(GetParam().spread);
    if (GetParam().unsymmetric > 0)  // a skew part leaves the symmetric part, so W stays definite
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < i; ++j) {
          const double skew = GetParam().unsymmetric * std::sqrt(p.W(i, i) * p.W(j, j)) * draw.normal();
          p.W(i, j) += skew;
          p.W(j, i) -= skew;
        }
    const Vec3<double> c = solve_one_contact(p.W, p.b, p.mu);
    worst = std::max(worst, natural_map_error(p, c));
    if (c[0] > 0 && std::hypot(c[1], c[2]) > p.mu * c[0] * (1 - 1e-12)) ++slips;
  }
  EXPECT_LE(worst, 1e-13);
  EXPECT_GE(slips, 50000);
}
INSTANTIATE_TEST_SUITE_P(Kinds, RandomBlocks,
                         testing::Values(Class{"ordinary", 0, 0}, Class{"scaled_1e4", 1, 0}, Class{"scaled_1e8", 2, 0},
                                         Class{"slightly_unsymmetric", 0, 1e-3}),
                         [](const auto& info) { return info.param.name; });

/// Powers of two, so that every product is exact: singular blocks are singular in every unit.
TEST(OneContactSolver, UnitsChangeNoBitOfTheForce) {
  Draw draw(11);
  for (int k = 0; k < 300; ++k) {
    Problem p = draw.problem(1);
    if (k % 3 > 0) {  // of rank two and one
      Mat3<double> B = draw.square();
      for (int i = 0; i < 3; ++i) B(i, 2) = 0, B(i, 1) = k % 3 == 1 ? B(i, 1) : 0;
      p.W = B * transpose(B);
    }
    const Vec3<double> c = solve_one_contact(p.W, p.b, p.mu);
    for (const double size_w : {0x1p-60, 0x1p-8, 0x1p60})
      for (const double size_b : {0x1p-50, 0x1p50}) {
        const Vec3<double> other = solve_one_contact(size_w * p.W, size_b * p.b, p.mu);
        for (int i = 0; i < 3; ++i)
          EXPECT_EQ(other[i] * (size_w / size_b), c[i]) << k << " W " << size_w << " b " << size_b;
      }
  }
}

/// A skew part as large as the rest. Where pressing harder pulls the contact inwards (W_nn + mu W_nT d < 0) there can
/// be no solution at all, so only a share can be asked for.
TEST(OneContactSolver, SolvesStronglyUnsymmetricBlocks) {
  Draw draw(3);
  int solved = 0;
  for (int k = 0; k < 20000; ++k) {
    Problem p = draw.problem(0);
    p.mu = draw.uniform(0, 1);
    for (int i = 0; i < 3; ++i) p.W(i, i) += 0.5;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < i; ++j) {
        const double skew = 0.5 * draw.normal();
        p.W(i, j) += skew;
        p.W(j, i) -= skew;
      }
    solved += natural_map_error(p, solve_one_contact(p.W, p.b, p.mu)) <= 1e-13;
  }
  EXPECT_GE(solved, 19990);
}

TEST(OneContactSolver, TakesAShortForceOfASingularBlock) {
  Draw draw(5);
  int solved = 0;
  for (int k = 0; k < 20000; ++k) {
    Mat3<double> B = draw.square();
    for (int i = 0; i < 3; ++i) B(i, 2) = 0;
    Problem p{B * transpose(B), {}, draw.uniform(0.05, 1)};
    p.b = -(p.W * vec3<double>(1, draw.normal(), draw.normal()));  // so that b is in the range of W
    const Vec3<double> c = solve_one_contact(p.W, p.b, p.mu);
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(std::isfinite(c[i]));
    solved += natural_map_error(p, c) <= 1e-10;
  }
  EXPECT_GE(solved, 19980);
}

TEST(OneContactSolver, HandlesTheEdges) {
  const Mat3<double> W{{2, 0.3, -0.2, 0.3, 1, 0.1, -0.2, 0.1, 1.5}};
  const auto expect = [](const Vec3<double>& c, double n, double t, double o) {
    EXPECT_DOUBLE_EQ(c[0], n);
    EXPECT_DOUBLE_EQ(c[1], t);
    EXPECT_DOUBLE_EQ(c[2], o);
  };
  expect(solve_one_contact(W, vec3<double>(0, 0, 0), 0.5), 0, 0, 0);
  expect(solve_one_contact(W, vec3<double>(0, 1, 0), 0.5), 0, 0, 0);     // touching, not pressed
  expect(solve_one_contact(W, vec3<double>(-1, 3, 4), 0.0), 0.5, 0, 0);  // no friction
  // Tangentially immovable: a_T = b_T whatever the force, so friction is fully used against it.
  const Mat3<double> normal_only{{2, 0, 0, 0, 0, 0, 0, 0, 0}};
  const Vec3<double> c = solve_one_contact(normal_only, vec3<double>(-1, 3, 4), 0.5);
  EXPECT_NEAR(c[0], 0.5, 1e-14);
  EXPECT_NEAR(c[1], -0.15, 1e-13);
  EXPECT_NEAR(c[2], -0.2, 1e-13);
  for (const double v : solve_one_contact(Mat3<double>::zero(), vec3<double>(-1, 3, 4), 0.5).m)
    EXPECT_TRUE(std::isfinite(v));
  EXPECT_TRUE(std::isnan(solve_one_contact(W, vec3<double>(-1, std::nan(""), 0), 0.5)[0]) ||
              std::isnan(solve_one_contact(W, vec3<double>(-1, std::nan(""), 0), 0.5)[1]));
}

/// Number of slip solutions, by scanning the direction: independent of the solver's equation.
int slip_solutions(const Problem& p) {
  constexpr int kSteps = 500;
  int found = 0;
  double before = 0;
  bool usable_before = false;
  for (int k = 0; k <= kSteps; ++k) {
    const double angle = 2 * std::numbers::pi * k / kSteps, t = std::cos(angle), o = std::sin(angle);
    const double cn = -p.b[0] / (p.W(0, 0) + p.mu * (p.W(0, 1) * t + p.W(0, 2) * o));
    const Vec3<double> a = p.W * vec3<double>(cn, p.mu * cn * t, p.mu * cn * o) + p.b;
    const double across = a[1] * o - a[2] * t;
    const bool usable = cn > 0 && a[1] * t + a[2] * o < 0;
    if (usable && usable_before && across * before <= 0) ++found;
    before = across;
    usable_before = usable;
  }
  return found;
}

/// Strong friction on a coupled block can leave the choice between sticking and slipping.
TEST(OneContactSolver, PrefersStickWhereBothStickAndSlipAreSolutions) {
  Draw draw(11);
  int both = 0;
  for (int k = 0; k < 20000; ++k) {
    Problem p = draw.problem(0);
    p.b[0] = -std::abs(p.b[0]);
    p.mu = draw.uniform(0.5, 3);
    const Vec3<double> a = p.W * solve_one_contact(p.W, p.b, p.mu) + p.b;
    const Mat3<double>& W = p.W;
    const Vec3<double> x = column(W, 0), y = column(W, 1), z = column(W, 2);
    const double det = dot(x, cross(y, z));  // stick force by Cramer's rule
    const double n = -dot(p.b, cross(y, z)) / det, t = -dot(x, cross(p.b, z)) / det, o = -dot(x, cross(y, p.b)) / det;
    if (std::hypot(t, o) > p.mu * n * (1 - 1e-6)) continue;
    both += slip_solutions(p) > 0;
    EXPECT_LE(norm(a), 1e-11 * norm(p.b)) << k;
  }
  EXPECT_GE(both, 20);
}

TEST(OneContactSolver, GivesTheSameBitsInEveryLane) {
  using L = Lanes<double>;
  Draw draw(13);
  for (int k = 0; k < 2000; ++k) {
    std::array<Problem, static_cast<std::size_t>(L::kSize)> p;
    Mat3<L> W;
    Vec3<L> b;
    L mu;
    for (int lane = 0; lane < L::kSize; ++lane) {
      Problem& q = p[static_cast<std::size_t>(lane)];
      q = draw.problem(lane % 3);
      for (int i = 0; i < 9; ++i) W[i].set(lane, q.W[i]);
      for (int i = 0; i < 3; ++i) b[i].set(lane, q.b[i]);
      mu.set(lane, q.mu);
    }
    const Vec3<L> c = solve_one_contact(W, b, mu);
    for (int lane = 0; lane < L::kSize; ++lane) {
      const Problem& q = p[static_cast<std::size_t>(lane)];
      const Vec3<double> want = solve_one_contact(q.W, q.b, q.mu);
      for (int i = 0; i < 3; ++i) {
        const double got = c[i][lane];
        EXPECT_EQ(std::memcmp(&got, &want.m[i], sizeof(double)), 0);
      }
    }
  }
}

}  // namespace
}  // namespace garra
