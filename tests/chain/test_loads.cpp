// Forces on the tool, motors, dry friction and formulas of torques in simulations, against closed forms and balances of
// forces, and one executor against the other.
#include <gtest/gtest.h>

#include <cmath>

#include "answers.hpp"
#include "garra/chain_generate.hpp"
#include "garra/chain_simulate.hpp"
#include "garra/core/error.hpp"
#include "garra/core/lanes.hpp"
#include "garra/io/robot.hpp"
#include "places.hpp"

namespace garra::chain {
namespace {

constexpr double kMass = 0.5;

/// A point of mass kMass that slides along x without gravity; its tool is the point.
Robot slider() {
  GeneralJoint joint;
  joint.axis = {{1, 0, 0}};
  joint.link.joint.prismatic = true;
  joint.link.body.mass = kMass;
  RobotData data{.name = "slider"};
  data.gravity = Vec3<double>::zero();
  return from_joints(data, {joint});
}

Robot finger() { return io::read_robot(test::source_folder() + "/data/robots/exoskeleton.toml"); }

Trajectories slide(double q, double qd, const TorqueInput& torque, const SimulateOptions& options) {
  Samples s;
  s.count = 1;
  s.q = {q};
  s.qd = {qd};
  return simulate(slider(), s, torque, options);
}

SimulateOptions precise(double duration) {
  SimulateOptions o;
  o.method = Integrator::kDopri5;
  o.tolerance = {1e-10, 1e-12};
  o.duration = duration;
  o.times = {duration};
  return o;
}

TEST(ToolForce, AConstantForceAcceleratesAndItsWorkIsBooked) {
  SimulateOptions o = precise(0.5);
  o.tool.kind = ToolForceKind::kConstant;
  o.tool.force = {{3, 7, -2}};
  const Trajectories t = slide(0, 0.2, {}, o);
  const double way = 0.2 * 0.5 + 0.5 * 3 / kMass * 0.25;
  EXPECT_NEAR(t.q[0], way, 1e-9);
  EXPECT_NEAR(t.work[0], 3 * way, 1e-9);
  EXPECT_LT(std::abs(t.balance[0]), 1e-9);
  EXPECT_EQ(t.peak_torque[0], 0) << "the force is no torque of the joint";
}

// A mass that comes in at 1 m/s against a wall at x = -0.1: half a period of an undamped oscillator, then back.
TEST(ToolForce, AWallReflectsAndNeverPulls) {
  constexpr double k = 2000;
  const double half = M_PI * std::sqrt(kMass / k);
  SimulateOptions o = precise(0.1 + half + 0.2);
  o.tool = {.kind = ToolForceKind::kWall, .place = {{-0.1, 5, 5}}, .normal = {{2, 0, 0}}, .stiffness = k};
  const Trajectories t = slide(0, -1, {}, o);
  EXPECT_NEAR(t.qd[0], 1, 1e-6);
  EXPECT_NEAR(t.q[0], -0.1 + 0.2, 1e-6);
  o.tool.damping = 1e6;  // a wall of syrup lets go of what leaves it
  o.method = Integrator::kImplicit2;
  o.step = 1e-6;
  EXPECT_GT(slide(-0.1001, 0.5, {}, o).q[0], 0);
}

TEST(ToolForce, ASpringHoldsBeyondItsPlay) {
  constexpr double k = 400, play = 0.01, force = 8;
  SimulateOptions o = precise(3);
  o.tool = {.kind = ToolForceKind::kSpring, .place = {{0.3, 0, 0}}, .stiffness = k, .damping = 40, .play = play};
  TorqueInput push{.amplitude = {force}};
  EXPECT_NEAR(slide(0.3, 0, push, o).q[0], 0.3 + play + force / k, 1e-6);
  o.duration = 0.1;
  o.times = {0.1};
  EXPECT_EQ(slide(0.3, 0.05, {}, o).qd[0], 0.05) << "free within the play";
}

// At rest against the wall the joint torques are those of the wall's force: J' f + tau = g.
TEST(ToolForce, TheFingerRestsOnTheWallWithTheForceThatHoldsIt) {
  const Robot robot = finger();
  Samples s;
  s.count = 1;
  s.q = {0.1, -0.1, 0.2, 0.1, 0.05, 0.1};
  const Results start = evaluate(robot, {1, s.q}, Output::kPose);
  SimulateOptions o;
  o.method = Integrator::kImplicit2;
  o.step = 1e-4;
  o.duration = 1.5;
  o.times = {1.5};
  o.tool = {.kind = ToolForceKind::kWall, .place = {{0, 0, start.pose[11] + 0.002}}, .stiffness = 300, .damping = 2};
  TorqueInput pd{.kind = TorqueKind::kPd, .set_point = s.q, .kp = {2}, .kd = {0.05}, .compensate_gravity = true};
  const Trajectories t = simulate(robot, s, pd, o);
  ASSERT_EQ(t.status[0], SimulationStatus::kCompleted);
  for (const double v : t.qd) EXPECT_NEAR(v, 0, 1e-5);
  const double depth = o.tool.place[2] - t.tip[2];
  EXPECT_GT(depth, 1e-4);
  const std::vector<double> wrench = {0, 0, 300 * depth, 0, 0, 0};
  const Results held = evaluate(robot, {1, t.q, {}, {}, {}, wrench}, Output::kJointForce);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(held.joint_force[i], 2 * (t.q[i] - s.q[i]), 1e-6);
}

TEST(Motor, AcceleratesToItsNoLoadSpeed) {
  constexpr double stall = 2, no_load = 4;
  TorqueInput full{.amplitude = {100}};
  full.motor = {.stall_torque = {stall}, .no_load_speed = {no_load}};
  const double rate = stall / no_load / kMass;
  for (const double volt : {6.0, 3.0}) {
    full.motor.voltage = volt;
    full.motor.rated_voltage = 6;
    for (const Integrator method : {Integrator::kDopri5, Integrator::kImplicit2}) {
      SimulateOptions o = precise(0.7);
      o.method = method;
      const Trajectories t = slide(0, 0, full, o);
      EXPECT_NEAR(t.qd[0], volt / 6 * no_load * (1 - std::exp(-rate * 0.7)),
                  method == Integrator::kDopri5 ? 1e-9 : 1e-5);
      EXPECT_NEAR(t.peak_torque[0], volt / 6 * stall, 1e-2);
    }
  }
  // Driven beyond its no-load speed it brakes, whatever is commanded.
  full.motor.voltage = 0;
  EXPECT_LT(slide(0, 10, full, precise(0.1)).qd[0], 10);
}

TEST(Friction, CoulombFrictionStopsASliderWhereItShould) {
  constexpr double force = 0.8, speed = 1;
  SimulateOptions o = precise(0.4);
  o.friction.coulomb = {force};
  o.friction.smooth = {1e-6};
  const Trajectories t = slide(0, speed, {}, o);
  EXPECT_NEAR(t.qd[0], speed - force / kMass * 0.4, 1e-6);
  EXPECT_NEAR(t.dissipated[0], 0.5 * kMass * (speed * speed - t.qd[0] * t.qd[0]), 1e-7);
  o.duration = 2;
  o.times = {2};
  o.method = Integrator::kImplicit2;
  o.step = 1e-3;
  o.friction.smooth = {1e-4};
  const Trajectories rest = slide(0, speed, {}, o);
  EXPECT_NEAR(rest.q[0], 0.5 * kMass * speed * speed / force, 2e-3);
  EXPECT_NEAR(rest.qd[0], 0, 1e-6);
}

// Below breakaway a joint creeps at the speed at which smoothed friction balances the force; above it slides. The
// speeds are those of SciPy's Radau integration of the same equation (tolerance 1e-10).
TEST(Friction, BreakawayHoldsAndStribeckLetsGo) {
  SimulateOptions o;
  o.duration = 1;
  o.times = {1};
  o.step = 1e-3;
  o.friction = {.coulomb = {0.5}, .breakaway = {1}, .stribeck = {0.05}, .smooth = {1e-3}};
  EXPECT_NEAR(slide(0, 0, {.amplitude = {0.9}}, o).qd[0], 0.0020741435546, 1e-5);
  EXPECT_NEAR(slide(0, 0, {.amplitude = {1.1}}, o).qd[0], 1.0961591783581, 2e-3);
}

TEST(Expression, IsTheTorqueItSays) {
  SimulateOptions o = precise(0.6);
  TorqueInput sine{.kind = TorqueKind::kSine, .amplitude = {2}, .frequency = {3}, .phase = {0.4}};
  TorqueInput same{.kind = TorqueKind::kExpression, .expression = {"2 * sin(2*pi*3*t + 0.4)"}};
  EXPECT_NEAR(slide(0, 0, sine, o).q[0], slide(0, 0, same, o).q[0], 1e-9);
  TorqueInput pd{.kind = TorqueKind::kPd, .set_point = {0.2}, .kp = {50}, .kd = {3}};
  same.expression = {"-(50 * (q0 - 0.2) + 3 * qd0) * step(t - 0)"};
  EXPECT_NEAR(slide(0, 0, pd, o).q[0], slide(0, 0, same, o).q[0], 1e-9);
}

TEST(Expression, KnowsItsFunctionsAndRules) {
  const auto at_one = [](const std::string& text) {
    std::vector<double> code = compile_formula(text, 1);
    code.insert(code.end(), {static_cast<double>(FormulaOp::kEnd), 1});
    Vec<double, 1> out;
    evaluate_formulas(code.data(), 1.5, Vec<double, 1>{{-2}}, Vec<double, 1>{{0.25}}, out);
    return out[0];
  };
  EXPECT_EQ(at_one("1 + 2 * 3 ^ 2 - 8 / 4 / 2"), 18);
  EXPECT_EQ(at_one("-q0^2"), -4);
  EXPECT_EQ(at_one("(1 - -2) * t"), 4.5);
  EXPECT_EQ(at_one("min(q0, qd0) + max(q0, qd0)"), -1.75);
  EXPECT_EQ(at_one("step(q0) + step(0) + abs(q0) + sqrt(qd0)"), 3.5);
  EXPECT_NEAR(at_one("exp(qd0) + cos(t) + sin(q0)"), std::exp(0.25) + std::cos(1.5) + std::sin(-2), 1e-15);
  for (const char* wrong : {"", "1 +", "q1", "2 ** 3", "sin 1", "foo(1)", "(1", "1)", "t^0.5", "min(1)", "1e999",
                            "((((((((((((((((((1+(1+(1+(1+(1+(1+(1+(1+(1+(1+(1+(1+(1+(1+(1+(1+(1+1)))))))))))))))))"})
    EXPECT_THROW((void)compile_formula(wrong, 1), Error) << wrong;
}

TEST(Loads, EveryExecutorAgreesBitForBit) {
  const Robot robot = finger();
  const std::vector<double> start = {0.1, -0.1, 0.2, 0.1, 0.05, 0.1};
  const double height = evaluate(robot, {1, start}, Output::kPose).pose[11];
  const ToolForceInput tools[] = {
      {.kind = ToolForceKind::kConstant, .force = {{0.1, -0.2, 0.05}}, .moment = {{1e-3, 0, 2e-3}}},
      {.kind = ToolForceKind::kSampled, .points = {0, 0, 0.1, 0, 0, 0, 0.1, 0, 0, 0, 1e-3, 0}, .interval = 0.004},
      {.kind = ToolForceKind::kWall, .place = {{0, 0, height}}, .stiffness = 100, .damping = 0.5},
      {.kind = ToolForceKind::kSpring, .place = {{0, 0, height}}, .stiffness = 50, .damping = 0.1, .play = 0.002}};
  for (const ToolForceInput& tool : tools)
    for (const Integrator method : {Integrator::kDopri5, Integrator::kImplicit2, Integrator::kRk4})
      for (const int count : {1, kWidth<Lanes<double>> + 1}) {
        Samples s;
        s.count = count;
        for (int i = 0; i < count; ++i)
          for (const double q : start) s.q.push_back(q + 0.01 * i);
        s.damping.assign(6, 1e-4);
        TorqueInput torque{.kind = TorqueKind::kExpression, .expression = {"0.01 * sin(300 * t) - 0.02 * q0 * qd5"}};
        torque.motor = {.stall_torque = {0.008}, .no_load_speed = {20}};
        SimulateOptions o;
        o.method = method;
        o.duration = 0.01;
        o.times = {0.005, 0.01};
        o.step = 1e-4;
        o.tolerance = {1e-6, 1e-8};
        o.tool = tool;
        if (method != Integrator::kRk4) o.friction = {.coulomb = {1e-4}, .breakaway = {2e-4}, .smooth = {0.01}};
        SCOPED_TRACE(std::string(name_of(tool.kind)) + " " + to_string(method) + " " + std::to_string(count));
        test::expect_same_on(
            count == 1 ? test::other_executors() : test::other_host_executors(),
            [&](const Device& device) { return test::make_answer(simulate(robot, s, torque, o, device)); });
      }
}

// Lanes and kernels pad chains whose number of joints has no code of its own; the scalar executor does not.
TEST(Loads, AForceOnTheToolMovesNoPaddingJoint) {
  Robot robot = finger();
  std::vector<double> start = {0.1, -0.1, 0.2, 0.1, 0.05, 0.1};
  for (; robot.joints > 0; robot = lock_joint(robot, robot.joints - 1, 0.1), start.pop_back()) {
    SCOPED_TRACE(robot.joints);
    SimulateOptions o = precise(0.05);
    o.tool = {.kind = ToolForceKind::kConstant, .force = {{0.1, -0.2, 0.05}}, .moment = {{1e-3, 0, 2e-3}}};
    test::expect_same_on(test::other_executors(), [&](const Device& device) {
      return test::make_answer(simulate(robot, {.count = 1, .q = start}, {}, o, device));
    });
    if (robot.joints == 1) break;
  }
}

TEST(Loads, RefuseWhatMakesNoSense) {
  const auto refused = [](const TorqueInput& torque, const SimulateOptions& o) {
    EXPECT_THROW((void)slide(0, 0, torque, o), Error);
  };
  SimulateOptions o;
  o.tool = {.kind = ToolForceKind::kWall, .normal = {{0, 0, 0}}};
  refused({}, o);
  o.tool = {.kind = ToolForceKind::kSpring, .stiffness = -1};
  refused({}, o);
  o.tool = {.kind = ToolForceKind::kSampled, .points = {1, 2}, .interval = 1};
  refused({}, o);
  o = {};
  o.friction = {.coulomb = {2}, .breakaway = {1}};
  refused({}, o);
  o = {};
  TorqueInput torque;
  torque.motor.stall_torque = {1};
  refused(torque, o);
  refused({.kind = TorqueKind::kExpression, .expression = {"q7"}}, o);
  refused({.kind = TorqueKind::kExpression, .expression = {}}, o);
}

}  // namespace
}  // namespace garra::chain
