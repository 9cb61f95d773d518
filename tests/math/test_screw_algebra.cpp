// Screws as axes, reciprocity and the motions they generate: closed forms, laws of the group, lanes.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "garra/core/lanes.hpp"
#include "garra/math/rotation.hpp"
#include "garra/math/screw_algebra.hpp"

namespace garra {
namespace {

using D3 = Vec3<double>;
using Twist = Screw<double>;

/// Numbers here are of size one to a hundred; a law costs a few dozen roundings of them.
constexpr double kRounding = 1e-13;

class Random {
 public:
  double number(double size) { return size * (2 * std::uniform_real_distribution<double>()(gen_) - 1); }
  D3 vector(double size) { return {{number(size), number(size), number(size)}}; }
  Twist screw(double size) { return {vector(size), vector(size)}; }

 private:
  std::mt19937_64 gen_{5};
};

template <int R, int C>
void expect_near(const Mat<double, R, C>& a, const Mat<double, R, C>& b, double tolerance) {
  for (int k = 0; k < R * C; ++k) EXPECT_NEAR(a[k], b[k], tolerance) << k;
}
void expect_near(const Twist& a, const Twist& b, double tolerance) {
  expect_near(a.w, b.w, tolerance);
  expect_near(a.v, b.v, tolerance);
}
void expect_near(const Pose<double>& a, const Pose<double>& b, double tolerance) {
  expect_near(a.R, b.R, tolerance);
  expect_near(a.p, b.p, tolerance);
}

/// exp by its power series in long double, squared back from a short step: nothing shared with the closed form.
Pose<double> exp_by_series(const Twist& a) {
  using Real = long double;
  constexpr int kHalvings = 12, kTerms = 12;
  Real step[4][4] = {}, term[4][4] = {}, sum[4][4] = {};
  const Real unit = std::ldexp(Real(1), -kHalvings);
  const double w[3] = {a.w[0], a.w[1], a.w[2]};
  for (int i = 0; i < 3; ++i) step[i][3] = unit * Real(a.v[i]);
  step[0][1] = -unit * Real(w[2]), step[1][0] = unit * Real(w[2]);
  step[2][0] = -unit * Real(w[1]), step[0][2] = unit * Real(w[1]);
  step[1][2] = -unit * Real(w[0]), step[2][1] = unit * Real(w[0]);
  const auto multiply = [](Real(&out)[4][4], const Real(&x)[4][4], const Real(&y)[4][4], Real scale) {
    Real product[4][4] = {};
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j)
        for (int k = 0; k < 4; ++k) product[i][j] += scale * x[i][k] * y[k][j];
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j) out[i][j] = product[i][j];
  };
  for (int i = 0; i < 4; ++i) term[i][i] = sum[i][i] = 1;
  for (int n = 1; n <= kTerms; ++n) {
    multiply(term, term, step, Real(1) / Real(n));
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j) sum[i][j] += term[i][j];
  }
  for (int k = 0; k < kHalvings; ++k) multiply(sum, sum, sum, 1);
  Pose<double> out;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) out.R(i, j) = static_cast<double>(sum[i][j]);
    out.p[i] = static_cast<double>(sum[i][3]);
  }
  return out;
}

TEST(ScrewAlgebra, AnAxisAndItsPitchComeBackFromTheScrew) {
  Random random;
  for (int trial = 0; trial < 200; ++trial) {
    const D3 any = random.vector(1), point = random.vector(10);
    const D3 s = (1 / norm(any)) * any;
    const double pitch = random.number(3), rate = 0.1 + std::abs(random.number(5));
    const Twist screw = rate * turn_about<double>({s, point, pitch});
    const ScrewAxis<double> found = screw_axis(screw);
    expect_near(found.direction, s, kRounding);
    EXPECT_NEAR(found.pitch, pitch, kRounding);
    EXPECT_NEAR(screw_pitch(screw), pitch, kRounding);
    expect_near(cross(found.point - point, s), D3::zero(), kRounding);  // on the axis
    EXPECT_NEAR(dot(found.point, s), 0, kRounding);                     // and nearest to the origin
  }
}

