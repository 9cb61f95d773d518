// Kernels of a chain in kernel form against Pinocchio's numbers, 128-bit references of the exoskeleton, dual numbers,
// and what must hold for every chain. Scalar code only, so that it compiles soon: lanes are in
// test_executors.cpp.
#define GARRA_HD_PLAIN
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "garra/chain.hpp"
#include "garra/core/dual.hpp"
#include "garra/math/rotation.hpp"
#include "garra/systems/chain/kernels.hpp"
#include "random_chain.hpp"
#include "reference.hpp"

namespace garra::chain {
namespace {

constexpr double kPose = 1e-12;      // poses and Jacobians, absolute: lengths are about 1 m
constexpr double kDynamics = 1e-10;  // relative to the largest entry of an array
constexpr double kAcceleration = 1e-9;

// Robots.

using test::random_chain;
using test::random_vector;

LinkData link(double mass, const Vec3<double>& com, const Mat3<double>& inertia) {
  LinkData out;
  out.body = {mass, com, inertia};
  return out;
}
Mat3<double> diagonal(double x, double y, double z) { return {{x, 0, 0, 0, y, 0, 0, 0, z}}; }

/// PUMA560_IIWA14.md of the reference set: Corke and Armstrong-Helouvry, on its pedestal.
Robot puma(bool motors) {
  constexpr double kRight = M_PI / 2;
  struct Row {
    double a, d, alpha, mass;
    Vec3<double> com, inertia;
    double rotor, gear;
  };
  const Row rows[6] = {
      {0, 0.672, kRight, 0, {{0, 0, 0}}, {{0, 0.35, 0}}, 200e-6, -62.6111},
      {0.4318, 0, 0, 17.4, {{-0.3638, 0.006, 0.2275}}, {{0.13, 0.524, 0.539}}, 200e-6, 107.815},
      {0.0203, 0.15005, -kRight, 4.8, {{-0.0203, -0.0141, 0.070}}, {{0.066, 0.086, 0.0125}}, 200e-6, -53.7063},
      {0, 0.4318, kRight, 0.82, {{0, 0.019, 0}}, {{1.8e-3, 1.3e-3, 1.8e-3}}, 33e-6, 76.0364},
      {0, 0, -kRight, 0.34, {{0, 0, 0}}, {{0.3e-3, 0.4e-3, 0.3e-3}}, 33e-6, 71.923},
      {0, 0, 0, 0.09, {{0, 0, 0.032}}, {{0.15e-3, 0.15e-3, 0.04e-3}}, 33e-6, 76.686}};
  std::vector<DhJoint> joints;
  for (const Row& r : rows) {
    joints.push_back({r.a, r.d, r.alpha, 0, link(r.mass, r.com, diagonal(r.inertia[0], r.inertia[1], r.inertia[2]))});
    if (motors) joints.back().link.armature = r.gear * r.gear * r.rotor;
  }
  RobotData data;
  data.name = "PUMA 560";
  return from_dh(data, joints);
}

Robot iiwa() {
  constexpr double kHalf = M_PI / 2;
  struct Row {
    Vec3<double> rpy, xyz;
    double mass;
    Vec3<double> com, inertia;
  };
  const Row rows[7] = {
      {{{0, 0, 0}}, {{0, 0, 0.1575}}, 5.76, {{0, -0.03, 0.12}}, {{0.033, 0.0333, 0.0123}}},
      {{{kHalf, 0, M_PI}}, {{0, 0, 0.2025}}, 6.35, {{0.0003, 0.059, 0.042}}, {{0.0305, 0.011, 0.0304}}},
      {{{kHalf, 0, M_PI}}, {{0, 0.2045, 0}}, 3.5, {{0, 0.03, 0.13}}, {{0.025, 0.0238, 0.0076}}},
      {{{kHalf, 0, 0}}, {{0, 0, 0.2155}}, 3.5, {{0, 0.067, 0.034}}, {{0.017, 0.006, 0.0164}}},
      {{{-kHalf, M_PI, 0}}, {{0, 0.1845, 0}}, 3.5, {{0.0001, 0.021, 0.076}}, {{0.01, 0.0087, 0.00449}}},
      {{{kHalf, 0, 0}}, {{0, 0, 0.2155}}, 1.8, {{0, 0.0006, 0.0004}}, {{0.0049, 0.0047, 0.0036}}},
      {{{-kHalf, M_PI, 0}}, {{0, 0.081, 0}}, 1.2, {{0, 0, 0.02}}, {{0.001, 0.001, 0.001}}}};
  std::vector<GeneralJoint> joints;
  for (const Row& r : rows) {
    GeneralJoint j;
    j.placement = {rotation_from_rpy(r.rpy), r.xyz};
    j.link = link(r.mass, r.com, diagonal(r.inertia[0], r.inertia[1], r.inertia[2]));
    joints.push_back(j);
  }
  RobotData data;
  data.name = "iiwa14";
  data.tool.p = {{0, 0, 0.045}};
  return from_joints(data, joints);
}

template <int N>
Vec<double, N> vec(const nlohmann::json& a) {
  Vec<double, N> v;
  for (int i = 0; i < N; ++i) v[i] = a.at(static_cast<std::size_t>(i)).get<double>();
  return v;
}
template <int R, int C>
Mat<double, R, C> mat(const nlohmann::json& a) {
  Mat<double, R, C> v;
  for (int i = 0; i < R; ++i)
    for (int j = 0; j < C; ++j)
      v(i, j) = a.at(static_cast<std::size_t>(i)).at(static_cast<std::size_t>(j)).get<double>();
  return v;
}

Robot exoskeleton() {
  const auto params = test::read_reference_json("chain/exoskeleton_params.json");
  std::vector<GrymaJoint> joints;
  for (std::size_t i = 0; i < 6; ++i) {
    const auto &j = params["joints"][i], &l = params["links"][i];
    joints.push_back({j["theta"].get<int>(), vec<3>(j["d"]), j["alpha"].get<double>(), j["beta"].get<double>(),
                      link(l["mass"].get<double>(), vec<3>(l["com"]), mat<3, 3>(l["inertia_com"]))});
  }
  RobotData data;
  data.name = "exoskeleton";
  data.tool.p = vec<3>(params["tool"]["d"]);
  return from_gryma(data, joints);
}

// Comparisons.

template <int N>
double largest(const double* a) {
  double size = 0;
  for (int i = 0; i < N; ++i) size = std::max(size, std::abs(a[i]));
  return size;
}
/// Entries within `tolerance` of the largest of the reference's.
template <int R, int C>
void expect_relative(const Mat<double, R, C>& a, const double* b, double tolerance, const char* what) {
  const double size = largest<R * C>(b);
  for (int k = 0; k < R * C; ++k) EXPECT_NEAR(a[k], b[k], tolerance * size) << what << " entry " << k;
}
template <int R, int C>
void expect_near(const Mat<double, R, C>& a, const double* b, double tolerance, const char* what) {
  for (int k = 0; k < R * C; ++k) EXPECT_NEAR(a[k], b[k], tolerance) << what << " entry " << k;
}
template <int J>
Vec<double, J> item(const test::ReferenceArray& a, std::size_t i) {
  Vec<double, J> v;
  std::copy_n(a.item(i), J, v.m);
  return v;
}

// Pinocchio's numbers.

template <Joints K, int J>
void check_kinematics(const Model<double, J>& m, const std::string& file) {
  const auto get = [&](const char* name) { return test::read_reference(file, name); };
  const auto q = get("q"), T = get("T_ee"), jac = get("J_lwa"), spatial = get("J_world_spatial"), w = get("manip"),
             sv = get("sv");
  ASSERT_EQ(q.count(), 80u);
  for (std::size_t s = 0; s < q.count(); ++s) {
    const auto x = angles<K>(m, item<J>(q, s));
    const auto k = frames<K>(m, x);
    for (int r = 0; r < 3; ++r) {
      for (int c = 0; c < 3; ++c) EXPECT_NEAR(k.tool.R(r, c), T.item(s)[4 * r + c], kPose);
      EXPECT_NEAR(k.tool.p[r], T.item(s)[4 * r + 3], kPose);
    }
    expect_near(jacobian<K>(m, k), jac.item(s), kPose, "J");
    expect_near(jacobian<K>(m, k, Vec3<double>::zero()), spatial.item(s), kPose, "J at the base");
    EXPECT_NEAR(manipulability(jacobian<K>(m, k)), *w.item(s), kPose);
    if constexpr (J == 6) {
      EXPECT_NEAR(manipulability<K>(m, x), *w.item(s), kPose);
    }
    EXPECT_NEAR(smallest_singular_value(jacobian<K>(m, k)), sv.item(s)[5], kPose);
  }
}

template <Joints K, int J>
void check_dynamics(const Model<double, J>& m, const std::string& file) {
  const auto get = [&](const char* name) { return test::read_reference(file, name); };
  const auto q = get("q"), qd = get("qd"), qdd = get("qdd_in"), tau = get("tau"), M = get("M"), c = get("Cqd"),
             g = get("g"), rnea = get("tau_rnea"), aba = get("qdd_aba");
  for (std::size_t s = 0; s < q.count(); ++s) {
    const auto x = angles<K>(m, item<J>(q, s));
    const auto v = item<J>(qd, s);
    expect_relative(inverse_dynamics<K>(m, x, v, item<J>(qdd, s)), rnea.item(s), kDynamics, "tau");
    expect_relative(coriolis_torque<K>(m, x, v), c.item(s), kDynamics, "C qd");
    expect_relative(coriolis_matrix<K>(m, frames<K>(m, x), v) * v, c.item(s), kDynamics, "matrix C times qd");
    expect_relative(gravity_torque<K>(m, x), g.item(s), kDynamics, "g");
    const auto bias = item<J>(c, s) + item<J>(g, s);
    expect_relative(bias_torque<K>(m, x, v), bias.m, kDynamics, "C qd + g");
    expect_relative(inertia_matrix<K>(m, x), M.item(s), kDynamics, "H");
    expect_relative(forward_dynamics_composite<K>(m, x, v, item<J>(tau, s)), aba.item(s), kAcceleration, "qdd");
    expect_relative(forward_dynamics_articulated<K>(m, x, v, item<J>(tau, s)), aba.item(s), kAcceleration, "qdd, ABA");
  }
}

TEST(ChainKernels, OfThePumaAgreeWithPinocchio) {
  const auto m = make_model<6>(puma(false));
  check_kinematics<Joints::kRevolute>(m, "chain/puma560.h5");
  check_kinematics<Joints::kMixed>(m, "chain/puma560.h5");
  check_dynamics<Joints::kRevolute>(m, "chain/puma560.h5");
  check_dynamics<Joints::kMixed>(m, "chain/puma560.h5");
}

TEST(ChainKernels, OfTheIiwaAgreeWithPinocchio) {
  const auto m = make_model<7>(iiwa());
  check_kinematics<Joints::kRevolute>(m, "chain/iiwa14.h5");
  check_dynamics<Joints::kRevolute>(m, "chain/iiwa14.h5");
}

TEST(ChainKernels, RotorsOfThePumaAgreeWithPinocchio) {
  const auto m = make_model<6>(puma(true));
  const auto get = [&](const char* name) { return test::read_reference("chain/puma560.h5", name); };
  const auto q = get("q"), qd = get("qd"), tau = get("tau"), M = get("M_motor"), qdd = get("qdd_aba_motor");
  for (std::size_t s = 0; s < q.count(); ++s) {
    const auto x = angles(m, item<6>(q, s));
    expect_relative(inertia_matrix(m, x), M.item(s), kDynamics, "H");
    const auto v = item<6>(qd, s), t = item<6>(tau, s);
    expect_relative(forward_dynamics_composite(m, x, v, t), qdd.item(s), kAcceleration, "qdd");
    expect_relative(forward_dynamics_articulated(m, x, v, t), qdd.item(s), kAcceleration, "qdd, ABA");
  }
}

// The exoskeleton, 128-bit arithmetic.

TEST(ChainKernels, OfTheExoskeletonAgreeWithTheQuadReference) {
  const Robot robot = exoskeleton();
  const auto m = make_model<6>(robot);
  const auto samples = test::read_reference_json("chain/exoskeleton_static.json")["samples"];
  ASSERT_EQ(samples.size(), 60u);
  for (const auto& s : samples) {
    const auto q = vec<6>(s["q"]), qd = vec<6>(s["qd"]), tau = vec<6>(s["tau"]);
    const auto x = angles(m, q);
    const auto k = frames(m, x);
    for (std::size_t i = 0; i < 7; ++i) {
      const auto T = mat<3, 4>(s["T"][i]);
      const Pose<double> X = i < 6 ? k.frame[i] * robot.link[i].offset : k.tool;
      for (int r = 0; r < 3; ++r) {
        EXPECT_NEAR(X.p[r], T(r, 3), kPose);
        for (int c = 0; c < 3; ++c) EXPECT_NEAR(X.R(r, c), T(r, c), kPose) << "frame " << i;
      }
    }
    for (int i = 0; i < 6; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const auto com = center_of_mass(m, k, i);
      expect_near(com, vec<3>(s["com"][at]).m, kPose, "com");
      expect_near(jacobian(m, k, com, i), mat<6, 6>(s["J_com"][at]).m, kPose, "J_com");
    }
    expect_near(jacobian(m, k), mat<6, 6>(s["J_tool"]).m, kPose, "J_tool");
    expect_relative(inertia_matrix(m, x), mat<6, 6>(s["H"]).m, kDynamics, "H");
    expect_relative(coriolis_matrix(m, k, qd), mat<6, 6>(s["C_christoffel"]).m, kDynamics, "C");
    expect_relative(coriolis_torque(m, x, qd), vec<6>(s["Cqd"]).m, kDynamics, "C qd");
    expect_relative(gravity_torque(m, x), vec<6>(s["g"]).m, kDynamics, "g");
    const Vec<double, 6> moving = tau - s["b"].get<double>() * qd;
    expect_relative(forward_dynamics_composite(m, x, qd, moving), vec<6>(s["qdd"]).m, kAcceleration, "qdd");
    expect_relative(forward_dynamics_articulated(m, x, qd, moving), vec<6>(s["qdd"]).m, kAcceleration, "qdd, ABA");
    const auto e = energy(m, x, qd);
    EXPECT_NEAR(e.kinetic + e.potential, s["energy"].get<double>(), kDynamics * (e.kinetic + std::abs(e.potential)));
  }
}

// What must hold for every chain, sliding joints among them.

template <int J, class Check>
void for_random_states(const Check& check) {
  std::mt19937_64 gen(77);
  for (unsigned seed = 0; seed < 12; ++seed) {
    const auto m = random_chain<J>(seed, seed >= 4);
    for (int s = 0; s < 5; ++s) check(m, random_vector<J>(gen, 3), random_vector<J>(gen, 2), random_vector<J>(gen, 5));
  }
}

/// dH/dt along qd by dual numbers, exact.
template <int J>
Mat<double, J, J> inertia_rate(const Model<double, J>& m, const Vec<double, J>& q, const Vec<double, J>& qd) {
  using D = Dual<double, 1>;
  Vec<D, J> moving;
  for (int i = 0; i < J; ++i) moving[i] = D(q[i], Vec<double, 1>{{qd[i]}});
  Angles<D, J> x;
  const auto at = angles(m, q);
  for (int i = 0; i < J; ++i) {
    const double turns = m.prismatic[i] ? 0.0 : qd[i];
    x.cos[i] = D(at.cos[i], Vec<double, 1>{{-at.sin[i] * turns}});
    x.sin[i] = D(at.sin[i], Vec<double, 1>{{at.cos[i] * turns}});
    x.slide[i] = m.prismatic[i] ? moving[i] : D(0.0);
  }
  const auto H = inertia_matrix(m, x);
  Mat<double, J, J> rate;
  for (int k = 0; k < J * J; ++k) rate[k] = H[k].d[0];
  return rate;
}

template <int J>
void check_properties() {
  for_random_states<J>([](const auto& m, const auto& q, const auto& qd, const auto& qdd) {
    const auto x = angles(m, q);
    const auto H = inertia_matrix(m, x);
    EXPECT_EQ(factor_ldlt(H).bad_pivots, 0.0) << "H is not positive definite";
    const auto C = coriolis_matrix(m, frames(m, x), qd);
    const auto rate = inertia_rate<J>(m, q, qd);
    const double size = largest<J * J>(H.m) * largest<J>(qd.m);  // of C: one joint alone has C = 0
    for (int i = 0; i < J; ++i)
      for (int j = 0; j < J; ++j) {
        EXPECT_EQ(H(i, j), H(j, i));
        const double skew = rate(i, j) - 2 * C(i, j) + rate(j, i) - 2 * C(j, i);
        EXPECT_NEAR(skew, 0, 1e-12 * size) << i << "," << j;
      }
    const auto g = gravity_torque(m, x);
    const Vec<double, J> sum = H * qdd + C * qd + g;
    expect_relative(inverse_dynamics(m, x, qd, qdd), sum.m, kDynamics, "tau");
    expect_relative(bias_torque(m, x, qd), Vec<double, J>(C * qd + g).m, kDynamics, "bias");
    const auto tau = inverse_dynamics(m, x, qd, qdd);
    expect_relative(forward_dynamics_composite(m, x, qd, tau), qdd.m, kAcceleration, "qdd");
    expect_relative(forward_dynamics_articulated(m, x, qd, tau), qdd.m, kAcceleration, "qdd, ABA");
    EXPECT_NEAR(kinetic_energy(m, x, qd), 0.5 * dot(qd, H * qd), kDynamics * 0.5 * dot(qd, H * qd));
  });
}

TEST(ChainKernels, InertiaIsDefiniteAndItsRateLessTwiceCoriolisIsSkew) {
  check_properties<1>();
  check_properties<2>();
  check_properties<4>();
  check_properties<6>();
  check_properties<7>();
  check_properties<12>();
}

TEST(ChainKernels, RevoluteKernelsEqualTheGeneralOnes) {
  std::mt19937_64 gen(5);
  const auto m = random_chain<6>(1, false);
  ASSERT_TRUE(fits_revolute(m));
  ASSERT_FALSE(fits_revolute(random_chain<6>(1, true)));
  constexpr Joints R = Joints::kRevolute;
  for (int s = 0; s < 20; ++s) {
    const auto q = random_vector<6>(gen, 3), v = random_vector<6>(gen, 3), a = random_vector<6>(gen, 3);
    const auto x = angles(m, q), y = angles<R>(m, q);
    expect_relative(inverse_dynamics<R>(m, y, v, a), inverse_dynamics(m, x, v, a).m, 1e-14, "tau");
    expect_relative(inertia_matrix<R>(m, y), inertia_matrix(m, x).m, 1e-14, "H");
    expect_relative(forward_dynamics<R>(m, y, v, a), forward_dynamics(m, x, v, a).m, 1e-12, "qdd");
    expect_relative(coriolis_matrix<R>(m, frames<R>(m, y), v), coriolis_matrix(m, frames(m, x), v).m, 1e-14, "C");
    EXPECT_NEAR(manipulability<R>(m, y), manipulability(m, x), 1e-14);
  }
}

TEST(ChainKernels, JacobianIsTheDerivativeOfThePose) {
  std::mt19937_64 gen(9);
  for (unsigned seed = 0; seed < 9; ++seed) {
    const auto m = random_chain<7>(seed, true);
    const auto q = random_vector<7>(gen, 3);
    const auto k = frames(m, angles(m, q));
    const auto jac = jacobian(m, k);
    for (int i = 0; i < 7; ++i) {
      constexpr double kStep = 1e-6;  // central differences: error about 1e-10
      auto ahead = q, behind = q;
      ahead[i] += kStep;
      behind[i] -= kStep;
      const auto a = frames(m, angles(m, ahead)).tool, b = frames(m, angles(m, behind)).tool;
      const Mat3<double> spin = (0.5 / kStep) * ((a.R - b.R) * transpose(k.tool.R));
      for (int r = 0; r < 3; ++r) EXPECT_NEAR(jac(r, i), (a.p[r] - b.p[r]) / (2 * kStep), 1e-8);
      EXPECT_NEAR(jac(3, i), spin(2, 1), 1e-8);
      EXPECT_NEAR(jac(4, i), spin(0, 2), 1e-8);
      EXPECT_NEAR(jac(5, i), spin(1, 0), 1e-8);
    }
  }
}

TEST(ChainKernels, FusedFormsEqualProductsWithTheStoredJacobian) {
  for_random_states<6>([](const auto& m, const auto& q, const auto& qd, const auto& f) {
    const auto x = angles(m, q);
    const auto k = frames(m, x);
    const auto jac = jacobian(m, k);
    const auto twist = jac * qd;
    const auto motion = tool_motion(m, x, qd);
    expect_near(motion.p, k.tool.p.m, kPose, "tool point");
    const auto rest = inertia_and_gravity(m, x);
    expect_relative(rest.H, inertia_matrix(m, x).m, 1e-14, "H");
    expect_relative(rest.g, gravity_torque(m, x).m, 1e-13, "g");
    for (int r = 0; r < 3; ++r) {
      EXPECT_NEAR(motion.v[r], twist[r], kPose);
      EXPECT_NEAR(motion.w[r], twist[r + 3], kPose);
    }
    const auto torque = tool_torque(m, x, vec3(f[0], f[1], f[2]), vec3(f[3], f[4], f[5]));
    expect_relative(torque, transpose_times(jac, f).m, 1e-12, "J^T f");
    const auto turned = in_axes(k.tool.R, jac), screws = screw_order(turned);
    for (int i = 0; i < 6; ++i) {
      const Vec3<double> v = transpose_times(k.tool.R, vec3(jac(0, i), jac(1, i), jac(2, i)));
      const Vec3<double> w = transpose_times(k.tool.R, vec3(jac(3, i), jac(4, i), jac(5, i)));
      for (int r = 0; r < 3; ++r) {
        EXPECT_NEAR(turned(r, i), v[r], 1e-14);
        EXPECT_NEAR(screws(r, i), w[r], 1e-14);
        EXPECT_EQ(screws(r + 3, i), turned(r, i));
      }
    }
    const double w = std::sqrt(std::abs(determinant(factor_lu(jac * transpose(jac)))));
    EXPECT_NEAR(manipulability(m, x), manipulability(jac), 1e-12);
    EXPECT_NEAR(manipulability(jac), w, 1e-6);
  });
}

TEST(ChainKernels, TakeAGravityThatIsNotTheModelsOwn) {
  std::mt19937_64 gen(19);
  auto m = random_chain<6>(2, true);
  const auto x = angles(m, random_vector<6>(gen, 3));
  const Vec3<double> a = random_vector<3>(gen, 10), b = random_vector<3>(gen, 10);
  const auto own = inertia_and_gravity(m, x), first = inertia_and_gravity(m, x, a);
  EXPECT_EQ(std::memcmp(&own.H, &first.H, sizeof own.H), 0);
  const auto sum = gravity_torque(m, x, axpy(-3.0, b, a));
  expect_relative(sum, axpy(-3.0, gravity_torque(m, x, b), first.g).m, 1e-14, "linear");
  m.gravity = a;
  const auto same = inertia_and_gravity(m, x);
  EXPECT_EQ(std::memcmp(&same, &first, sizeof same), 0);
  const auto g = gravity_torque(m, x), g_of_a = gravity_torque(m, x, a);
  EXPECT_EQ(std::memcmp(&g, &g_of_a, sizeof g), 0);
}

/// One step of classical Runge-Kutta under damping and a constant torque: energy changes by the work done, to fifth
/// order.
TEST(ChainKernels, EnergyGoesWhereTheTorquesPutIt) {
  const auto m = random_chain<6>(5, true);
  std::mt19937_64 gen(31);
  const auto tau = random_vector<6>(gen, 4);
  using V = Vec<double, 6>;
  struct Rate {
    V qd, qdd;
    double work;
  };
  const auto rate = [&](const V& q, const V& qd) {
    const V net = tau - damping_torque(m, qd);
    return Rate{qd, forward_dynamics(m, angles(m, q), qd, net), dot(tau, qd) - dissipation(m, qd)};
  };
  const auto drift = [&](double h, int steps) {
    std::mt19937_64 start(8);
    V q = random_vector<6>(start, 2), qd = random_vector<6>(start, 1);
    const auto e0 = energy(m, angles(m, q), qd);
    double work = 0;
    for (int n = 0; n < steps; ++n) {
      const Rate a = rate(q, qd), b = rate(q + (0.5 * h) * a.qd, qd + (0.5 * h) * a.qdd),
                 c = rate(q + (0.5 * h) * b.qd, qd + (0.5 * h) * b.qdd), d = rate(q + h * c.qd, qd + h * c.qdd);
      q += (h / 6) * (a.qd + 2.0 * (b.qd + c.qd) + d.qd);
      qd += (h / 6) * (a.qdd + 2.0 * (b.qdd + c.qdd) + d.qdd);
      work += h / 6 * (a.work + 2 * (b.work + c.work) + d.work);
    }
    const auto e1 = energy(m, angles(m, q), qd);
    return std::abs(e1.kinetic + e1.potential - e0.kinetic - e0.potential - work);
  };
  const double coarse = drift(2e-3, 100), fine = drift(1e-3, 200);
  EXPECT_LT(fine, 1e-7);
  EXPECT_GT(coarse / fine, 12) << "not of fourth order: " << coarse << " " << fine;
}

TEST(ChainKernels, ScaraAndStanfordArmsMatchTheirFormulas) {
  // SCARA: two parallel turns, a slide down; tool at (l1 c1 + l2 c12, l1 s1 + l2 s12, -q3).
  const std::vector<DhJoint> scara = {{0.4, 0, 0, 0, link(5, {{-0.2, 0, 0}}, diagonal(0.1, 0.1, 0.1))},
                                      {0.3, 0, M_PI, 0, link(3, {{-0.1, 0, 0}}, diagonal(0.1, 0.1, 0.1))},
                                      {0, 0, 0, 0, link(1, {{0, 0, -0.1}}, diagonal(0.01, 0.01, 0.01))}};
  auto joints = scara;
  joints[2].link.joint.prismatic = true;
  RobotData data;
  data.name = "SCARA";
  const auto m = make_model<3>(from_dh(data, joints));
  const Vec<double, 3> q = {{0.3, 0.9, 0.2}};
  const auto x = angles(m, q);
  const auto k = frames(m, x);
  EXPECT_NEAR(k.tool.p[0], 0.4 * std::cos(0.3) + 0.3 * std::cos(1.2), 1e-15);
  EXPECT_NEAR(k.tool.p[1], 0.4 * std::sin(0.3) + 0.3 * std::sin(1.2), 1e-15);
  EXPECT_NEAR(k.tool.p[2], -0.2, 1e-15);
  const auto g = gravity_torque(m, x);
  EXPECT_NEAR(g[0], 0, 1e-14);
  EXPECT_NEAR(g[1], 0, 1e-14);
  EXPECT_NEAR(g[2], -9.81, 1e-13);  // the slide points down: gravity pushes it
  const auto H = inertia_matrix(m, x);
  EXPECT_NEAR(H(2, 2), 1, 1e-15);
  EXPECT_NEAR(H(1, 1), 3 * 0.2 * 0.2 + 0.1 + 0.01 + 1 * 0.3 * 0.3, 1e-14);
  EXPECT_NEAR(H(0, 2), 0, 1e-15);
}

TEST(ChainKernels, ManipulabilityVanishesOnlyAtSingularities) {
  const auto m = make_model<6>(puma(false));
  Vec<double, 6> wrist = {{0.3, 0.4, -0.5, 0.7, 0, 0.2}};  // joints 4 and 6 in line
  EXPECT_LT(manipulability<Joints::kRevolute>(m, angles(m, wrist)), 1e-16);
  EXPECT_LT(smallest_singular_value(jacobian(m, frames(m, angles(m, wrist)))), 1e-15);
  wrist[4] = 1e-9;  // sigma_min is proportional to the angle; J J^T would see nothing below 1e-8
  const double near = smallest_singular_value(jacobian(m, frames(m, angles(m, wrist))));
  wrist[4] = 1e-6;
  const double far = smallest_singular_value(jacobian(m, frames(m, angles(m, wrist))));
  EXPECT_NEAR(near / far, 1e-3, 1e-9);
}

}  // namespace
}  // namespace garra::chain
