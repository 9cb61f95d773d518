// Serial chains against Pinocchio's numbers for the PUMA 560, closed forms, and conservation laws.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "garra/core/lanes.hpp"
#include "garra/systems/chain/dynamics.hpp"
#include "garra/systems/chain/inverse_kinematics.hpp"
#include "reference.hpp"

namespace garra::chain {
namespace {

constexpr double kPose = 1e-13;     // as the reference set asks: T, J
constexpr double kTorque = 1e-11 * 100;  // M, g, C qd, tau at scale 1e2

/// The reference arm stands on a pedestal (d1 = 0.672) and has no rotor inertia.
Chain reference_puma(bool armature) {
  Chain c = puma560(0, armature);
  c.link[0].d = 0.672;
  return c;
}

struct Reference {
  test::ReferenceArray data;
  Vec<double, 6> vec(std::size_t i) const {
    Vec<double, 6> v;
    std::copy_n(data.item(i), 6, v.m);
    return v;
  }
};
Reference puma(const char* name) { return {test::read_reference("chain/puma560.h5", name)}; }

TEST(Puma560, PosesAndJacobiansAgreeWithPinocchio) {
  const auto q = puma("q"), T = puma("T_ee"), J = puma("J_lwa"), Js = puma("J_world_spatial");
  const Chain chain = reference_puma(false);
  ASSERT_EQ(q.data.count(), 80u);
  for (std::size_t i = 0; i < q.data.count(); ++i) {
    const auto k = forward_kinematics<double, 6>(chain, q.vec(i));
    const auto jac = geometric_jacobian(chain, k, k.tool.p), spatial = geometric_jacobian(chain, k, Vec3<double>::zero());
    for (int r = 0; r < 3; ++r) {
      for (int c = 0; c < 3; ++c) EXPECT_NEAR(k.tool.R(r, c), T.data.item(i)[4 * r + c], kPose);
      EXPECT_NEAR(k.tool.p[r], T.data.item(i)[4 * r + 3], kPose);
    }
    for (int e = 0; e < 36; ++e) {
      EXPECT_NEAR(jac[e], J.data.item(i)[e], kPose);
      EXPECT_NEAR(spatial[e], Js.data.item(i)[e], kPose);
    }
  }
}

TEST(Puma560, DynamicsAgreeWithPinocchio) {
  const auto q = puma("q"), qd = puma("qd"), qdd = puma("qdd_in"), M = puma("M"), Mm = puma("M_motor"), h = puma("Cqd"),
             g = puma("g"), tau = puma("tau_rnea");
  const Chain bare = reference_puma(false), motors = reference_puma(true);
  const Vec3<double> gravity{{0, 0, -9.81}};
  for (std::size_t i = 0; i < q.data.count(); ++i) {
    const auto k = forward_kinematics<double, 6>(bare, q.vec(i));
    const auto dyn = inertia_and_gravity(bare, k, gravity), with = inertia_and_gravity(motors, k, gravity);
    const auto terms = velocity_terms(bare, k, qd.vec(i));
    const auto t = inverse_dynamics(bare, k, qd.vec(i), qdd.vec(i), gravity);
    for (int e = 0; e < 36; ++e) {
      EXPECT_NEAR(dyn.H[e], M.data.item(i)[e], kTorque);
      EXPECT_NEAR(with.H[e], Mm.data.item(i)[e], kTorque);
    }
    for (int j = 0; j < 6; ++j) {
      EXPECT_NEAR(dyn.g[j], g.data.item(i)[j], kTorque);
      EXPECT_NEAR(terms.h[j], h.data.item(i)[j], kTorque);
      EXPECT_NEAR(t[j], tau.data.item(i)[j], kTorque);
    }
  }
}

TEST(Puma560, PrintedValuesOfCorkeAtQn) {
  const Vec<double, 6> qn{{0, M_PI / 4, M_PI, 0, M_PI / 4, 0}};
  const Chain chain = reference_puma(true);
  const auto k = forward_kinematics<double, 6>(chain, qn);
  const auto dyn = inertia_and_gravity(chain, k, Vec3<double>{{0, 0, -9.81}});
  const double p[3] = {0.59630, -0.15005, 0.65765}, g[6] = {0, 31.6399, 6.0351, 0, 0.0283, 0};
  const double m[6] = {3.6594, 4.4137, 0.9378, 0.1925, 0.1713, 0.1941};
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(k.tool.p[i], p[i], 5e-6);
  for (int i = 0; i < 6; ++i) {
    EXPECT_NEAR(dyn.g[i], g[i], 5e-5);
    EXPECT_NEAR(dyn.H(i, i), m[i], 5e-5);
  }
}

TEST(Lanes, OfEveryChainFunctionEqualScalarToTheBit) {
  using S = Lanes<double>;
  const Chain chain = puma560(0.1);
  std::mt19937_64 gen(3);
  std::uniform_real_distribution<double> u(-3, 3);
  Vec<S, 6> q, qd;
  for (int j = 0; j < 6; ++j)
    for (int l = 0; l < kWidth<S>; ++l) {
      q[j].set(l, u(gen));
      qd[j].set(l, u(gen));
    }
  const auto k = forward_kinematics<S, 6>(chain, q);
  const auto dyn = inertia_and_gravity(chain, k, Vec3<S>{{0, 0, -9.81}});
  const auto t = velocity_terms(chain, k, qd);
  const auto ik = puma_ik(chain, k.tool, {});
  for (int l = 0; l < kWidth<S>; ++l) {
    Vec<double, 6> q1, qd1;
    for (int j = 0; j < 6; ++j) {
      q1[j] = q[j][l];
      qd1[j] = qd[j][l];
    }
    const auto k1 = forward_kinematics<double, 6>(chain, q1);
    const auto dyn1 = inertia_and_gravity(chain, k1, Vec3<double>{{0, 0, -9.81}});
    const auto t1 = velocity_terms(chain, k1, qd1);
    const auto ik1 = puma_ik(chain, k1.tool, {});
    for (int e = 0; e < 36; ++e) EXPECT_EQ(dyn.H[e][l], dyn1.H[e]);
    for (int j = 0; j < 6; ++j) {
      EXPECT_EQ(dyn.g[j][l], dyn1.g[j]);
      EXPECT_EQ(t.h[j][l], t1.h[j]);
      EXPECT_EQ(ik.q[j][l], ik1.q[j]);
    }
  }
}

/// A planar two-link arm, whose H, h and g stand in every textbook.
Chain planar_arm(bool modified) {
  Chain c;
  c.joints = 2;
  c.modified = modified;
  for (int i = 0; i < 2; ++i) {
    Link& l = c.link[i];
    if (!modified) l.a = 1;
    if (modified && i == 1) l.a = 1;
    l.mass = 2 - i;
    l.com = {{modified ? 0.5 : -0.5, 0, 0}};  // half way along a link of length 1
    l.inertia(2, 2) = 0.1;
  }
  if (modified) c.tool.p[0] = 1;
  c.finish();
  return c;
}

TEST(PlanarArm, BothDhConventionsGiveTheTextbookDynamics) {
  for (const bool modified : {false, true}) {
    const Chain chain = planar_arm(modified);
    Vec<double, 16> q = Vec<double, 16>::zero(), qd = q;
    q[0] = 0.3;
    q[1] = 1.1;
    qd[0] = 0.7;
    qd[1] = -1.3;
    const auto k = forward_kinematics<double, 16>(chain, q);
    EXPECT_NEAR(k.tool.p[0], std::cos(0.3) + std::cos(1.4), 1e-15);
    EXPECT_NEAR(k.tool.p[1], std::sin(0.3) + std::sin(1.4), 1e-15);
    const auto dyn = inertia_and_gravity(chain, k, Vec3<double>{{0, -9.81, 0}});
    const double m1 = 2, m2 = 1, I = 0.1, c2 = std::cos(1.1), s2 = std::sin(1.1);
    EXPECT_NEAR(dyn.H(0, 0), m1 * 0.25 + I + m2 * (1.25 + c2) + I, 1e-14);
    EXPECT_NEAR(dyn.H(0, 1), m2 * (0.25 + 0.5 * c2) + I, 1e-14);
    EXPECT_NEAR(dyn.H(1, 1), m2 * 0.25 + I, 1e-14);
    EXPECT_NEAR(dyn.g[0], 9.81 * (m1 * 0.5 * std::cos(0.3) + m2 * (std::cos(0.3) + 0.5 * std::cos(1.4))), 1e-13);
    EXPECT_NEAR(dyn.g[1], 9.81 * m2 * 0.5 * std::cos(1.4), 1e-13);
    const auto t = velocity_terms(chain, k, qd);
    EXPECT_NEAR(t.h[0], -m2 * 0.5 * s2 * (2 * qd[0] * qd[1] + qd[1] * qd[1]), 1e-14);
    EXPECT_NEAR(t.h[1], m2 * 0.5 * s2 * qd[0] * qd[0], 1e-14);
  }
}

/// Sixteen joints of both kinds, with offsets, from a fixed seed.
Chain wild_chain(int joints) {
  std::mt19937_64 gen(11);
  std::uniform_real_distribution<double> u(-1, 1);
  Chain c;
  c.joints = joints;
  for (int i = 0; i < joints; ++i) {
    Link& l = c.link[i];
    l.a = 0.3 * u(gen);
    l.d = 0.3 * u(gen);
    l.alpha = u(gen);
    l.offset = u(gen);
    l.prismatic = i % 5 == 3;
    l.mass = 1 + u(gen) * 0.5;
    l.com = {{0.1 * u(gen), 0.1 * u(gen), 0.1 * u(gen)}};
    l.inertia = 0.02 * Mat3<double>::identity();
  }
  c.finish();
  return c;
}

TEST(WildChain, PowerBalanceHoldsForAnyNumberOfJoints) {
  for (const int joints : {1, 2, 7, 16}) {
    const Chain chain = wild_chain(joints);
    Vec<double, 16> q = Vec<double, 16>::zero(), qd = q;
    for (int i = 0; i < joints; ++i) {
      q[i] = std::sin(1.0 + i);
      qd[i] = std::cos(2.0 * i);
    }
    // d/dt (qd' H qd) / 2 at constant qd equals qd' h: energy flows only through the joints.
    const auto kinetic = [&](double t) {
      Vec<double, 16> x = q;
      for (int i = 0; i < joints; ++i) x[i] += t * qd[i];
      const auto H = inertia_and_gravity(chain, forward_kinematics<double, 16>(chain, x), Vec3<double>::zero()).H;
      double e = 0;
      for (int i = 0; i < joints; ++i)
        for (int j = 0; j < joints; ++j) e += 0.5 * qd[i] * H(i, j) * qd[j];
      return e;
    };
    const double dt = 1e-5, rate = (kinetic(dt) - kinetic(-dt)) / (2 * dt);
    const auto t = velocity_terms(chain, forward_kinematics<double, 16>(chain, q), qd);
    double power = 0;
    for (int i = 0; i < joints; ++i) power += qd[i] * t.h[i];
    EXPECT_NEAR(power, rate, 1e-6 * (1 + std::abs(rate))) << joints << " joints";
  }
}

TEST(NumericIk, ReachesPointsOfAnyChainAndSaysWhenItCannot) {
  const Chain chain = wild_chain(7);
  Vec<double, 16> q = Vec<double, 16>::zero();
  for (int i = 0; i < 7; ++i) q[i] = 0.3 * i;
  const Vec3<double> p = forward_kinematics<double, 16>(chain, q).tool.p;
  double start[kMaxJoints] = {0.1, 0.2, 0.5, 1.0, 1.3, 1.4, 1.7};
  const auto found = numeric_ik<double, 16>(chain, p, start);
  EXPECT_EQ(found.reached, 1.0);
  EXPECT_LE(norm(forward_kinematics<double, 16>(chain, found.q).tool.p - p), 1e-10);
  const auto far = numeric_ik<double, 16>(planar_arm(false), Vec3<double>{{3, 0, 0}}, start);
  EXPECT_EQ(far.reached, 0.0);
}

}  // namespace
}  // namespace garra::chain