TEST(ScrewAlgebra, ATranslationHasInfinitePitchAndItsDirection) {
  const Twist slide = 2.5 * slide_along<double>({{0, 0.6, -0.8}});
  const ScrewAxis<double> found = screw_axis(slide);
  EXPECT_EQ(screw_pitch(slide), std::numeric_limits<double>::infinity());
  EXPECT_EQ(found.pitch, std::numeric_limits<double>::infinity());
  expect_near(found.direction, D3{{0, 0.6, -0.8}}, 1e-15);
  expect_near(found.point, D3::zero(), 0);
}

TEST(ScrewAlgebra, KleinFormOfTwoLinesIsTheirDistanceTimesTheSineOfTheirTwist) {
  // The x axis, and a line at height d above it, turned by the angle: -d sin(angle) (Hunt, 1978, section 12.5).
  const double d = 0.7, angle = 0.4;
  const Twist x = turn_about<double>({{{1, 0, 0}}, {{5, 0, 0}}, 0});
  const Twist other = turn_about<double>({{{std::cos(angle), std::sin(angle), 0}}, {{-2, 0, d}}, 0});
  EXPECT_NEAR(klein_form(x, other), -d * std::sin(angle), 1e-15);
  // With pitches: (h1 + h2) cos(angle) - d sin(angle).
  const Twist helix = turn_about<double>({{{1, 0, 0}}, {{5, 0, 0}}, 0.3});
  EXPECT_NEAR(klein_form(helix, other), 0.3 * std::cos(angle) - d * std::sin(angle), 1e-15);
  // Lines that meet or are parallel are reciprocal, and so is a slide across a turn.
  EXPECT_NEAR(klein_form(x, turn_about<double>({{{0, 0.6, 0.8}}, {{9, 0, 0}}, 0})), 0, 1e-15);
  EXPECT_EQ(klein_form(x, slide_along<double>({{0, 1, 0}})), 0);
  // Of a screw with itself: 2 h s . s.
  EXPECT_NEAR(klein_form(helix, helix), 0.6, 1e-15);
}

TEST(ScrewAlgebra, ReciprocityIsThePowerOfAWrenchOnATwist) {
  // A force f along a line through p, as a screw of lines (f; p x f), and as the wrench (p x f; f) of dot().
  Random random;
  for (int trial = 0; trial < 50; ++trial) {
    const Twist twist = random.screw(2);
    const D3 f = random.vector(3), p = random.vector(2);
    const double power = dot(f, twist.v + cross(twist.w, p));
    EXPECT_NEAR(klein_form(Twist{f, cross(p, f)}, twist), power, kRounding);
    EXPECT_NEAR(dot(Twist{cross(p, f), f}, twist), power, kRounding);
    const D3 c = random.vector(4);  // whichever point both are taken about
    EXPECT_NEAR(dot(about(c, Wrench<double>{f, cross(p, f)}), about(c, twist)), power, 10 * kRounding);
  }
}

TEST(ScrewAlgebra, ExpOfATurnIsRodriguesMotionAboutTheAxis) {
  const double c = std::cos(0.9), s = std::sin(0.9);
  const Pose<double> about_z = exp(0.9 * turn_about<double>({{{0, 0, 1}}, {{2, -1, 7}}, 0.25}));
  // A point x goes to p + Rz (x - p), and along the axis by pitch times angle.
  const D3 p = {{2, -1, 7}};
  const Mat3<double> Rz = {{c, -s, 0, s, c, 0, 0, 0, 1}};
  expect_near(about_z, Pose<double>{Rz, p - Rz * p + D3{{0, 0, 0.25 * 0.9}}}, 2e-15);
  const Pose<double> slide = exp(3.0 * slide_along<double>({{0.6, 0, 0.8}}));
  expect_near(slide, Pose<double>{Mat3<double>::identity(), {{1.8, 0, 2.4}}}, 1e-15);
  for (const double angle : {1e-9, 0.3, M_PI / 2, M_PI, 4.0, 50.0}) {
    const Pose<double> X = exp(angle * turn_about<double>({{{1, 0, 0}}, D3::zero(), 0}));
    expect_near(X.R, rotation_from_rpy({{angle, 0, 0}}), 1e-15 * (1 + angle));
  }
}

