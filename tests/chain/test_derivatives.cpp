// Derivatives of the dynamics against dual numbers and central differences, on every executor.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "garra/chain_simulate.hpp"
#include "garra/core/dual.hpp"
#include "garra/core/error.hpp"
#include "garra/io/robot.hpp"
#include "garra/systems/chain/kernels.hpp"
#include "on_every_executor.hpp"
#include "places.hpp"

namespace garra::chain {
namespace {

using Array = std::vector<double>;

Robot built_in(const std::string& file) { return io::read_robot(test::source_folder() + "/data/robots/" + file); }

States random_states(const Robot& robot, std::int64_t count) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> u(-2, 2);
  States s{count, {}};
  for (std::int64_t k = 0; k < count * robot.joints; ++k) {
    s.q.push_back(u(random));
    s.qd.push_back(u(random));
    s.qdd.push_back(u(random));
    s.tau.push_back(10 * u(random));
  }
  return s;
}

/// A chain of any number of joints, some of them sliding, with bodies, rotors and damping.
Robot random_robot(int joints) {
  std::mt19937_64 random(static_cast<unsigned>(joints));
  std::uniform_real_distribution<double> u(-1, 1);
  std::vector<DhJoint> rows;
  for (int i = 0; i < joints; ++i) {
    DhJoint row{0.3 * u(random), 0.2 * u(random), 1.5 * u(random), u(random), {}};
    row.link.joint.prismatic = i % 4 == 2;
    row.link.body.mass = 1 + u(random) * u(random);
    row.link.body.com = {{0.1 * u(random), 0.1 * u(random), 0.1 * u(random)}};
    for (int k = 0; k < 3; ++k) row.link.body.inertia(k, k) = 0.02 + 0.002 * k;
    row.link.body.inertia(0, 1) = row.link.body.inertia(1, 0) = 0.003;
    row.link.armature = 0.1 * (i + 1);
    row.link.damping = 0.2 * i;
    rows.push_back(row);
  }
  return from_dh({.name = "random", .gravity = {{1, -2, -9}}}, rows);
}

/// Dual numbers through the same inverse dynamics: exact to rounding, and a way of their own to the derivatives.
template <int J>
void expect_dual_derivatives(const Robot& robot) {
  const States s = random_states(robot, 20);
  const DynamicsDerivatives found = inverse_dynamics_derivatives(robot, s);
  const Model<double, J> m = make_model<J>(robot);
  using D = Dual<double, 3>;
  for (std::size_t n = 0; n < 20; ++n)
    for (int j = 0; j < J; ++j) {
      Vec<D, J> q, qd, qdd;
      for (int i = 0; i < J; ++i) {
        const std::size_t k = n * J + static_cast<std::size_t>(i);
        q[i] = D(s.q[k], {{i == j ? 1.0 : 0, 0, 0}});
        qd[i] = D(s.qd[k], {{0, i == j ? 1.0 : 0, 0}});
        qdd[i] = D(s.qdd[k], {{0, 0, i == j ? 1.0 : 0}});
      }
      Angles<D, J> x;
      for (int i = 0; i < J; ++i) {
        const bool slides = m.prismatic[i];
        const auto turn = sincos(slides ? D(m.joint[i].theta) : q[i] + m.joint[i].theta);
        x.cos[i] = turn.cos, x.sin[i] = turn.sin;
        x.slide[i] = slides ? q[i] : D(0);
      }
      const Vec<D, J> tau = inverse_dynamics(m, x, qd, qdd);
      for (int i = 0; i < J; ++i) {
        const std::size_t k = (n * J + static_cast<std::size_t>(i)) * J + static_cast<std::size_t>(j);
        EXPECT_NEAR(found.by_q[k], tau[i].d[0], 1e-11) << robot.name;
        EXPECT_NEAR(found.by_qd[k], tau[i].d[1] + (i == j ? m.joint[i].damping : 0), 1e-11) << robot.name;
        EXPECT_NEAR(found.by_input[k], tau[i].d[2], 1e-11) << robot.name;
      }
    }
}

TEST(DynamicsDerivatives, AreThoseOfDualNumbers) {
  expect_dual_derivatives<6>(built_in("puma560.toml"));
  expect_dual_derivatives<7>(built_in("iiwa14.urdf"));
  expect_dual_derivatives<6>(built_in("stanford.toml"));
  expect_dual_derivatives<4>(built_in("scara.toml"));
  expect_dual_derivatives<3>(random_robot(3));
  expect_dual_derivatives<11>(random_robot(11));
}

TEST(DynamicsDerivatives, OfForwardDynamicsAreThoseOfItsCentralDifferences) {
  for (const Robot& robot : {built_in("puma560.toml"), built_in("iiwa14.urdf"), random_robot(3), random_robot(9)}) {
    const auto joints = static_cast<std::size_t>(robot.joints);
    const States s = random_states(robot, 8);
    const DynamicsDerivatives found = forward_dynamics_derivatives(robot, s);
    const Array qdd = evaluate(robot, s, Output::kForwardDynamics).qdd;
    for (std::size_t k = 0; k < qdd.size(); ++k) EXPECT_NEAR(found.qdd[k], qdd[k], 1e-9 * (1 + std::abs(qdd[k])));
    constexpr double h = 1e-6;
    for (std::size_t j = 0; j < joints; ++j)
      for (int which = 0; which < 3; ++which) {
        States up = s, down = s;
        for (std::size_t n = 0; n < 8; ++n) {
          (which == 0 ? up.q : which == 1 ? up.qd : up.tau)[n * joints + j] += h;
          (which == 0 ? down.q : which == 1 ? down.qd : down.tau)[n * joints + j] -= h;
        }
        const Array a = evaluate(robot, up, Output::kForwardDynamics).qdd;
        const Array b = evaluate(robot, down, Output::kForwardDynamics).qdd;
        const Array& by = which == 0 ? found.by_q : which == 1 ? found.by_qd : found.by_input;
        // Differences of 1e-6 leave 1e-10 of the accelerations, and their third derivatives.
        for (std::size_t k = 0; k < a.size(); ++k)
          EXPECT_NEAR(by[k * joints + j], (a[k] - b[k]) / (2 * h), 1e-6 * (1 + std::abs(qdd[k]))) << robot.name;
      }
  }
}

TEST(DynamicsDerivatives, EveryExecutorGivesTheSameBits) {
  for (const int joints : {1, 6, 7, 9}) {
    const Robot robot = random_robot(joints);
    for (const std::int64_t count : {0, 1, 8, 9}) {
      States s = random_states(robot, count);
      if (count > 5) s.qd[static_cast<std::size_t>(5 * joints)] = std::nan("");
      test::expect_same_on_every_executor([&](const Device& device) {
        const DynamicsDerivatives inverse = inverse_dynamics_derivatives(robot, s, device);
        const DynamicsDerivatives forward = forward_dynamics_derivatives(robot, s, device);
        return test::Answer()
            .add("dtau_dq", inverse.by_q)
            .add("dtau_dqd", inverse.by_qd)
            .add("mass_matrix", inverse.by_input)
            .add("dqdd_dq", forward.by_q)
            .add("dqdd_dqd", forward.by_qd)
            .add("dqdd_dtau", forward.by_input)
            .add("qdd", forward.qdd)
            .add("status", forward.status);
      });
    }
  }
}

TEST(DynamicsDerivatives, ABadStateTouchesNoOther) {
  const Robot robot = built_in("puma560.toml");
  const States good = random_states(robot, 9);
  States bad = good;
  bad.q[6 * 4 + 2] = std::numeric_limits<double>::infinity();
  const DynamicsDerivatives expected = inverse_dynamics_derivatives(robot, good),
                            found = inverse_dynamics_derivatives(robot, bad);
  for (std::size_t n = 0; n < 9; ++n) {
    EXPECT_EQ(found.status[n], n == 4 ? Status::kInvalidInput : Status::kConverged);
    for (std::size_t k = 36 * n; k < 36 * (n + 1); ++k)
      EXPECT_TRUE(n == 4 ? std::isnan(found.by_q[k]) : found.by_q[k] == expected.by_q[k]);
  }
  EXPECT_THROW((void)inverse_dynamics_derivatives(robot, StateView(9, good.q)), Error);
}

}  // namespace
}  // namespace garra::chain
