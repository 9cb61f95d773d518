// Joints that follow others: against numbers of an independent program, and by the laws that tie poses, energies,
// torques and accelerations of a chain's coordinates to each other.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "answers.hpp"
#include "garra/chain_eval.hpp"
#include "garra/chain_generate.hpp"
#include "garra/chain_simulate.hpp"
#include "garra/core/error.hpp"
#include "garra/io/robot.hpp"
#include "on_every_executor.hpp"

namespace garra::chain {
namespace {

using Array = std::vector<double>;

/// A finger whose middle joint stands at 1.1 times its knuckle plus 0.05 rad.
constexpr const char* kFinger = R"(<robot name="coupled_finger">
  <link name="palm"/>
  <link name="proximal"><inertial><origin xyz="0 0 0.02"/><mass value="0.03"/>
    <inertia ixx="6e-6" ixy="0" ixz="0" iyy="6e-6" iyz="0" izz="1e-6"/></inertial></link>
  <link name="distal"><inertial><origin xyz="0 0 0.015"/><mass value="0.02"/>
    <inertia ixx="3e-6" ixy="0" ixz="0" iyy="3e-6" iyz="0" izz="6e-7"/></inertial></link>
  <link name="tip"/>
  <joint name="knuckle" type="revolute"><parent link="palm"/><child link="proximal"/><origin xyz="0.02 0 0.09"/>
    <axis xyz="0 1 0"/><limit lower="0" upper="1.6" effort="2" velocity="3"/></joint>
  <joint name="middle" type="revolute"><parent link="proximal"/><child link="distal"/><origin xyz="0 0 0.045"/>
    <axis xyz="0 1 0"/><limit lower="0" upper="1.8" effort="2" velocity="3"/>
    <mimic joint="knuckle" multiplier="1.1" offset="0.05"/></joint>
  <joint name="pulp" type="fixed"><parent link="distal"/><child link="tip"/><origin xyz="0 0 0.03"/></joint>
</robot>)";

std::string link_xml(int i) {
  const std::string n = std::to_string(i);
  return "<link name='l" + n + "'><inertial><origin xyz='0.0" + n + " 0.02 -0.03' rpy='0.1 0." + n +
         " 0.3'/><mass value='1." + n +
         "'/><inertia ixx='0.02' ixy='0.001' ixz='0.002' iyy='0.03' iyz='-0.001' izz='0.0" + std::to_string(i + 2) +
         "'/></inertial></link>";
}

/// A chain of `joints` joints with axes every which way; joint 2 slides and follows joint 0, joint 4 follows joint 3,
/// and joint 5, where there is one, follows joint 4, so joint 3.
std::string chain_xml(int joints) {
  const char* axis[] = {"0 0 1", "0 1 0.2", "1 0.1 0", "0 1 0", "0.3 0 1", "1 0 0", "0 0.2 1", "0 1 0", "1 0 0.1"};
  std::string xml = "<robot name='coupled'><link name='l0'/>";
  for (int i = 0; i < joints; ++i) {
    const std::string n = std::to_string(i), next = std::to_string(i + 1);
    std::string mimic;
    if (i == 2) mimic = "<mimic joint='j0' multiplier='-0.3' offset='0.02'/>";
    if (i == 4) mimic = "<mimic joint='j3' multiplier='1.1' offset='0.05'/>";
    if (i == 5) mimic = "<mimic joint='j4' multiplier='0.5' offset='-0.1'/>";
    xml += link_xml(i + 1) + "<joint name='j" + n + "' type='" + (i == 2 ? "prismatic" : "revolute") +
           "'><parent link='l" + n + "'/><child link='l" + next + "'/><origin xyz='0.2 0.0" + n + " 0.1' rpy='0." + n +
           " 0 0.2'/><axis xyz='" + axis[i] + "'/><dynamics damping='0." + next + "'/>" +
           "<limit lower='-2' upper='2' effort='5' velocity='3'/>" + mimic + "</joint>";
  }
  return xml + "</robot>";
}

Robot coupled(const std::string& xml) {
  return io::parse_urdf(xml, "r.urdf", {.base = "", .tip = "", .overrides = {}, .takes_coupled = true});
}

/// Random states of `n` coordinates.
States states(int n, std::int64_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const auto drawn = [&](std::int64_t size) {
    Array a(static_cast<std::size_t>(size));
    for (double& x : a) x = uniform(random);
    return a;
  };
  States s{count, drawn(count * n)};
  s.qd = drawn(count * n);
  s.qdd = drawn(count * n);
  s.tau = drawn(count * n);
  s.wrench = drawn(count * 6);
  return s;
}

/// The outputs of one state of n coordinates.
struct At {
  const Robot& robot;
  int n;
  Results operator()(const Array& q, const Array& qd, const Array& qdd = {}, const Array& tau = {}) const {
    States s{1, q, qd, qdd, tau, Array(6, 0.0)};
    if (qdd.empty()) s.qdd = Array(q.size(), 0.0);
    if (tau.empty()) s.tau = Array(q.size(), 0.0);
    return evaluate(robot, s, Outputs::all());
  }
};

Array moved(const Array& q, const Array& by, double h) {
  Array out = q;
  for (std::size_t i = 0; i < q.size(); ++i) out[i] += h * by[i];
  return out;
}

double quadratic(const Array& M, const Array& x) {
  double sum = 0;
  const std::size_t n = x.size();
  for (std::size_t r = 0; r < n; ++r)
    for (std::size_t c = 0; c < n; ++c) sum += x[r] * M[r * n + c] * x[c];
  return sum;
}
double product(const Array& a, const Array& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// Computed apart from this library, to seven digits (2e-8 of what is compared).
TEST(CoupledJoints, StandAndMoveAsTheirLeaderHasThem) {
  const Robot finger = coupled(kFinger);
  EXPECT_EQ(finger.joints, 2);
  EXPECT_EQ(coordinates(finger), std::vector<int>{0});
  const Results r = evaluate(finger, States{1, {0.8}}, {Output::kPose, Output::kJacobian, Output::kMassMatrix});
  ASSERT_EQ(r.pose.size(), 16u);
  EXPECT_NEAR(r.pose[3], 0.0819016, 5e-8);
  EXPECT_NEAR(r.pose[7], 0, 1e-15);
  EXPECT_NEAR(r.pose[11], 0.1165958, 5e-8);
  ASSERT_EQ(r.jacobian.size(), 6u);
  EXPECT_NEAR(r.jacobian[0], 0.0213643, 5e-8);
  EXPECT_NEAR(r.jacobian[2], -0.0944843, 5e-8);
  EXPECT_NEAR(r.jacobian[4], 2.1, 1e-14);  // both turn about y: 1 + 1.1
  ASSERT_EQ(r.mass_matrix.size(), 1u);
  EXPECT_NEAR(r.mass_matrix[0], 1.254722e-4, 5e-11);
}

TEST(CoupledJoints, HaveLimitsThatTheLeaderKeeps) {
  const Robot finger = coupled(kFinger);
  const Joint knuckle = coordinate_limits(finger, 0);
  EXPECT_EQ(knuckle.lower, 0);  // the middle joint is at 0.05 then
  EXPECT_NEAR(knuckle.upper, (1.8 - 0.05) / 1.1, 1e-15);
  EXPECT_NEAR(knuckle.velocity_limit, 3 / 1.1, 1e-15);
  const Robot robot = coupled(chain_xml(6));
  EXPECT_EQ(coordinates(robot), (std::vector<int>{0, 1, 3}));
  ASSERT_EQ(robot.coupled.size(), 3u);
  EXPECT_EQ(robot.coupled[2].leader, 3);  // through joint 4
  EXPECT_NEAR(robot.coupled[2].ratio, 0.55, 1e-15);
  EXPECT_NEAR(robot.coupled[2].offset, 0.5 * 0.05 - 0.1, 1e-15);
}

// Energies and their derivatives know nothing of P: T = qd' M qd / 2, g = dU/dq, J qd = d(tool)/dt, and the power of
// torques is the rate of the energy. Differences of 1e-6 are good to 1e-9.
TEST(CoupledJoints, KeepTheLawsOfMechanics) {
  constexpr double h = 1e-6, kDifference = 2e-8;
  for (const int joints : {5, 6, 8}) {
    const Robot robot = coupled(chain_xml(joints));
    const auto n = static_cast<int>(coordinates(robot).size());
    const At at{robot, n};
    const States s = states(n, 4, static_cast<unsigned>(joints));
    for (std::int64_t k = 0; k < s.count; ++k) {
      const auto row = [&](const Array& a) { return Array(a.begin() + k * n, a.begin() + (k + 1) * n); };
      const Array q = row(s.q), qd = row(s.qd), qdd = row(s.qdd);
      const Results here = at(q, qd, qdd);
      EXPECT_NEAR(here.kinetic_energy[0], 0.5 * quadratic(here.mass_matrix, qd), 1e-12);
      const Results after = at(moved(q, qd, h), qd), before = at(moved(q, qd, -h), qd);
      EXPECT_NEAR(product(here.gravity, qd), (after.potential_energy[0] - before.potential_energy[0]) / (2 * h),
                  1e3 * kDifference);
      for (std::size_t r = 0; r < 3; ++r) {
        double v = 0;
        for (std::size_t c = 0; c < static_cast<std::size_t>(n); ++c)
          v += here.jacobian[r * static_cast<std::size_t>(n) + c] * qd[c];
        EXPECT_NEAR(v, here.tool_velocity[r], 1e-13);
        EXPECT_NEAR(v, (after.pose[4 * r + 3] - before.pose[4 * r + 3]) / (2 * h), kDifference);
      }
      // dM/dt - 2 C is skew.
      Array rate(after.mass_matrix.size());
      for (std::size_t i = 0; i < rate.size(); ++i)
        rate[i] = (after.mass_matrix[i] - before.mass_matrix[i]) / (2 * h) - 2 * here.coriolis_matrix[i];
      for (int r = 0; r < n; ++r)
        for (int c = 0; c < n; ++c)
          EXPECT_NEAR(rate[static_cast<std::size_t>(r * n + c)], -rate[static_cast<std::size_t>(c * n + r)],
                      1e2 * kDifference);
      // The power of tau is the rate of the energy and what damping takes.
      const Array qd_after = moved(qd, qdd, h), qd_before = moved(qd, qdd, -h);
      const Results later = at(moved(moved(q, qd, h), qdd, 0.5 * h * h), qd_after),
                    earlier = at(moved(moved(q, qd, -h), qdd, 0.5 * h * h), qd_before);
      const double power = (later.kinetic_energy[0] + later.potential_energy[0] - earlier.kinetic_energy[0] -
                            earlier.potential_energy[0]) /
                           (2 * h);
      EXPECT_NEAR(product(here.tau, qd), power + product(here.damping, qd), 1e3 * kDifference);
      // Forward dynamics is the inverse of inverse dynamics.
      const Results again = at(q, qd, qdd, here.tau);
      for (std::size_t i = 0; i < qdd.size(); ++i) EXPECT_NEAR(again.qdd[i], qdd[i], 1e-10);
    }
  }
}

TEST(CoupledJoints, GiveTheSameBitsOnEveryExecutor) {
  const Robot robot = coupled(chain_xml(8));
  const auto n = static_cast<int>(coordinates(robot).size());
  for (const std::int64_t count : {0, 1, 7, 8, 9, 203}) {
    const States s = states(n, count, 3);
    const Results a = evaluate(robot, s, Outputs::all(), {}, {Executor::kScalar, 1, 0}),
                  b = evaluate(robot, s, Outputs::all(), {}, {Executor::kLanes, 2, 0});
    for (int i = 0; i < kOutputCount; ++i) {
      const auto output = static_cast<Output>(i);
      ASSERT_EQ(a[output].size(), b[output].size());
      EXPECT_TRUE(a[output].empty() ||
                  std::memcmp(a[output].data(), b[output].data(), a[output].size() * sizeof(double)) == 0)
          << to_string(output);
    }
  }
}

TEST(CoupledJoints, LeaveOtherStatesAloneWhereOneIsNotFinite) {
  const Robot robot = coupled(chain_xml(6));
  States s = states(3, 3, 1);
  const Results sound = evaluate(robot, s, Outputs::all());
  s.tau[4] = NAN;
  const Results r = evaluate(robot, s, Outputs::all());
  EXPECT_EQ(r.status[1], Status::kInvalidInput);
  EXPECT_TRUE(std::isnan(r.qdd[3]) && std::isnan(r.pose[16]) && std::isnan(r.mass_matrix[9]));
  for (const std::size_t k : {0u, 2u}) {
    EXPECT_EQ(r.status[k], Status::kConverged);
    EXPECT_EQ(r.qdd[3 * k], sound.qdd[3 * k]);
  }
}

TEST(CoupledJoints, AreReachedByInverseKinematics) {
  const Robot robot = coupled(chain_xml(9));  // six coordinates
  ASSERT_EQ(coordinates(robot).size(), 6u);
  const States s = states(6, 50, 7);
  const Results to = evaluate(robot, s, Output::kPose);
  const InverseKinematics found = inverse_kinematics(robot, to.pose, {});
  ASSERT_EQ(found.q.size(), 300u);
  const Results back = evaluate(robot, StateView(50, found.q), Output::kPose);
  int reached = 0;
  for (std::size_t k = 0; k < 50; ++k) {
    reached += found.success[k];
    for (std::size_t i = 0; i < 16 && found.success[k] != 0; ++i)
      EXPECT_NEAR(back.pose[16 * k + i], to.pose[16 * k + i], 2e-10);
  }
  EXPECT_EQ(reached, 50);
}

TEST(CoupledJoints, AreReadBackFromKernelForm) {
  const Robot robot = coupled(chain_xml(6));
  const std::string text = io::robot_toml(robot);
  EXPECT_NE(text.find("follows = "), std::string::npos) << text;
  const Robot again =
      io::parse_robot_toml(text, "r.toml", {.base = "", .tip = "", .overrides = {}, .takes_coupled = true});
  EXPECT_EQ(io::robot_toml(again), text);
  const States s = states(3, 5, 2);
  EXPECT_EQ(evaluate(robot, s, Outputs::all()).qdd, evaluate(again, s, Outputs::all()).qdd);
  EXPECT_NE(io::describe_robot(robot).find("j3: q = 1.1 of it, plus 2.864788976 deg"), std::string::npos);
  EXPECT_THROW(static_cast<void>(io::parse_robot_toml(text, "r.toml")), Error);
}

/// A nut of 2 kg on an upright screw: 5 cm a radian.
constexpr double kPitch = 0.05, kNutMass = 2, kNutInertia = 0.003, kGravity = 9.81;
Robot nut(double damping, const std::string& limits = "") {
  const std::string text = R"(schema = 1
robot = "nut"
convention = "screws"
home = { position = [0, 0, 0] }
[[joint]]
screw = [0, 0, 1, 0, 0, 0.05]
mass = 2
com = [0, 0, 0]
inertia = { ixx = 0.01, iyy = 0.01, izz = 0.003, ixy = 0, ixz = 0, iyz = 0 }
damping = )" + std::to_string(damping) +
                           "\n" + limits;
  return io::parse_robot_toml(text, "nut.toml", {.base = "", .tip = "", .overrides = {}, .takes_coupled = true});
}

TEST(CoupledSimulation, ANutFallsAsItsScrewLetsIt) {
  // (I + m h^2) q'' = -m g h - b q': the nut turns and slides.
  constexpr double kInertia = kNutInertia + kNutMass * kPitch * kPitch, kPull = kNutMass * kGravity * kPitch;
  for (const double b : {0.0, 0.05}) {
    const Robot robot = nut(b);
    for (const Integrator method : {Integrator::kRk4, Integrator::kDopri5, Integrator::kImplicit2}) {
      SimulateOptions options;
      options.method = method;
      options.step = 1e-4;
      options.duration = 0.5;
      options.times = {0.25, 0.5};
      const Trajectories r = simulate(robot, {1, {0.3}, {2}}, {}, options);
      ASSERT_EQ(r.joints, 1);
      ASSERT_EQ(r.status[0], SimulationStatus::kCompleted);
      for (std::size_t k = 0; k < 2; ++k) {
        const double t = options.times[k], rate = b / kInertia, last = -kPull / (b > 0 ? b : 1);
        const double q = b > 0 ? 0.3 + last * t + (2 - last) * (1 - std::exp(-rate * t)) / rate
                               : 0.3 + 2 * t - kPull / kInertia * t * t / 2;
        EXPECT_NEAR(r.q[k], q, 1e-6) << to_string(method) << ", b = " << b;
        EXPECT_NEAR(r.tip[3 * k + 2], kPitch * r.q[k], 1e-11);  // rounding of 5,000 steps
      }
      EXPECT_NEAR(r.worst_balance[0], 0, 1e-5);
    }
  }
}

TEST(CoupledSimulation, ANutStopsWhereItsSlideEnds) {
  SimulateOptions options;
  options.limits = LimitRule::kStop;
  options.duration = 1;
  const Trajectories r = simulate(nut(0, "limits = [-1, 4]\n"), {1, {0}, {0}}, {}, options);
  EXPECT_EQ(r.end_q[0], -1);
  EXPECT_EQ(r.end_qd[0], 0);
  EXPECT_NEAR(r.end_stop_loss[0], kNutMass * kGravity * kPitch * 1, 1e-3);  // the height of one radian
}

/// One step of Runge and Kutta's method by evaluate().
void step_by_evaluate(const At& at, const Array& tau, double h, Array& q, Array& qd) {
  const auto slope = [&](const Array& x, const Array& v) { return at(x, v, {}, tau).qdd; };
  const Array a1 = slope(q, qd), v2 = moved(qd, a1, h / 2), a2 = slope(moved(q, qd, h / 2), v2);
  const Array v3 = moved(qd, a2, h / 2), a3 = slope(moved(q, v2, h / 2), v3);
  const Array v4 = moved(qd, a3, h), a4 = slope(moved(q, v3, h), v4);
  for (std::size_t i = 0; i < q.size(); ++i) {
    q[i] += h / 6 * (qd[i] + 2 * v2[i] + 2 * v3[i] + v4[i]);
    qd[i] += h / 6 * (a1[i] + 2 * a2[i] + 2 * a3[i] + a4[i]);
  }
}

TEST(CoupledSimulation, MovesAsItsAccelerationsSay) {
  for (const int joints : {5, 6, 8}) {
    const Robot robot = coupled(chain_xml(joints));
    const auto n = static_cast<int>(coordinates(robot).size());
    const Array tau = {1, -2, 0.5, 1, -1};
    States s = states(n, 1, 11);
    Array q = s.q, qd = s.qd;
    const At at{robot, n};
    for (int k = 0; k < 200; ++k) step_by_evaluate(at, {tau.begin(), tau.begin() + n}, 1e-3, q, qd);
    TorqueInput torque;
    torque.amplitude.assign(tau.begin(), tau.begin() + n);
    for (const Integrator method : {Integrator::kRk4, Integrator::kDopri5, Integrator::kImplicit2}) {
      SimulateOptions options;
      options.method = method;
      options.step = method == Integrator::kRk4 ? 1e-3 : 1e-4;
      options.duration = 0.2;
      const Trajectories r = simulate(robot, {1, s.q, s.qd}, torque, options);
      for (std::size_t i = 0; i < q.size(); ++i) {
        EXPECT_NEAR(r.end_q[i], q[i], method == Integrator::kImplicit2 ? 1e-5 : 1e-8) << joints << to_string(method);
        EXPECT_NEAR(r.end_qd[i], qd[i], method == Integrator::kImplicit2 ? 1e-4 : 1e-7);
      }
    }
  }
}

TEST(CoupledSimulation, ComputedTorqueMakesErrorsOfCoordinatesDecayByTheirGains) {
  const Robot robot = coupled(chain_xml(6));
  TorqueInput torque;
  torque.kind = TorqueKind::kComputed;
  torque.kp = {100};
  torque.kd = {20};  // a double pole at 10/s
  torque.set_point = {0.5, -0.3, 0.2};
  for (const Integrator method : {Integrator::kDopri5, Integrator::kImplicit2}) {
    SimulateOptions options;
    options.method = method;
    options.step = 1e-4;
    options.duration = 0.3;
    const Trajectories r = simulate(robot, {1, {0, 0, 0}, {0, 0, 0}}, torque, options);
    const double left = (1 + 10 * 0.3) * std::exp(-10 * 0.3);
    for (std::size_t i = 0; i < 3; ++i)
      EXPECT_NEAR(r.end_q[i], torque.set_point[i] * (1 - left), method == Integrator::kDopri5 ? 1e-7 : 1e-5);
  }
}

TEST(CoupledSimulation, HasTheSameBitsOnEveryExecutor) {
  for (const int joints : {5, 8}) {
    const Robot robot = coupled(chain_xml(joints));
    const auto n = static_cast<int>(coordinates(robot).size());
    const States s = states(n, 37, 4);
    TorqueInput torque;
    torque.kind = TorqueKind::kPd;
    torque.kp = {5};
    torque.kd = {1};
    torque.compensate_gravity = true;
    torque.limit = {3};
    for (const Integrator method :
         {Integrator::kRk4, Integrator::kDopri5, Integrator::kImplicit1, Integrator::kImplicit2}) {
      test::expect_same_on_every_executor([&](const Device& device) {
        SimulateOptions options;
        options.method = method;
        options.step = 5e-3;
        options.duration = 0.05;
        options.times = {0.02};
        options.limits = LimitRule::kStop;
        options.friction.coulomb = {0.1};
        return test::make_answer(simulate(robot, {s.count, s.q, s.qd}, torque, options, device));
      });
    }
  }
}

TEST(CoupledSimulation, RefusesNumbersOfAllJoints) {
  const Robot robot = coupled(kFinger);
  TorqueInput torque;
  torque.amplitude = {1, 2};
  EXPECT_THROW(static_cast<void>(simulate(robot, {1, {0.1}, {0}}, torque)), Error);
  EXPECT_THROW(static_cast<void>(simulate(robot, {1, {0.1, 0.2}, {0, 0}}, {})), Error);
}

TEST(CoupledJoints, AreRefusedWhereNothingFollows) {
  const Robot robot = coupled(kFinger);
  try {
    static_cast<void>(lock_joint(robot, 0, 0.1));
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("joint \"middle\" of \"coupled_finger\" follows \"knuckle\""),
              std::string::npos)
        << error.what();
  }
  EXPECT_THROW(static_cast<void>(io::parse_urdf(kFinger, "r.urdf")), Error);
}