TEST(ScrewAlgebra, ExpIsItsPowerSeriesAtEveryAngleAlsoWhereTheBranchesMeet) {
  Random random;
  for (const double size : {0.0, 1e-160, 1e-12, 1e-5, 0.0099, 0.00999999, 0.0100001, 0.0101, 0.1, 1.0, 3.1, 6.3}) {
    for (int trial = 0; trial < 20; ++trial) {
      const D3 any = random.vector(1);
      const Twist a = {(size / norm(any)) * any, random.vector(1)};
      expect_near(exp(a), exp_by_series(a), 4e-15);
    }
  }
}

TEST(ScrewAlgebra, ExpIsARotationAndItsInverseUndoesIt) {
  Random random;
  for (int trial = 0; trial < 100; ++trial) {
    const Twist a = random.screw(3);
    const Pose<double> X = exp(a), back = exp(-1.0 * a);
    expect_near(X.R * transpose(X.R), Mat3<double>::identity(), 1e-14);
    expect_near(X * back, Pose<double>::identity(), kRounding);
    expect_near(adjoint(X, a), a, kRounding);  // a motion keeps its own screw
  }
}

TEST(ScrewAlgebra, AdIsAHomomorphismOfProductsOfMotionsAndOfScrews) {
  Random random;
  for (int trial = 0; trial < 100; ++trial) {
    const Pose<double> X = exp(random.screw(2)), Y = exp(random.screw(2));
    const Twist a = random.screw(2), b = random.screw(2);
    expect_near(adjoint(X * Y, a), adjoint(X, adjoint(Y, a)), 10 * kRounding);
    expect_near(adjoint(X, cross(a, b)), cross(adjoint(X, a), adjoint(X, b)), 100 * kRounding);
    expect_near(exp(adjoint(X, a)), X * exp(a) * inverse(X), 10 * kRounding);
    EXPECT_NEAR(klein_form(adjoint(X, a), adjoint(X, b)), klein_form(a, b), 100 * kRounding);
    EXPECT_NEAR(screw_pitch(adjoint(X, a)), screw_pitch(a), 1e-10 * (1 + std::abs(screw_pitch(a)) + 1 / dot(a.w, a.w)));
  }
}

TEST(ScrewAlgebra, MovingAnAxisMovesItsPointAndDirection) {
  Random random;
  for (int trial = 0; trial < 50; ++trial) {
    const Pose<double> X = exp(random.screw(2));
    const D3 any = random.vector(1), p = random.vector(3);
    const D3 s = (1 / norm(any)) * any;
    expect_near(adjoint(X, turn_about<double>({s, p, 0.4})), turn_about<double>({X.R * s, X.R * p + X.p, 0.4}),
                kRounding);
  }
}

TEST(ScrewAlgebra, TheDerivativeOfAdIsTheLieProduct) {
  Random random;
  constexpr double kStep = 1e-4;  // errors: of the difference kStep^2, of rounding 1e-16 / kStep
  for (int trial = 0; trial < 100; ++trial) {
    const Twist a = random.screw(1), b = random.screw(1);
    const Twist plus = adjoint(exp(kStep * a), b), minus = adjoint(exp(-kStep * a), b);
    expect_near((0.5 / kStep) * (plus + (-1.0) * minus), cross(a, b), 2e-7);
    // To second order: [a [a b]].
    const Twist second = (1 / (kStep * kStep)) * (plus + minus + (-2.0) * b);
    expect_near(second, cross(a, cross(a, b)), 2e-6);
  }
}

TEST(ScrewAlgebra, TheLieProductIsAntisymmetricAndFulfilsJacobi) {
  Random random;
  const Twist zero = {D3::zero(), D3::zero()};
  for (int trial = 0; trial < 100; ++trial) {
    const Twist a = random.screw(2), b = random.screw(2), c = random.screw(2);
    expect_near(cross(a, b) + cross(b, a), zero, kRounding);
    expect_near(cross(a, cross(b, c)) + cross(b, cross(c, a)) + cross(c, cross(a, b)), zero, kRounding);
    EXPECT_NEAR(klein_form(cross(a, b), c) + klein_form(b, cross(a, c)), 0, 10 * kRounding);
  }
  // Not nilpotent: turning about x and y never stops making products.
  const Twist x = {{{1, 0, 0}}, D3::zero()}, y = {{{0, 1, 0}}, D3::zero()};
  expect_near(cross(x, cross(x, y)), (-1.0) * y, 0);
}

