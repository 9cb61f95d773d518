// Quaternions, poses and frames against Rodrigues' formula in the C library's sines.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "garra/math/pose.hpp"
#include "garra/math/quaternion.hpp"

namespace garra {
namespace {

using D3 = Vec3<double>;
using R3 = Mat3<double>;

/// A few dozen roundings of numbers of size one.
constexpr double kRounding = 1e-14;

class Random {
 public:
  double number() { return 2 * std::uniform_real_distribution<double>()(gen_) - 1; }
  D3 vector() { return {{number(), number(), number()}}; }
  D3 direction() {
    const D3 v = vector();
    return (1 / std::sqrt(dot(v, v))) * v;
  }

 private:
  std::mt19937_64 gen_{20260};
};

/// v turned about the unit vector e by `angle`: v cos + (e x v) sin + e (e . v)(1 - cos).
D3 rodrigues(const D3& e, double angle, const D3& v) {
  const D3 across = {{e[1] * v[2] - e[2] * v[1], e[2] * v[0] - e[0] * v[2], e[0] * v[1] - e[1] * v[0]}};
  return std::cos(angle) * v + std::sin(angle) * across + (1 - std::cos(angle)) * dot(e, v) * e;
}

Quaternion<double> about(const D3& e, double angle) {
  const double s = std::sin(angle / 2);
  return {{std::cos(angle / 2), s * e[0], s * e[1], s * e[2]}};
}

void expect_near(const D3& a, const D3& b, double bound) {
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(a[i], b[i], bound);
}

TEST(Quaternion, TurnsAsRodriguesSays) {
  Random random;
  for (int k = 0; k < 100; ++k) {
    const D3 e = random.direction(), v = random.vector();
    const double angle = 3 * random.number();
    const auto p = about(e, angle);
    expect_near(rotation_matrix(p) * v, rodrigues(e, angle, v), kRounding);
    expect_near(rotation_matrix(conjugate(p)) * v, rodrigues(e, -angle, v), kRounding);
    expect_near(rotation_of_any(Quaternion<double>(7.0 * p)) * v, rodrigues(e, angle, v), kRounding);
  }
}

TEST(Quaternion, ProductIsFirstTheSecondThenTheFirst) {
  Random random;
  for (int k = 0; k < 100; ++k) {
    const D3 a = random.direction(), b = random.direction(), v = random.vector();
    const auto ab = product(about(a, 1.1), about(b, -0.7));
    expect_near(rotation_matrix(ab) * v, rodrigues(a, 1.1, rodrigues(b, -0.7, v)), kRounding);
  }
}

TEST(Quaternion, NormalizedHasLengthOneAndTheSameDirection) {
  const auto p = normalized(Quaternion<double>{{3, 0, -4, 0}});
  EXPECT_DOUBLE_EQ(p[0], 0.6);
  EXPECT_EQ(p[1], 0);
  EXPECT_DOUBLE_EQ(p[2], -0.8);
  EXPECT_EQ(p[3], 0);
}

TEST(Quaternion, TurnedMissesTheAngleByItsFifthPower) {
  Random random;
  for (const double angle : {1e-3, 0.03, 0.2, 0.5}) {
    const D3 e = random.direction(), f = random.direction(), v = random.vector();
    const auto p = turned(about(f, 0.9), D3(angle * e));
    EXPECT_NEAR(dot(p, p), 1, kRounding);
    const double bound = std::pow(angle, 5) / 120 * std::sqrt(dot(v, v)) + kRounding;
    expect_near(rotation_matrix(p) * v, rodrigues(e, angle, rodrigues(f, 0.9, v)), bound);
  }
}

TEST(Quaternion, OfARotationGivesItBackWhicheverParameterIsLargest) {
  Random random;
  for (int k = 0; k < 200; ++k) {
    // Half turns about the axes, where one parameter alone is not 0, and what lies around them.
    D3 e = {{0, 0, 0}};
    e[k % 3] = 1;
    if (k >= 3) e = random.direction();
    const double angle = k < 3 ? std::acos(-1.0) : 3.1 * random.number();
    D3 axes[3];
    for (int i = 0; i < 3; ++i) {
      D3 unit = {{0, 0, 0}};
      unit[i] = 1;
      axes[i] = rodrigues(e, angle, unit);
    }
    const auto p = to_quaternion(axes[0], axes[1], axes[2]);
    EXPECT_NEAR(dot(p, p), 1, kRounding);
    const D3 v = random.vector();
    expect_near(rotation_matrix(p) * v, rodrigues(e, angle, v), 4 * kRounding);
  }
}

// The candidate that is taken for it must be the largest: of a small turn the others have lost their digits.
TEST(Quaternion, OfASmallTurnKeepsItsDigits) {
  for (int axis = 0; axis < 3; ++axis)
    for (const double angle : {1e-5, 1e-7, -1e-7}) {
      D3 e = {{0, 0, 0}};
      e[axis] = 1;
      D3 axes[3];
      for (int i = 0; i < 3; ++i) {
        D3 unit = {{0, 0, 0}};
        unit[i] = 1;
        axes[i] = rodrigues(e, angle, unit);
      }
      const auto p = to_quaternion(axes[0], axes[1], axes[2]);
      EXPECT_NEAR(std::abs(p[0]), 1, kRounding + angle * angle);
      for (int i = 0; i < 3; ++i)
        EXPECT_NEAR(p[i + 1] * p[0], i == axis ? 0.5 * angle : 0, kRounding + std::abs(angle * angle * angle)) << axis;
    }
}

TEST(Pose, InverseLeadsBackAndProductsChain) {
  Random random;
  for (int k = 0; k < 50; ++k) {
    const D3 e = random.direction(), f = random.direction(), v = random.vector();
    const Pose<double> a{rotation_matrix(about(e, 1.3)), random.vector()},
        b{rotation_matrix(about(f, -2.2)), random.vector()};
    const D3 by_hand = rodrigues(e, 1.3, rodrigues(f, -2.2, v) + b.p) + a.p;
    const Pose<double> ab = a * b;
    expect_near(ab.R * v + ab.p, by_hand, 4 * kRounding);
    const Pose<double> back = inverse(ab);
    expect_near(back.R * by_hand + back.p, v, 8 * kRounding);
  }
}

TEST(Frame, OfANormalIsRightHandedAndOrthonormal) {
  Random random;
  for (int k = 0; k < 100; ++k) {
    const D3 n = k < 6 ? D3{{k == 0   ? 1.0
                             : k == 1 ? -1.0
                                      : 0,
                             k == 2   ? 1.0
                             : k == 3 ? -1.0
                                      : 0,
                             k == 4   ? 1.0
                             : k == 5 ? -1.0
                                      : 0}}
                       : random.direction();
    D3 t, o;
    complete_frame(n, t, o);
    EXPECT_NEAR(dot(t, t), 1, kRounding);
    EXPECT_NEAR(dot(n, t), 0, kRounding);
    expect_near(o, D3{{n[1] * t[2] - n[2] * t[1], n[2] * t[0] - n[0] * t[2], n[0] * t[1] - n[1] * t[0]}}, kRounding);
  }
}

TEST(Frame, RotatesASymmetricMatrixAsThreeProductsWould) {
  Random random;
  for (int k = 0; k < 20; ++k) {
    const R3 R = rotation_matrix(about(random.direction(), 2 * random.number()));
    R3 D;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j <= i; ++j) D(i, j) = D(j, i) = random.number();
    const R3 got = rotate_symmetric(R, D);
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) {
        double sum = 0;
        for (int a = 0; a < 3; ++a)
          for (int b = 0; b < 3; ++b) sum += R(i, a) * D(a, b) * R(j, b);
        EXPECT_NEAR(got(i, j), sum, kRounding);
      }
  }
}

}  // namespace
}  // namespace garra