TEST(CoupledJoints, FollowAJointThatFollowsNone) {
  const auto message = [](const std::string& second, const std::string& third) {
    const std::string text =
        "schema = 1\nconvention = \"dh\"\nrobot = \"r\"\n[[joint]]\nname = \"x\"\na = 0.3\n"
        "[[joint]]\nname = \"y\"\na = 0.2\nmass = 1\nfollows = { joint = \"" +
        second +
        "\" }\n"
        "[[joint]]\nname = \"z\"\na = 0.1\nmass = 1\nfollows = { joint = \"" +
        third + "\" }\n";
    try {
      const Robot robot =
          io::parse_robot_toml(text, "r.toml", {.base = "", .tip = "", .overrides = {}, .takes_coupled = true});
      return std::to_string(coordinates(robot).size());
    } catch (const Error& error) {
      return std::string(error.what());
    }
  };
  EXPECT_EQ(message("x", "x"), "1");
  EXPECT_NE(message("x", "w").find("there is no joint \"w\""), std::string::npos);
  EXPECT_NE(message("y", "x").find("joint 1 follows itself"), std::string::npos);
  EXPECT_NE(message("x", "y").find("joint 2 follows a joint that follows another one"), std::string::npos);
}

}  // namespace
}  // namespace garra::chain