template <class S>
struct Everything {
  Pose<S> motion;
  Screw<S> carried, centered;
  ScrewAxis<S> axis;
  S klein;
};
template <class S>
Everything<S> everything(const Screw<S>& a, const Screw<S>& b) {
  const Pose<S> X = exp(a);
  return {X, adjoint(X, b), about(a.v, b), screw_axis(a), klein_form(a, b)};
}

template <class R>
void expect_lanes_equal_scalar() {
  using S = Lanes<R>;
  Random random;
  for (int trial = 0; trial < 50; ++trial) {
    Screw<S> a, b;
    for (int lane = 0; lane < kWidth<S>; ++lane) {
      // Lanes of both branches of the series, a translation, and one that is not finite.
      const double size = lane == 1 ? 1e-3 : lane == 2 ? 0 : 2;
      for (int i = 0; i < 3; ++i) {
        a.w[i].set(lane, static_cast<R>(random.number(size)));
        a.v[i].set(lane, static_cast<R>(lane == 3 && trial % 2 ? NAN : random.number(2)));
        b.w[i].set(lane, static_cast<R>(random.number(1)));
        b.v[i].set(lane, static_cast<R>(random.number(1)));
      }
    }
    const Everything<S> all = everything(a, b);
    constexpr int kNumbers = static_cast<int>(sizeof(Everything<R>) / sizeof(R));
    for (int lane = 0; lane < kWidth<S>; ++lane) {
      Screw<R> one, other;
      for (int i = 0; i < 3; ++i) {
        one.w[i] = a.w[i][lane], one.v[i] = a.v[i][lane];
        other.w[i] = b.w[i][lane], other.v[i] = b.v[i][lane];
      }
      const Everything<R> alone = everything(one, other);
      for (int k = 0; k < kNumbers; ++k) {
        const R expected = reinterpret_cast<const R*>(&alone)[k], found = reinterpret_cast<const S*>(&all)[k][lane];
        EXPECT_TRUE(to_bits(expected) == to_bits(found) || (std::isnan(expected) && std::isnan(found)))
            << "lane " << lane << ", number " << k << ": " << expected << " " << found;
      }
    }
  }
}

TEST(ScrewAlgebra, LanesAreTheScalarToTheBit) {
  expect_lanes_equal_scalar<double>();
  expect_lanes_equal_scalar<float>();
}

// Rz(yaw) Ry(pitch) Rx(roll), each written out.
TEST(Rotation, OfRollPitchAndYawIsTheProductOfThree) {
  const double pi = std::acos(-1.0);
  for (const double roll : {0.0, 0.3, -2.5, 0.5 * pi})
    for (const double pitch : {0.0, -0.7, 1.2, 0.5 * pi})
      for (const double yaw : {0.0, 2.1, -0.4, pi}) {
        const double c0 = std::cos(roll), s0 = std::sin(roll), c1 = std::cos(pitch), s1 = std::sin(pitch);
        const double c2 = std::cos(yaw), s2 = std::sin(yaw);
        const Mat3<double> X{{1, 0, 0, 0, c0, -s0, 0, s0, c0}}, Y{{c1, 0, s1, 0, 1, 0, -s1, 0, c1}},
            Z{{c2, -s2, 0, s2, c2, 0, 0, 0, 1}};
        const Mat3<double> R = rotation_from_rpy({{roll, pitch, yaw}}), want = Z * (Y * X);
        for (int i = 0; i < 9; ++i) EXPECT_NEAR(R[i], want[i], 1e-15) << roll << " " << pitch << " " << yaw;
        const Mat3<double> back = rotation_from_rpy(rpy_from_rotation(R));
        for (int i = 0; i < 9; ++i) EXPECT_NEAR(back[i], R[i], 1e-14) << roll << " " << pitch << " " << yaw;
      }
}

}  // namespace
}  // namespace garra
