// Inverse kinematics of chains in kernel form, the PUMA that it is made for, and the motion of a contact point, against
// closed forms, printed values and derivatives by dual numbers.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "garra/chain.hpp"
#include "garra/core/dual.hpp"
#include "garra/core/lanes.hpp"
#include "garra/io/robot.hpp"
#include "garra/systems/chain/inverse_kinematics.hpp"
#include "garra/systems/chain/kernels_inertia.hpp"
#include "places.hpp"
#include "random_chain.hpp"

namespace garra::chain {
namespace {

using test::random_chain;
using test::random_vector;

Robot puma_robot(double tool, bool armature = true) {
  RobotData data;
  data.name = "PUMA 560";
  data.base = {rotation_from_rpy({{0.1, -0.3, 0.7}}), {{0.2, -0.1, 0.4}}};
  data.tool.p = {{0, 0, tool}};
  return from_dh(data, puma560(armature));
}

// The PUMA.

TEST(Puma560, IsTheOneOfTheModelLibraryWithoutItsPedestal) {
  const Robot file = io::read_robot(test::source_folder() + "/data/robots/puma560.toml");
  const Robot own = from_dh({.name = "PUMA 560"}, puma560());
  ASSERT_EQ(file.joints, own.joints);
  for (std::size_t i = 0; i < 6; ++i) {
    const JointForm<double>&a = own.form[i], &b = file.form[i];
    const double pedestal = i == 0 ? 0.672 : 0;
    const double x[] = {a.a,        a.d + pedestal, a.theta, a.cos_alpha, a.sin_alpha, a.mass, a.first[0], a.first[1],
                        a.first[2], a.xx,           a.yy,    a.zz,        a.xy,        a.xz,   a.yz,       a.armature};
    const double y[] = {b.a,        b.d,  b.theta, b.cos_alpha, b.sin_alpha, b.mass, b.first[0], b.first[1],
                        b.first[2], b.xx, b.yy,    b.zz,        b.xy,        b.xz,   b.yz,       b.armature};
    for (std::size_t k = 0; k < std::size(x); ++k) EXPECT_NEAR(x[k], y[k], 1e-15) << "joint " << i << " number " << k;
  }
}

TEST(Puma560, PrintedValuesOfCorkeAtQn) {
  const Vec<double, 6> qn{{0, M_PI / 4, M_PI, 0, M_PI / 4, 0}};
  auto rows = puma560();
  rows[0].d = 0.672;
  const auto m = make_model<6>(from_dh({.name = "PUMA 560"}, rows));
  const auto x = angles(m, qn);
  const auto k = frames(m, x);
  const auto H = inertia_matrix(m, x);
  const auto torque = gravity_torque(m, x);
  const double p[3] = {0.59630, -0.15005, 0.65765}, g[6] = {0, 31.6399, 6.0351, 0, 0.0283, 0};
  const double diagonal[6] = {3.6594, 4.4137, 0.9378, 0.1925, 0.1713, 0.1941};
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(k.tool.p[i], p[i], 5e-6);
  for (int i = 0; i < 6; ++i) {
    EXPECT_NEAR(torque[i], g[i], 5e-5);
    EXPECT_NEAR(H(i, i), diagonal[i], 5e-5);
  }
}

TEST(PumaIk, ComesBackToThePoseThatItWasGivenOnEveryBranch) {
  const auto m = make_model<6>(puma_robot(0.1));
  std::mt19937_64 gen(4);
  for (int s = 0; s < 50; ++s) {
    const Pose<double> tool = frames(m, angles(m, random_vector<6>(gen, 3))).tool;
    for (const int arm : {-1, 1})
      for (const int elbow : {-1, 1})
        for (const int wrist : {-1, 1}) {
          const auto found = puma_ik(m, tool, {arm, elbow, wrist});
          ASSERT_EQ(found.reached, 1.0);
          const Pose<double> back = frames(m, angles(m, found.q)).tool;
          EXPECT_LE(norm(back.p - tool.p), 1e-12);
          for (int k = 0; k < 9; ++k) EXPECT_NEAR(back.R[k], tool.R[k], 1e-12);
        }
  }
}

TEST(PumaIk, IsForArmsBuiltLikeThePuma) {
  const auto m = make_model<6>(puma_robot(0.1));
  EXPECT_TRUE(is_puma_like(m));
  auto longer = m;  // other lengths where the PUMA has lengths
  longer.joint[2].a = longer.joint[3].d = longer.joint[5].d = 0.3;
  EXPECT_TRUE(is_puma_like(longer));
  const auto refuses = [&](auto change) {
    auto other = m;
    change(other);
    EXPECT_FALSE(is_puma_like(other));
  };
  refuses([](auto& o) { o.prismatic[3] = true; });
  refuses([](auto& o) { o.joint[2].theta = 0.1; });
  refuses([](auto& o) { o.joint[1].a = 0.1; });
  refuses([](auto& o) { o.joint[4].d = 0.1; });
  refuses([](auto& o) { o.joint[5].sin_alpha = 1; });
  refuses([](auto& o) { o.joint[2].cos_alpha = -1; });
  refuses([](auto& o) { o.joint[2].a = 0; });
}

// Any chain.

/// A planar two-link arm, whose H, h and g stand in every textbook.
Model<double, 2> planar_arm(bool modified) {
  std::vector<DhJoint> rows(2);
  for (std::size_t i = 0; i < 2; ++i) {
    if (!modified || i == 1) rows[i].a = 1;
    Body& body = rows[i].link.body;
    body.mass = i == 0 ? 2 : 1;
    body.com = {{modified ? 0.5 : -0.5, 0, 0}};  // half way along a link of length 1
    body.inertia(2, 2) = 0.1;
  }
  RobotData data;
  data.gravity = {{0, -9.81, 0}};
  if (modified) data.tool.p[0] = 1;
  return make_model<2>(modified ? from_modified_dh(data, rows) : from_dh(data, rows));
}

TEST(PlanarArm, BothDhConventionsGiveTheTextbookDynamics) {
  const Vec<double, 2> q = {{0.3, 1.1}}, qd = {{0.7, -1.3}};
  for (const bool modified : {false, true}) {
    const auto m = planar_arm(modified);
    const auto x = angles(m, q);
    const auto k = frames(m, x);
    EXPECT_NEAR(k.tool.p[0], std::cos(0.3) + std::cos(1.4), 1e-15);
    EXPECT_NEAR(k.tool.p[1], std::sin(0.3) + std::sin(1.4), 1e-15);
    const auto H = inertia_matrix(m, x);
    const auto g = gravity_torque(m, x), h = coriolis_torque(m, x, qd);
    const double m1 = 2, m2 = 1, I = 0.1, c2 = std::cos(1.1), s2 = std::sin(1.1);
    EXPECT_NEAR(H(0, 0), m1 * 0.25 + I + m2 * (1.25 + c2) + I, 1e-14);
    EXPECT_NEAR(H(0, 1), m2 * (0.25 + 0.5 * c2) + I, 1e-14);
    EXPECT_NEAR(H(1, 1), m2 * 0.25 + I, 1e-14);
    EXPECT_NEAR(g[0], 9.81 * (m1 * 0.5 * std::cos(0.3) + m2 * (std::cos(0.3) + 0.5 * std::cos(1.4))), 1e-13);
    EXPECT_NEAR(g[1], 9.81 * m2 * 0.5 * std::cos(1.4), 1e-13);
    EXPECT_NEAR(h[0], -m2 * 0.5 * s2 * (2 * qd[0] * qd[1] + qd[1] * qd[1]), 1e-14);
    EXPECT_NEAR(h[1], m2 * 0.5 * s2 * qd[0] * qd[0], 1e-14);
  }
}

TEST(PointMotion, IsTheDerivativeOfTheJacobian) {
  using D = Dual<double, 1>;
  std::mt19937_64 gen(12);
  for (unsigned seed = 0; seed < 12; ++seed) {
    const auto m = random_chain<7>(seed, seed >= 4);
    const auto q = random_vector<7>(gen, 3), qd = random_vector<7>(gen, 2);
    const auto at = angles(m, q);
    Angles<D, 7> x;  // along qd
    for (int i = 0; i < 7; ++i) {
      const double turns = m.prismatic[i] ? 0.0 : qd[i];
      x.cos[i] = D(at.cos[i], Vec<double, 1>{{-at.sin[i] * turns}});
      x.sin[i] = D(at.sin[i], Vec<double, 1>{{at.cos[i] * turns}});
      x.slide[i] = m.prismatic[i] ? D(q[i], Vec<double, 1>{{qd[i]}}) : D(0.0);
    }
    const auto rate = jacobian(m, frames(m, x));
    const auto jac = jacobian(m, frames(m, at));
    const auto motion = point_motion(jac, qd);
    for (int r = 0; r < 3; ++r) {
      double velocity = 0, acceleration = 0;
      for (int i = 0; i < 7; ++i) {
        velocity += jac(r, i) * qd[i];
        acceleration += rate(r, i).d[0] * qd[i];
      }
      EXPECT_NEAR(motion.velocity[r], velocity, 1e-13);
      EXPECT_NEAR(motion.acceleration[r], acceleration, 1e-12);
    }
  }
}

TEST(PointRates, MoveThePointAsAskedWithTheLeastNorm) {
  std::mt19937_64 gen(3);
  const auto m = random_chain<7>(2, true);
  const auto jac = jacobian(m, frames(m, angles(m, random_vector<7>(gen, 2))));
  const Vec3<double> v = {{0.3, -0.2, 0.5}};
  const auto qd = point_rates(jac, v, 0.0);
  const auto twist = jac * qd;
  for (int r = 0; r < 3; ++r) EXPECT_NEAR(twist[r], v[r], 1e-13);
  // Any other rates that do so differ by a motion that leaves the point at rest; the least have no part of it.
  const auto other = random_vector<7>(gen, 1);
  const auto moves = jac * other;
  const auto still = other - point_rates(jac, Vec3<double>{{moves[0], moves[1], moves[2]}}, 0.0);
  EXPECT_GT(norm(still), 0.1);
  EXPECT_NEAR(dot(still, qd), 0, 1e-13);
}

NumericIk from(int joints, double first, double by) {
  NumericIk how;
  how.joints = joints;
  for (int i = 0; i < joints; ++i) how.start[i] = first + by * i;
  return how;
}

TEST(NumericIk, ReachesPointsOfAnyChainAndSaysWhenItCannot) {
  for (unsigned seed = 0; seed < 6; ++seed) {
    const auto m = random_chain<7>(seed, true);
    Vec<double, 7> q;
    for (int i = 0; i < 7; ++i) q[i] = 0.3 * i;
    const Vec3<double> p = frames(m, angles(m, q)).tool.p;
    const auto found = numeric_ik(m, p, from(7, 0.1, 0.25));
    EXPECT_EQ(found.reached, 1.0);
    EXPECT_LE(norm(frames(m, angles(m, found.q)).tool.p - p), 1e-10);
  }
  EXPECT_EQ(numeric_ik(planar_arm(false), Vec3<double>{{3, 0, 0}}, from(2, 0.1, 0.1)).reached, 0.0);
}

template <int J>
void check_lanes(const Model<double, J>& m) {
  using S = Lanes<double>;
  std::mt19937_64 gen(3);
  Vec3<double> p[kWidth<S>];
  Vec3<S> points;
  for (int l = 0; l < kWidth<S>; ++l) {
    p[l] = frames(m, angles(m, random_vector<J>(gen, 0.1 + 0.3 * l))).tool.p;  // near, far: other numbers of steps
    if (l == 1) p[l][0] += 100;                                                // out of reach
    if (l == 2) p[l][0] = std::nan("");
    for (int r = 0; r < 3; ++r) points[r].set(l, p[l][r]);
  }
  const auto found = numeric_ik(m, points, from(J, 0.2, 0.1));
  for (int l = 0; l < kWidth<S>; ++l) {
    const auto one = numeric_ik(m, p[l], from(J, 0.2, 0.1));
    EXPECT_EQ(found.reached[l], one.reached);
    if (l == 2) continue;  // NaN stays where it is
    for (int i = 0; i < J; ++i) EXPECT_EQ(found.q[i][l], one.q[i]) << "lane " << l;
  }
  EXPECT_EQ(found.reached[1], 0.0);
  EXPECT_EQ(found.reached[2], 0.0);
}

TEST(NumericIk, LanesEqualScalarToTheBitWhateverTheirNeighborsDo) {
  check_lanes(random_chain<7>(3, true));
  check_lanes(random_chain<12>(3, true));
}

TEST(PumaIk, LanesEqualScalarToTheBit) {
  using S = Lanes<double>;
  const auto m = make_model<6>(puma_robot(0.1));
  std::mt19937_64 gen(3);
  Pose<double> tool[kWidth<S>];
  Pose<S> tools;
  for (int l = 0; l < kWidth<S>; ++l) {
    tool[l] = frames(m, angles(m, random_vector<6>(gen, 3))).tool;
    for (int k = 0; k < 9; ++k) tools.R[k].set(l, tool[l].R[k]);
    for (int k = 0; k < 3; ++k) tools.p[k].set(l, tool[l].p[k]);
  }
  const auto found = puma_ik(m, tools, {-1, 1, -1});
  for (int l = 0; l < kWidth<S>; ++l) {
    const auto one = puma_ik(m, tool[l], {-1, 1, -1});
    EXPECT_EQ(found.reached[l], one.reached);
    for (int i = 0; i < 6; ++i) EXPECT_EQ(found.q[i][l], one.q[i]);
  }
}

}  // namespace
}  // namespace garra::chain
