// Headers generated from data/robots at build time (tests/CMakeLists.txt) against Pinocchio's numbers, the 128-bit
// references of the exoskeleton and the kernels that read the same robot at run time; lanes against scalar.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>

#include "chain/generate/regroup.hpp"
#include "exoskeleton.hpp"  // generated, as five of the next
#include "garra/chain_generate.hpp"
#include "garra/core/lanes.hpp"
#include "garra/io/robot.hpp"
#include "garra/systems/chain/derivatives.hpp"
#include "garra/systems/chain/determinant.hpp"
#include "garra/systems/chain/kernels.hpp"
#include "iiwa14.hpp"
#include "irb2400.hpp"
#include "places.hpp"
#include "puma560.hpp"
#include "random_chain.hpp"
#include "reference.hpp"
#include "scara.hpp"
#include "stanford.hpp"
#include "ur10e.hpp"

namespace garra::chain {
namespace {

constexpr double kPose = 1e-12;      // poses and Jacobians, absolute: lengths are about 1 m
constexpr double kDynamics = 1e-10;  // relative to the largest entry of an array
constexpr double kAcceleration = 1e-9;
constexpr double kSame = 1e-12;  // generated against run time: sums in another order, relative to the largest entry

using test::random_vector;

Robot robot(const std::string& file) { return io::read_robot(test::source_folder() + "/data/robots/" + file); }

/// Entries within `tolerance` of the largest of the reference's.
template <int R, int C>
void expect_relative(const Mat<double, R, C>& a, const double* b, double tolerance, const char* what) {
  double size = 0;
  for (int k = 0; k < R * C; ++k) size = std::max(size, std::abs(b[k]));
  for (int k = 0; k < R * C; ++k) EXPECT_NEAR(a[k], b[k], tolerance * size) << what << " entry " << k;
}
template <int R, int C>
void expect_near(const Mat<double, R, C>& a, const double* b, double tolerance, const char* what) {
  for (int k = 0; k < R * C; ++k) EXPECT_NEAR(a[k], b[k], tolerance) << what << " entry " << k;
}
template <int N>
Vec<double, N> item(const test::ReferenceArray& a, std::size_t i) {
  Vec<double, N> v;
  std::copy_n(a.item(i), N, v.m);
  return v;
}
template <int R, int C>
Mat<double, R, C> mat(const nlohmann::json& a) {
  Mat<double, R, C> v;
  for (int i = 0; i < R; ++i)
    for (int j = 0; j < C; ++j) {
      const nlohmann::json& row = a.at(static_cast<std::size_t>(i));
      v(i, j) = (C == 1 ? row : row.at(static_cast<std::size_t>(j))).template get<double>();
    }
  return v;
}

// What is tested.

/// All that a header can say of a state; u is an acceleration or a torque. One function per answer and scalar, since
/// all of it is inlined: together they took the compiler twice as long.
template <class S, int J>
struct Answers {
  Frames<S, J> frames;
  Pose<S> tool;
  Mat<S, 6, J> jacobian, jacobian_too;
  S manipulability, manipulability_too;
  Vec<S, J> inverse_dynamics, bias, coriolis, gravity, forward_dynamics;
  Mat<S, J, J> inertia;
  Energy<S> energy;
  TorqueDerivatives<S, J> derivatives;
  Mat<S, J, J> qdd_by_q, qdd_by_qd, qdd_by_tau;
  Vec<S, J> qdd;
};
template <class Generated, class S, int J>
[[gnu::noinline]] Answers<S, J> answers(const Vec<S, J>& q, const Vec<S, J>& qd, const Vec<S, J>& u) {
  const auto x = Generated::angles(q);
  Answers<S, J> out;
  const auto apart = [](const auto& answer) __attribute__((noinline)) { answer(); };
  apart([&] { out.frames = Generated::frames(x); });
  apart([&] { out.tool = Generated::tool_pose(x); });
  apart([&] { out.jacobian = Generated::jacobian(q); });
  apart([&] {
    const auto both = Generated::jacobian_manipulability(x);
    out.jacobian_too = both.jacobian;
    out.manipulability_too = both.manipulability;
  });
  apart([&] { out.manipulability = Generated::manipulability(q); });
  apart([&] { out.inverse_dynamics = Generated::inverse_dynamics(x, qd, u); });
  apart([&] { out.bias = Generated::bias_torque(x, qd); });
  apart([&] { out.coriolis = Generated::coriolis_torque(x, qd); });
  apart([&] { out.gravity = Generated::gravity_torque(q); });
  apart([&] { out.forward_dynamics = Generated::forward_dynamics(x, qd, u); });
  apart([&] { out.inertia = Generated::inertia_matrix(x); });
  apart([&] { out.energy = Generated::energy(x, qd); });
  apart([&] { out.derivatives = Generated::inverse_dynamics_derivatives(x, qd, u); });
  apart([&] {
    const auto of = Generated::forward_dynamics_derivatives(x, qd, u);
    out.qdd_by_q = of.by_q, out.qdd_by_qd = of.by_qd, out.qdd_by_tau = of.by_tau, out.qdd = of.qdd;
  });
  return out;
}

// Pinocchio's numbers.

/// `M` and `qdd` are the datasets with the rotors that `armature` holds.
template <class Generated, int J>
void check_dynamics(const std::string& file, const Vec<double, J>& armature, const char* M_name, const char* qdd_name) {
  const auto get = [&](const char* name) { return test::read_reference(file, name); };
  const auto q = get("q"), qd = get("qd"), qdd = get("qdd_in"), tau = get("tau"), M = get(M_name), c = get("Cqd"),
             g = get("g"), rnea = get("tau_rnea"), aba = get(qdd_name);
  for (std::size_t s = 0; s < q.count(); ++s) {
    const auto a = item<J>(qdd, s);
    const auto own = answers<Generated>(item<J>(q, s), item<J>(qd, s), a);
    auto torque = item<J>(rnea, s);  // a rotor turns with its joint only: its torque is armature qdd
    for (int i = 0; i < J; ++i) torque[i] += armature[i] * a[i];
    expect_relative(own.inverse_dynamics, torque.m, kDynamics, "tau");
    expect_relative(own.coriolis, c.item(s), kDynamics, "C qd");
    expect_relative(own.gravity, g.item(s), kDynamics, "g");
    const auto bias = item<J>(c, s) + item<J>(g, s);
    expect_relative(own.bias, bias.m, kDynamics, "C qd + g");
    expect_relative(own.inertia, M.item(s), kDynamics, "H");
    const auto driven = answers<Generated>(item<J>(q, s), item<J>(qd, s), item<J>(tau, s));
    expect_relative(driven.forward_dynamics, aba.item(s), kAcceleration, "qdd");
  }
}

template <class Generated, int J>
void check_kinematics(const std::string& file) {
  const auto get = [&](const char* name) { return test::read_reference(file, name); };
  const auto q = get("q"), T = get("T_ee"), jac = get("J_lwa"), w = get("manip");
  ASSERT_EQ(q.count(), 80u);
  for (std::size_t s = 0; s < q.count(); ++s) {
    const auto own = answers<Generated>(item<J>(q, s), Vec<double, J>::zero(), Vec<double, J>::zero());
    for (int r = 0; r < 3; ++r) {
      for (int c = 0; c < 3; ++c) EXPECT_NEAR(own.tool.R(r, c), T.item(s)[4 * r + c], kPose);
      EXPECT_NEAR(own.tool.p[r], T.item(s)[4 * r + 3], kPose);
    }
    expect_near(own.jacobian, jac.item(s), kPose, "J");
    expect_near(own.jacobian_too, jac.item(s), kPose, "J with manipulability");
    EXPECT_NEAR(own.manipulability, *w.item(s), kPose);
    EXPECT_NEAR(own.manipulability_too, *w.item(s), kPose);
  }
}

TEST(ChainGenerated, PumaAgreesWithPinocchio) {
  Vec<double, 6> armature;
  for (int i = 0; i < 6; ++i) armature[i] = robot("puma560.toml").form[static_cast<std::size_t>(i)].armature;
  ASSERT_GT(armature[0], 0);
  check_kinematics<puma560::Chain, 6>("chain/puma560.h5");
  check_dynamics<puma560::Chain, 6>("chain/puma560.h5", armature, "M_motor", "qdd_aba_motor");
}

TEST(ChainGenerated, IiwaAgreesWithPinocchio) {
  check_kinematics<iiwa14::Chain, 7>("chain/iiwa14.h5");
  check_dynamics<iiwa14::Chain, 7>("chain/iiwa14.h5", Vec<double, 7>::zero(), "M", "qdd_aba");
}

TEST(ChainGenerated, ExoskeletonAgreesWithTheQuadReference) {
  using Generated = exoskeleton::Chain;
  const auto samples = test::read_reference_json("chain/exoskeleton_static.json")["samples"];
  ASSERT_EQ(samples.size(), 60u);
  for (const auto& s : samples) {
    const Vec<double, 6> q = mat<6, 1>(s["q"]), qd = mat<6, 1>(s["qd"]), tau = mat<6, 1>(s["tau"]);
    const Vec<double, 6> moving = tau - s["b"].get<double>() * qd;
    const auto own = answers<Generated>(q, qd, moving);
    const auto T = mat<3, 4>(s["T"][6]);
    for (int r = 0; r < 3; ++r) {
      EXPECT_NEAR(own.tool.p[r], T(r, 3), kPose);
      for (int c = 0; c < 3; ++c) EXPECT_NEAR(own.tool.R(r, c), T(r, c), kPose);
    }
    expect_near(own.jacobian, mat<6, 6>(s["J_tool"]).m, kPose, "J");
    expect_relative(own.inertia, mat<6, 6>(s["H"]).m, kDynamics, "H");
    expect_relative(own.coriolis, mat<6, 1>(s["Cqd"]).m, kDynamics, "C qd");
    expect_relative(own.gravity, mat<6, 1>(s["g"]).m, kDynamics, "g");
    expect_relative(own.forward_dynamics, mat<6, 1>(s["qdd"]).m, kAcceleration, "qdd");
    const auto e = own.energy;
    EXPECT_NEAR(e.kinetic + e.potential, s["energy"].get<double>(), kDynamics * (e.kinetic + std::abs(e.potential)));
  }
}

// The kernels at run time.

template <int J>
[[gnu::noinline]] Answers<double, J> run_time(const Model<double, J>& m, const Vec<double, J>& q,
                                              const Vec<double, J>& qd, const Vec<double, J>& u) {
  const auto x = angles(m, q);
  const auto k = frames(m, x);
  const auto jac = jacobian(m, k);
  const double w = manipulability(jac);
  TorqueDerivatives<double, J> derivatives;
  torque_derivatives(m, x, qd, u, derivatives);
  auto undamped = m;
  for (auto& joint : undamped.joint) joint.damping = 0;
  const auto of = ForwardDynamicsDerivativesOp<J>{
      undamped, J}(typename ForwardDynamicsDerivativesOp<J>::template In<double>{q, qd, u});
  return {k,
          k.tool,
          jac,
          jac,
          w,
          w,
          inverse_dynamics(m, x, qd, u),
          bias_torque(m, x, qd),
          coriolis_torque(m, x, qd),
          gravity_torque(m, x),
          forward_dynamics(m, x, qd, u),
          inertia_matrix(m, x),
          energy(m, x, qd),
          derivatives,
          of.by_q,
          of.by_qd,
          of.by_tau,
          of.qdd};
}

template <class Generated, int J>
void expect_run_time(const std::string& file) {
  const auto m = make_model<J>(robot(file));
  static_assert(Generated::kJoints == J);
  std::mt19937_64 gen(41);
  for (int s = 0; s < 100; ++s) {
    const auto q = random_vector<J>(gen, 3), qd = random_vector<J>(gen, 2), u = random_vector<J>(gen, 5);
    const auto own = answers<Generated>(q, qd, u), truth = run_time(m, q, qd, u);
    for (int i = 0; i < J; ++i) {
      expect_near(own.frames.frame[i].R, truth.frames.frame[i].R.m, kPose, "R");
      expect_near(own.frames.frame[i].p, truth.frames.frame[i].p.m, kPose, "p");
    }
    expect_near(own.frames.tool.R, truth.tool.R.m, kPose, "tool");
    expect_near(own.tool.R, truth.tool.R.m, kPose, "tool");
    expect_near(own.tool.p, truth.tool.p.m, kPose, "tool");
    expect_near(own.jacobian, truth.jacobian.m, kPose, "J");
    expect_near(own.jacobian_too, truth.jacobian.m, kPose, "J with manipulability");
    EXPECT_NEAR(own.manipulability, truth.manipulability, kPose);
    EXPECT_NEAR(own.manipulability_too, truth.manipulability, kPose);
    expect_relative(own.inverse_dynamics, truth.inverse_dynamics.m, kSame, "tau");
    expect_relative(own.bias, truth.bias.m, kSame, "bias");
    expect_relative(own.coriolis, truth.coriolis.m, kSame, "C qd");
    expect_relative(own.gravity, truth.gravity.m, kSame, "g");
    expect_relative(own.inertia, truth.inertia.m, kSame, "H");
    expect_relative(own.forward_dynamics, truth.forward_dynamics.m, kAcceleration, "qdd");
    expect_relative(own.derivatives.by_q, truth.derivatives.by_q.m, kSame, "dtau/dq");
    expect_relative(own.derivatives.by_qd, truth.derivatives.by_qd.m, kSame, "dtau/dqd");
    expect_relative(own.derivatives.by_qdd, truth.derivatives.by_qdd.m, kSame, "dtau/dqdd");
    expect_relative(own.qdd_by_q, truth.qdd_by_q.m, kAcceleration, "dqdd/dq");
    expect_relative(own.qdd_by_qd, truth.qdd_by_qd.m, kAcceleration, "dqdd/dqd");
    expect_relative(own.qdd_by_tau, truth.qdd_by_tau.m, kAcceleration, "dqdd/dtau");
    expect_relative(own.qdd, truth.qdd.m, kAcceleration, "qdd");
    EXPECT_NEAR(own.energy.kinetic, truth.energy.kinetic, kSame * truth.energy.kinetic);
    EXPECT_NEAR(own.energy.potential, truth.energy.potential, kSame * (1 + std::abs(truth.energy.potential)));
  }
}

TEST(ChainGenerated, EqualsTheKernelsThatReadTheSameRobot) {
  expect_run_time<puma560::Chain, 6>("puma560.toml");
  expect_run_time<exoskeleton::Chain, 6>("exoskeleton.toml");
  expect_run_time<iiwa14::Chain, 7>("iiwa14.urdf");
  expect_run_time<scara::Chain, 4>("scara.toml");        // one joint slides
  expect_run_time<stanford::Chain, 6>("stanford.toml");  // one joint slides
}

// Inverse kinematics.

/// The candidates that exist; all of them lead back to the pose.
template <class Generated>
std::vector<Vec<double, 6>> candidates(const Pose<double>& pose) {
  std::vector<Vec<double, 6>> out;
  const auto found = Generated::inverse_kinematics(pose);
  for (int k = 0; k < 8; ++k) {
    if (found.exists[k] == 0) continue;
    out.push_back(found.q[k]);
    const auto back = Generated::tool_pose(found.q[k]);
    for (int i = 0; i < 9; ++i) EXPECT_NEAR(back.R.m[i], pose.R.m[i], 1e-8);
    for (int i = 0; i < 3; ++i) EXPECT_NEAR(back.p[i], pose.p[i], 1e-8);
  }
  return out;
}

/// The joint values that made a pose are among its candidates.
template <class Generated>
void check_inverse_kinematics(bool last_slides = false) {
  std::mt19937_64 gen(43);
  for (int n = 0; n < 200; ++n) {
    auto q = random_vector<6>(gen, 3);
    if (last_slides) q[2] = 0.2 + 0.1 * std::abs(q[2]);
    double nearest = 10;
    for (const auto& z : candidates<Generated>(Generated::tool_pose(q))) {
      double apart = 0;
      for (int i = 0; i < 6; ++i) apart = std::max(apart, std::abs(std::remainder(z[i] - q[i], 2 * M_PI)));
      nearest = std::min(nearest, apart);
    }
    EXPECT_LT(nearest, 1e-6);
  }
}

TEST(ChainGenerated, InverseKinematicsFindsTheJointValuesThatMadeThePose) {
  check_inverse_kinematics<puma560::Chain>();
  check_inverse_kinematics<stanford::Chain>(true);
  check_inverse_kinematics<irb2400::Chain>();
  check_inverse_kinematics<ur10e::Chain>();
}

/// Joint 6 turns about the axes of joints 2 to 4: a candidate stands for its family, which has the same joint 1.
TEST(ChainGenerated, AlignedWristsOfParallelArmsHaveCandidates) {
  std::mt19937_64 gen(44);
  for (int n = 0; n < 400; ++n) {
    auto q = random_vector<6>(gen, 3);
    q[4] = n % 2 == 0 ? 0 : M_PI;
    const auto found = candidates<ur10e::Chain>(ur10e::Chain::tool_pose(q));
    const bool same_shoulder = std::any_of(found.begin(), found.end(), [&](const auto& z) {
      return std::abs(std::remainder(z[0] - q[0], 2 * M_PI)) < 1e-6;
    });
    EXPECT_TRUE(same_shoulder) << n;
  }
}

TEST(ChainGenerated, ArmsWithoutClosedFormHaveNoInverseKinematics) {
  EXPECT_THROW((void)generate_header(robot("jaco2.toml"), {.operations = {"inverse_kinematics"}}), Error);
  EXPECT_EQ(generate_header(robot("jaco2.toml")).find("inverse_kinematics("), std::string::npos);
}

// Lanes.

template <class Generated, int J>
void expect_same_lanes() {
  using L = Lanes<double>;
  std::mt19937_64 gen(42);
  for (int block = 0; block < 10; ++block) {
    Vec<L, J> q, qd, u;
    for (int i = 0; i < J; ++i)
      for (int l = 0; l < L::kSize; ++l) {
        const auto v = random_vector<3>(gen, 3);
        q[i].set(l, v[0]);
        qd[i].set(l, v[1]);
        u[i].set(l, v[2]);
      }
    const auto lanes = answers<Generated>(q, qd, u);
    const auto* words = reinterpret_cast<const L*>(&lanes);
    for (int l = 0; l < L::kSize; ++l) {
      Vec<double, J> q1, qd1, u1;
      for (int i = 0; i < J; ++i) q1[i] = q[i][l], qd1[i] = qd[i][l], u1[i] = u[i][l];
      const auto one = answers<Generated>(q1, qd1, u1);
      const auto* numbers = reinterpret_cast<const double*>(&one);
      for (std::size_t k = 0; k < sizeof one / sizeof(double); ++k)
        ASSERT_EQ(std::bit_cast<std::uint64_t>(numbers[k]), std::bit_cast<std::uint64_t>(words[k][l])) << "entry " << k;
    }
  }
}

TEST(ChainGenerated, LanesEqualScalarToTheBit) {
  expect_same_lanes<puma560::Chain, 6>();
  expect_same_lanes<exoskeleton::Chain, 6>();
  expect_same_lanes<iiwa14::Chain, 7>();
  expect_same_lanes<scara::Chain, 4>();
  expect_same_lanes<stanford::Chain, 6>();
}

// What the generator does to a model before it records.

TEST(ChainGenerated, RegroupedParametersMoveTheSameChain) {
  std::mt19937_64 gen(43);
  for (unsigned seed = 0; seed < 12; ++seed) {
    const auto m = test::random_chain<6>(seed, seed >= 4);
    auto r = m;
    regroup(r);
    for (int i = 1; i < 6; ++i) EXPECT_EQ(r.joint[i].yy, 0);
    const auto q = random_vector<6>(gen, 3), qd = random_vector<6>(gen, 2), u = random_vector<6>(gen, 5);
    const auto own = run_time(r, q, qd, u), truth = run_time(m, q, qd, u);
    expect_relative(own.inverse_dynamics, truth.inverse_dynamics.m, kSame, "tau");
    expect_relative(own.gravity, truth.gravity.m, kSame, "g");
    expect_relative(own.inertia, truth.inertia.m, kSame, "H");
    expect_relative(own.qdd_by_q, truth.qdd_by_q.m, kAcceleration, "dqdd/dq");
    expect_relative(own.qdd_by_qd, truth.qdd_by_qd.m, kAcceleration, "dqdd/dqd");
    expect_relative(own.qdd_by_tau, truth.qdd_by_tau.m, kAcceleration, "dqdd/dtau");
    expect_relative(own.qdd, truth.qdd.m, kAcceleration, "qdd");
    EXPECT_NEAR(own.energy.kinetic, truth.energy.kinetic, kSame * truth.energy.kinetic);
    EXPECT_NEAR(own.energy.potential, truth.energy.potential, kSame * (1 + std::abs(truth.energy.potential)));
  }
}

TEST(ChainGenerated, EveryExpansionGivesTheVolume) {
  std::mt19937_64 gen(44);
  for (unsigned seed = 0; seed < 8; ++seed) {
    const auto m = test::random_chain<6>(seed, seed >= 4);
    const auto x = angles(m, random_vector<6>(gen, 3));
    const double w = manipulability(jacobian(m, frames(m, x)));
    for (int way = 0; way < kExpansions; ++way)
      EXPECT_NEAR(std::abs(expanded_determinant(m, x, expansion(way))), w, kPose) << way;
  }
}

TEST(ChainGenerated, TextSaysWhatItIsAndIsTheSameEveryTime) {
  const Robot r = robot("scara.toml");
  const std::string text = generate_header(r, {"arm", {"gravity_torque"}, "by hand"});
  EXPECT_EQ(text, generate_header(r, {"arm", {"gravity_torque"}, "by hand"}));
  for (const char* part :
       {r.name.c_str(), r.source.c_str(), "command  by hand", "namespace arm {", "Generated: do not"})
    EXPECT_NE(text.find(part), std::string::npos) << part;
  EXPECT_NE(text.find("gravity_torque("), std::string::npos);
  EXPECT_EQ(text.find("inverse_dynamics("), std::string::npos);
  EXPECT_NE(generate_header(r, {"", {"jacobian"}, ""}).find("namespace scara_adept_cobra_600 {"), std::string::npos);
}

TEST(ChainGenerated, MisuseIsRefused) {
  Robot r = robot("scara.toml");
  for (const char* name : {"2arm", "my arm", "_arm", "a__b", "std", "garra", "namespace"})
    EXPECT_THROW((void)generate_header(r, {name, {"jacobian"}, ""}), Error) << name;
  EXPECT_THROW((void)generate_header(r, {"arm", {"jacobi"}, ""}), Error);
  r.form[1].mass = std::nan("");
  EXPECT_THROW((void)generate_header(r, {"arm", {"jacobian"}, ""}), Error);
}

}  // namespace
}  // namespace garra::chain
