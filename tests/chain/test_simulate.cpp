// Simulations against trajectories computed in 128-bit arithmetic, closed forms, and one executor against the other.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <random>

#include "answers.hpp"
#include "garra/chain_simulate.hpp"
#include "garra/core/error.hpp"
#include "garra/core/lanes.hpp"
#include "garra/systems/chain/simulate_adaptive.hpp"
#include "reference.hpp"
#include "same_bits.hpp"

namespace garra::chain {
namespace {

using test::same_bits;

using Json = nlohmann::json;

constexpr double kGravity = 9.81;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Vec3<double> vector3(const Json& a) { return {{a[0].get<double>(), a[1].get<double>(), a[2].get<double>()}}; }

Json read_json(const std::string& file) { return Json::parse(std::ifstream(test::reference_path(file))); }

/// The finger exoskeleton from the reference set's own numbers.
Robot exoskeleton(double gravity = -kGravity) {
  const Json p = read_json("chain/exoskeleton_params.json");
  RobotData data{.name = "exoskeleton"};
  data.gravity = {{0, 0, gravity}};
  std::vector<GrymaJoint> joints(7);
  for (std::size_t i = 0; i < 6; ++i) {
    const Json &from = p["joints"][i], &link = p["links"][i];
    joints[i] = {
        .theta = from["theta"], .d = vector3(from["d"]), .alpha = from["alpha"], .beta = from["beta"], .link = {}};
    joints[i].link.body.mass = link["mass"];
    joints[i].link.body.com = vector3(link["com"]);
    for (int r = 0; r < 3; ++r)
      for (int c = 0; c < 3; ++c)
        joints[i].link.body.inertia(r, c) =
            link["inertia_com"][static_cast<std::size_t>(r)][static_cast<std::size_t>(c)];
  }
  joints[6].d = vector3(p["tool"]["d"]);
  return from_gryma(data, joints);
}

/// A point of mass `mass` that slides along x without gravity.
Robot slider(double mass, double lower = -kNoLimit, double upper = kNoLimit) {
  GeneralJoint joint;
  joint.axis = {{1, 0, 0}};
  joint.link.joint.prismatic = true;
  joint.link.joint.lower = lower;
  joint.link.joint.upper = upper;
  joint.link.body.mass = mass;
  RobotData data{.name = "slider"};
  data.gravity = Vec3<double>::zero();
  return from_joints(data, {joint});
}

/// Points of mass 1 at the ends of rods of length 1, turning about y; q = 0 hangs down.
Robot pendulum(int joints) {
  std::vector<GeneralJoint> all(static_cast<std::size_t>(joints));
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].axis = {{0, 1, 0}};
    if (i > 0) all[i].placement.p = {{0, 0, -1}};
    all[i].link.body.mass = 1;
    all[i].link.body.com = {{0, 0, -1}};
  }
  RobotData data{.name = "pendulum"};
  data.tool.p = {{0, 0, -1}};
  return from_joints(data, all);
}

/// Rigid bodies on axes that point everywhere; every third joint slides.
Robot mixed_chain(int joints) {
  std::vector<DhJoint> all;
  for (int i = 0; i < joints; ++i) {
    DhJoint joint{0.3 * std::sin(i + 1), 0.2 * std::cos(i), 1.4 * std::sin(3 * i + 1), 0.1 * i, {}};
    joint.link.joint.prismatic = i % 3 == 1;
    joint.link.body = {1.5, {{0.1, 0.2 * std::sin(i), -0.1}}, {{0.5, 0, 0, 0, 0.6, 0, 0, 0, 0.7}}};
    joint.link.armature = 0.02;
    joint.link.damping = 0.1;
    all.push_back(joint);
  }
  return from_dh({.name = "mixed", .gravity = {{1, -2, -9}}}, all);
}

/// One of the reference trajectories.
struct Case {
  Robot robot;
  Samples samples;
  TorqueInput torque;
  Json states;
  std::vector<double> times;
};

Case reference_case(const std::string& id) {
  const Json all = read_json("chain/exoskeleton_trajectories.json");
  for (const Json& c : all["cases"]) {
    if (c["id"] != id) continue;
    Case out{exoskeleton(c["gravity_z"]), {}, {}, c["states"], {}};
    out.samples.count = 1;
    out.samples.q = c["states"][0]["q"].get<std::vector<double>>();
    out.samples.qd = c["states"][0]["qd"].get<std::vector<double>>();
    out.samples.damping.assign(6, c["b"].get<double>());
    out.torque.amplitude = c["torque"]["A"].get<std::vector<double>>();
    if (c["torque"]["kind"] == "step_at_0.2") {
      out.torque.kind = TorqueKind::kStep;
      out.torque.start = 0.2;
    }
    for (const Json& s : out.states) out.times.push_back(s["t"]);
    return out;
  }
  throw std::runtime_error("no reference trajectory " + id);
}

Trajectories run(const Case& c, Integrator method, double step_or_tolerance) {
  SimulateOptions o;
  o.method = method;
  o.times = c.times;
  if (method == Integrator::kDopri5)
    o.tolerance = {step_or_tolerance, 0.1 * step_or_tolerance};
  else
    o.step = step_or_tolerance;
  return simulate(c.robot, c.samples, c.torque, o);
}

/// Largest error of q at output k.
double error_at(const Case& c, const Trajectories& t, std::size_t k) {
  double worst = 0;
  for (std::size_t j = 0; j < 6; ++j)
    worst = std::max(worst, std::abs(t.q[k * 6 + j] - c.states[k]["q"][j].get<double>()));
  return worst;
}

double slope(double coarse, double fine, double ratio) { return std::log(coarse / fine) / std::log(ratio); }

TEST(ChainSimulate, FreeFallFollowsTheReferenceWhereItCanBeFollowed) {
  const Case c = reference_case("free_fall_b0");
  const Trajectories t = run(c, Integrator::kDopri5, 1e-12);
  ASSERT_EQ(t.status[0], SimulationStatus::kCompleted);
  const double steps = static_cast<double>(t.steps[0]);
  for (std::size_t k = 0; c.times[k] <= 0.4; ++k)
    EXPECT_LE(error_at(c, t, k), 1e-13 + c.states[k]["growth"].get<double>() * 1e-15 * std::sqrt(steps)) << c.times[k];
  for (std::size_t k = 0; k < c.times.size(); ++k) EXPECT_LE(std::abs(t.balance[k]), 2e-13) << c.times[k];
  EXPECT_NEAR(t.kinetic[0] + t.potential[0], c.states[0]["energy"].get<double>(), 1e-15);
}

TEST(ChainSimulate, RungeKuttaIsOfOrderFourInStateAndEnergy) {
  const Case c = reference_case("free_fall_b0");
  const Trajectories coarse = run(c, Integrator::kRk4, 1e-3), fine = run(c, Integrator::kRk4, 5e-4);
  EXPECT_NEAR(slope(error_at(c, coarse, 1), error_at(c, fine, 1), 2), 4, 0.1);
  EXPECT_NEAR(slope(std::abs(coarse.balance[1]), std::abs(fine.balance[1]), 2), 4, 1.1);
}

TEST(ChainSimulate, FirstOrderImplicitDampingHasTheErrorsOfTheReferenceNotes) {
  const Case c = reference_case("damped_b005");
  const double steps[] = {2e-3, 1e-3, 1e-4}, noted[] = {5.1e-4, 2.5e-4, 2.5e-5};
  for (int k = 0; k < 3; ++k) {
    const Trajectories t = run(c, Integrator::kImplicit1, steps[k]);
    const double error = std::abs(t.end_q[1] - c.states.back()["q"][1].get<double>());
    EXPECT_NEAR(error / noted[k], 1, 0.05) << steps[k];
  }
}

TEST(ChainSimulate, SecondOrderImplicitDamping) {
  const Case smooth = reference_case("step_torque_b001");
  double before = 0;
  for (const double h : {2e-3, 1e-3, 5e-4, 2.5e-4}) {
    const double error = error_at(smooth, run(smooth, Integrator::kImplicit2, h), 10);
    if (before > 0) {
      EXPECT_NEAR(slope(before, error, 2), 2, 0.12) << h;
    }
    before = error;
  }
  EXPECT_LT(before, 3e-7);
  const Case stiff = reference_case("damped_b005");  // h times the fastest rate: 330, 165, 16
  EXPECT_LT(error_at(stiff, run(stiff, Integrator::kImplicit2, 2e-3), 10), 4e-5);
  EXPECT_LT(error_at(stiff, run(stiff, Integrator::kImplicit2, 1e-3), 10), 1.2e-5);
  EXPECT_LT(error_at(stiff, run(stiff, Integrator::kImplicit2, 1e-4), 10), 6e-8);
}

TEST(ChainSimulate, EnergyBalanceOfTheImplicitMethodsHasTheirOrder) {
  const Case c = reference_case("step_torque_b001");
  for (const auto& [method, order] : {std::pair{Integrator::kImplicit1, 1.0}, {Integrator::kImplicit2, 2.0}}) {
    const Trajectories coarse = run(c, method, 2e-4), fine = run(c, method, 1e-4);
    EXPECT_NEAR(slope(std::abs(coarse.worst_balance[0]), std::abs(fine.worst_balance[0]), 2), order, 0.15 * order);
    for (std::size_t k = 0; k < c.times.size(); ++k) {
      EXPECT_NEAR(fine.dissipated[k], c.states[k]["dissipated"].get<double>(), 2e-5);
      EXPECT_NEAR(fine.work[k], c.states[k]["input_work"].get<double>(), 2e-5);
    }
  }
}

TEST(ChainSimulate, AdaptiveStepsFollowTheDampedReferences) {
  for (const char* id : {"damped_b005", "step_torque_b001"}) {
    const Case c = reference_case(id);
    const Trajectories t = run(c, Integrator::kDopri5, 1e-9);
    ASSERT_EQ(t.status[0], SimulationStatus::kCompleted);
    for (std::size_t k = 0; k < c.times.size(); ++k) {
      EXPECT_LE(error_at(c, t, k), 1e-12) << id << c.times[k];
      EXPECT_LE(std::abs(t.balance[k]), 1e-13) << id << c.times[k];
    }
  }
}

/// Largest eigenvalue of H^-1 at a state, by power iteration.
double largest_rate(const Robot& robot, const std::vector<double>& q) {
  const Model<double, 6> m = make_model<6>(robot);
  Vec<double, 6> at, v;
  for (int j = 0; j < 6; ++j) {
    at[j] = q[static_cast<std::size_t>(j)];
    v[j] = 1 + 0.1 * j;
  }
  const auto H = inertia_matrix(m, angles(m, at));
  double rate = 0;
  for (int k = 0; k < 200; ++k) {
    v = kernel::solve_definite(H, v);
    rate = norm(v);
    v = (1 / rate) * v;
  }
  return rate;
}

TEST(ChainSimulate, RungeKuttaFailsWithAStatusBeyondItsStabilityBound) {
  const Case c = reference_case("free_fall_b0");
  for (const double b : {0.001, 0.01, 0.05, 0.1}) {
    Samples s = c.samples;
    s.damping.assign(6, b);
    const double bound = 2.785 / (b * largest_rate(c.robot, s.q));  // end of the stability interval of RK4
    for (const double share : {0.9, 1.2}) {
      SimulateOptions o;
      o.method = Integrator::kRk4;
      o.step = share * bound;
      o.duration = 1000 * bound;
      o.times = {o.duration};
      const Trajectories t = simulate(c.robot, s, {}, o);
      EXPECT_EQ(t.status[0], share < 1 ? SimulationStatus::kCompleted : SimulationStatus::kNonFinite) << b;
      for (const double q : t.end_q) EXPECT_TRUE(std::isfinite(q));
      EXPECT_EQ(std::isnan(t.q[0]), share > 1);
      EXPECT_EQ(t.end_time[0]<o.duration, share> 1);
    }
  }
}

// Closed forms.

TEST(ChainSimulate, PendulumSwingsWithTheExactPeriod) {
  const double start = 2;
  double a = 1, b = std::cos(start / 2);  // period 2 pi sqrt(l / g) / agm(1, cos(start / 2))
  for (int k = 0; k < 10; ++k) {
    const double mean = 0.5 * (a + b);
    b = std::sqrt(a * b);
    a = mean;
  }
  const double period = 2 * M_PI / std::sqrt(kGravity) / a;
  SimulateOptions o;
  o.method = Integrator::kDopri5;
  o.tolerance = {1e-12, 1e-13};
  o.duration = period;
  o.times = {0.25 * period, 0.5 * period, period};
  const Trajectories t = simulate(pendulum(1), {1, {start}}, {}, o);
  EXPECT_NEAR(t.q[0], 0, 1e-10);
  EXPECT_NEAR(t.q[1], -start, 1e-10);
  EXPECT_NEAR(t.q[2], start, 1e-10);
  EXPECT_NEAR(t.qd[0], -std::sqrt(2 * kGravity * (1 - std::cos(start))), 1e-10);
  EXPECT_NEAR(t.tip[2 * 3 + 2], -std::cos(start), 1e-10);
  EXPECT_NEAR(t.kinetic[0], kGravity * (1 - std::cos(start)), 1e-9);
}

TEST(ChainSimulate, DampedSliderDecaysAndBooksItsEnergy) {
  const double m = 2, b = 3, v = 1.5, duration = 0.7;
  const Samples s{1, {0}, {v}, {b}};
  const double left = std::exp(-b * duration / m);
  for (const auto& [method, tolerance] : {std::pair{Integrator::kRk4, 1e-11},
                                          {Integrator::kDopri5, 1e-8},
                                          {Integrator::kImplicit1, 2e-3},
                                          {Integrator::kImplicit2, 1e-6}}) {
    SimulateOptions o;
    o.method = method;
    o.duration = duration;
    const Trajectories t = simulate(slider(m), s, {}, o);
    EXPECT_NEAR(t.end_qd[0], v * left, tolerance);
    EXPECT_NEAR(t.end_q[0], v * m / b * (1 - left), tolerance);
    EXPECT_NEAR(t.end_dissipated[0], 0.5 * m * v * v * (1 - left * left), 3 * tolerance);
    EXPECT_EQ(t.peak_speed[0], v);
  }
}

/// Distance that a point of mass 1 has gone at t = 1 under a torque, from rest.
double distance(const TorqueInput& torque, Integrator method, double tolerance) {
  SimulateOptions o;
  o.method = method;
  o.step = 0.0077;  // divides nothing here
  const Trajectories t = simulate(slider(1), {1, {0}}, torque, o);
  EXPECT_NEAR(t.end_balance[0], 0, tolerance);
  return t.end_q[0];
}

TEST(ChainSimulate, TorquesOfTimeMoveASliderAsIntegratedByHand) {
  TorqueInput constant{.amplitude = {3}};
  TorqueInput step{.kind = TorqueKind::kStep, .amplitude = {3}, .start = 0.303};
  TorqueInput ramp{.kind = TorqueKind::kRamp, .amplitude = {3}, .start = 0.2, .end = 0.5};
  TorqueInput sine{.kind = TorqueKind::kSine, .amplitude = {3}, .frequency = {1.5}, .phase = {0.3}};
  TorqueInput sampled{.kind = TorqueKind::kSampled, .points = {0, 2, -1}, .interval = 0.4};
  const double w = 3 * M_PI;
  for (const Integrator method : {Integrator::kRk4, Integrator::kDopri5, Integrator::kImplicit2}) {
    const double tolerance = method == Integrator::kImplicit2 ? 4e-4 : 1e-8;
    const auto gone = [&](const TorqueInput& torque) { return distance(torque, method, 10 * tolerance); };
    EXPECT_NEAR(gone(constant), 1.5, tolerance);
    EXPECT_NEAR(gone(step), 1.5 * 0.697 * 0.697, tolerance);
    // Ramp of length L to A, then A for T: A L^2 / 6 + A L T / 2 + A T^2 / 2.
    EXPECT_NEAR(gone(ramp), 3 * (0.09 / 6 + 0.3 * 0.5 / 2 + 0.125), tolerance);
    EXPECT_NEAR(gone(sine), 3 / w * (std::cos(0.3) - (std::sin(w + 0.3) - std::sin(0.3)) / w), tolerance);
    // Three pieces, each v' += (a + b) dt / 2 and x' += v dt + (2 a + b) dt^2 / 6.
    const double x1 = 2 * 0.16 / 6, v1 = 0.4, x2 = x1 + v1 * 0.4 + 3 * 0.16 / 6, v2 = v1 + 0.2;
    EXPECT_NEAR(gone(sampled), x2 + v2 * 0.2 - 0.5 * 0.04, tolerance);
  }
}

TEST(ChainSimulate, ComputedTorqueMakesEveryJointAnOscillatorOfItsOwn) {
  const double w = 20;  // critically damped: e (1 + w t) exp(-w t)
  TorqueInput torque{
      .kind = TorqueKind::kComputed, .set_point = {0.4, -0.1, 0.2, 0, 0.3, -0.2}, .kp = {w * w}, .kd = {2 * w}};
  Samples s{1, {0.1, -0.2, 0.3, 0.2, -0.1, 0.15}, {}, {0.01}};
  s.damping.assign(6, 0.01);
  SimulateOptions o;
  o.duration = 0.3;
  o.times = {0.1, 0.3};
  for (const auto& [method, tolerance] : {std::pair{Integrator::kDopri5, 1e-7}, {Integrator::kImplicit2, 2e-3}}) {
    o.method = method;
    const Trajectories t = simulate(exoskeleton(), s, torque, o);
    for (std::size_t k = 0; k < 2; ++k)
      for (std::size_t j = 0; j < 6; ++j) {
        const double left = (1 + w * o.times[k]) * std::exp(-w * o.times[k]);
        EXPECT_NEAR(t.q[k * 6 + j], torque.set_point[j] + left * (s.q[j] - torque.set_point[j]), tolerance);
      }
  }
}

TEST(ChainSimulate, PdControlSettlesAtTheSetPointAndSaysWhen) {
  TorqueInput torque{.kind = TorqueKind::kPd,
                     .set_point = {0.4, -0.1, 0.2, 0, 0.3, -0.2},
                     .kp = {2},
                     .kd = {0.05},
                     .compensate_gravity = true};
  Samples s{1, {0.1, -0.2, 0.3, 0.2, -0.1, 0.15}};
  s.damping.assign(6, 0.01);
  SimulateOptions o;
  o.duration = 2;
  for (int k = 0; k <= 2000; ++k) o.times.push_back(k * 1e-3);
  const Trajectories t = simulate(exoskeleton(), s, torque, o);
  ASSERT_EQ(t.status[0], SimulationStatus::kCompleted);
  for (std::size_t j = 0; j < 6; ++j) EXPECT_NEAR(t.end_q[j], torque.set_point[j], 1e-6);
  double last = 0;  // from the outputs, which are at every step
  for (std::size_t k = 0; k < o.times.size(); ++k)
    for (std::size_t j = 0; j < 6; ++j)
      if (std::abs(t.qd[k * 6 + j]) > o.settle_speed || std::abs(t.q[k * 6 + j] - torque.set_point[j]) > o.settle_band)
        last = o.times[k];
  EXPECT_GT(t.settling_time[0], last);  // within the step that comes to rest
  EXPECT_LT(t.settling_time[0], last + 1e-3);
  EXPECT_GT(last, 0);
  torque.limit = {0.02};
  const Trajectories weak = simulate(exoskeleton(), s, torque, o);
  for (const double peak : weak.peak_torque) EXPECT_LE(peak, 0.02);
  EXPECT_TRUE(std::isinf(weak.settling_time[0]));  // too weak to hold the first joint against gravity
}

TEST(ChainSimulate, TorquesThatPressAJointAgainstItsStopDoNoWork) {
  const Robot slide = slider(1, -0.1, 0.3);
  SimulateOptions o{.duration = 2, .limits = LimitRule::kStop};
  const TorqueInput torque{.kind = TorqueKind::kConstant};
  Samples s{2, {-0.1, 0.1}};
  s.amplitude = {-50, -50};
  for (const Integrator method :
       {Integrator::kRk4, Integrator::kDopri5, Integrator::kImplicit1, Integrator::kImplicit2}) {
    o.method = method;
    const Trajectories t = simulate(slide, s, torque, o);
    EXPECT_NEAR(t.end_q[0], -0.1, 1e-15);
    EXPECT_NEAR(t.end_work[0], 0, 1e-9) << to_string(method);
    EXPECT_NEAR(t.end_stop_loss[0], 0, 1e-9) << to_string(method);
    // The second one goes 0.2 m, and the stop takes all that the torque gave it.
    EXPECT_NEAR(t.end_work[1], 10, 1e-6) << to_string(method);
    EXPECT_NEAR(t.end_stop_loss[1], 10, method == Integrator::kImplicit1 ? 0.2 : 0.05) << to_string(method);
  }
}

TEST(ChainSimulate, AStartBeyondALimitMeansTheSameToEveryMethod) {
  const Robot slide = slider(1, -0.1, 0.3);
  const Samples s{1, {0.5}};
  for (const Integrator method : {Integrator::kRk4, Integrator::kDopri5, Integrator::kImplicit2}) {
    SimulateOptions o{.method = method, .duration = 0.1, .limits = LimitRule::kFinish};
    const Trajectories ended = simulate(slide, s, {}, o);
    EXPECT_EQ(ended.status[0], SimulationStatus::kJointLimit) << to_string(method);
    EXPECT_EQ(ended.end_time[0], 0);
    o.limits = LimitRule::kStop;
    const Trajectories stopped = simulate(slide, s, {}, o);
    EXPECT_EQ(stopped.status[0], SimulationStatus::kCompleted) << to_string(method);
    EXPECT_EQ(stopped.end_q[0], 0.3);
  }
}

TEST(ChainSimulate, SettlingTimesOfLongStepsAreThoseOfTheClosedForm) {
  // A damped slide: v = exp(-d t / m) falls to the speed asked for at t = -m / d log(speed).
  const Robot slide = slider(2);
  Samples s{64, std::vector<double>(64, 0.0)};
  s.qd.assign(64, 1.0);
  for (int i = 0; i < 64; ++i) s.damping.push_back(2 + 0.15 * i);
  SimulateOptions o{.duration = 4, .settle_speed = 0.05};
  for (const Integrator method : {Integrator::kDopri5, Integrator::kRk4, Integrator::kImplicit2}) {
    o.method = method;
    o.step = 0.01;
    const Trajectories t = simulate(slide, s, {}, o);
    for (std::size_t i = 0; i < 64; ++i)
      EXPECT_NEAR(t.settling_time[i], -2 / s.damping[i] * std::log(0.05), method == Integrator::kDopri5 ? 1e-4 : 2e-4)
          << i;
  }
}

TEST(ChainSimulate, TheFirstAdaptiveStepIsAHundredthOfTheTimeInWhichTheStateChangesByItsSize) {
  const Tolerance tolerance{1e-6, 1e-9};
  const Motion<double, 3> at{{{0.5, -1, 2}}, {{-3, 0.25, 1}}};
  const Vec<double, 3> qdd = {{10, -20, 5}};
  double size = 0, speed = 0;  // both over what the tolerance allows of each number
  for (int i = 0; i < 3; ++i) {
    const double q = 1e-6 * std::abs(at.q[i]) + 1e-9, qd = 1e-6 * std::abs(at.qd[i]) + 1e-9;
    size += std::pow(at.q[i] / q, 2) + std::pow(at.qd[i] / qd, 2);
    speed += std::pow(at.qd[i] / q, 2) + std::pow(qdd[i] / qd, 2);
  }
  EXPECT_NEAR((first_step<double, 3>(tolerance, at, qdd)), 0.01 * std::sqrt(size / speed), 1e-14);
  const Motion<double, 3> rest{Vec<double, 3>::zero(), Vec<double, 3>::zero()};
  EXPECT_EQ((first_step<double, 3>(tolerance, rest, qdd)), 1e-6);
}

// Limits.

TEST(ChainSimulate, InelasticStopTakesTheEnergyAndHolds) {
  const TorqueInput push{.amplitude = {3}};
  for (const Integrator method : {Integrator::kRk4, Integrator::kDopri5, Integrator::kImplicit2}) {
    SimulateOptions o;
    o.method = method;
    o.limits = LimitRule::kStop;
    const Trajectories t = simulate(slider(2, -1, 0.1), {1, {0}}, push, o);
    EXPECT_EQ(t.status[0], SimulationStatus::kCompleted);
    EXPECT_NEAR(t.end_q[0], 0.1, 1e-4);
    EXPECT_LE(t.end_q[0], 0.1);
    // Force times way, 0.3; and the force times what each later step goes beyond the stop before it is put back.
    const double beyond = method == Integrator::kDopri5 ? o.limit_tolerance : 0.5 * 1.5 * o.step * o.step;
    const double impact = method == Integrator::kDopri5 ? o.limit_tolerance : std::sqrt(2 * 1.5 * 0.1) * o.step;
    EXPECT_GE(t.end_stop_loss[0], 0.3);
    EXPECT_LE(t.end_stop_loss[0], 0.3 + 3 * (impact + static_cast<double>(t.steps[0]) * beyond));
    EXPECT_NEAR(t.end_balance[0], 0, 1e-12);
    o.limits = LimitRule::kFinish;
    const Trajectories ended = simulate(slider(2, -1, 0.1), {1, {0}}, push, o);
    EXPECT_EQ(ended.status[0], SimulationStatus::kJointLimit);
    EXPECT_NEAR(ended.end_time[0], std::sqrt(2 * 0.1 * 2 / 3.0), 1.1e-3);
  }
}

TEST(ChainSimulate, StopsOfAChainNeverAddEnergy) {
  Robot robot = pendulum(3);
  for (Joint& j : robot.joint) {
    j.lower = -0.5;
    j.upper = 1;
  }
  SimulateOptions o;
  o.method = Integrator::kRk4;
  o.limits = LimitRule::kStop;
  o.duration = 5;
  for (int k = 0; k <= 500; ++k) o.times.push_back(k * 1e-2);
  const Trajectories t = simulate(robot, {1, {0.9, 0.9, -0.4}}, {}, o);
  ASSERT_EQ(t.status[0], SimulationStatus::kCompleted);
  for (std::size_t k = 0; k < t.q.size(); ++k) {
    EXPECT_GE(t.q[k], -0.5);
    EXPECT_LE(t.q[k], 1);
  }
  EXPECT_GT(t.end_stop_loss[0], 1);
  EXPECT_LE(t.worst_balance[0], 1e-6);
  // A clipped position may be a little higher than where it was: h times a speed, not more.
  for (std::size_t k = 1; k < t.stop_loss.size(); ++k) EXPECT_GE(t.stop_loss[k], t.stop_loss[k - 1] - 0.1) << k;
}

// Executors and batches.

Samples random_samples(std::int64_t count, int joints, bool own_chains) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> u(-1, 1);
  const auto n = static_cast<std::size_t>(count), j = static_cast<std::size_t>(joints);
  Samples s;
  s.count = count;
  for (std::size_t k = 0; k < n * j; ++k) {
    s.q.push_back(u(random));
    s.qd.push_back(u(random));
    s.damping.push_back(0.01 * (1 + u(random)));
  }
  if (!own_chains) return s;
  for (const Quantity quantity : {Quantity::kMass, Quantity::kA}) {
    Parameter p{1, quantity, Change::kScale, {}};
    for (std::size_t k = 0; k < n; ++k) p.value.push_back(1 + 0.1 * u(random));
    s.parameters.push_back(p);
  }
  return s;
}

TEST(ChainSimulate, EveryExecutorAgreesBitForBit) {
  const Robot finger = exoskeleton(), three = pendulum(3);
  for (const Integrator method :
       {Integrator::kRk4, Integrator::kDopri5, Integrator::kImplicit1, Integrator::kImplicit2})
    for (const std::int64_t count : {0, 1, kWidth<Lanes<double>>, kWidth<Lanes<double>> + 1, 300})
      for (int kind = 0; kind < 7; ++kind) {
        const bool finger_now = kind % 2 == 0;
        const Robot& robot = finger_now ? finger : three;
        if (count == 300 && kind > 1) continue;
        const Samples s = random_samples(count, robot.joints, kind % 3 == 0);
        TorqueInput torque{.kind = static_cast<TorqueKind>(kind),
                           .amplitude = {kind < 4 ? 0.01 : 1},
                           .start = 0.003,
                           .end = 0.01,
                           .frequency = {30},
                           .phase = {0.2},
                           .interval = 0.005,
                           .set_point = {0.1},
                           .kp = {1},
                           .kd = {0.01},
                           .compensate_gravity = true};
        if (kind == 4) torque.points.assign(static_cast<std::size_t>(3 * robot.joints), 0.02);
        if (kind == 5) torque.limit = {0.05};
        SimulateOptions o;
        o.method = method;
        o.duration = 0.02;
        o.times = {0, 0.0071, 0.02};
        o.step = finger_now && method == Integrator::kRk4 ? 5e-5 : 1e-3;
        o.tolerance = {1e-6, 1e-8};
        SCOPED_TRACE(std::string(to_string(method)) + " " + to_string(torque.kind) + " " + std::to_string(count));
        // A simulated GPU takes a minute for hundreds of trajectories.
        const bool few = count <= 1 || (count <= kWidth<Lanes<double>> && kind > 4);
        test::expect_same_on(few ? test::other_executors() : test::other_host_executors(), [&](const Device& device) {
          return test::make_answer(simulate(robot, s, torque, o, device));
        });
        for (const SimulationStatus status : simulate(robot, s, torque, o).status)
          EXPECT_EQ(status, SimulationStatus::kCompleted);
      }
}

// nvcc 13.0 gave NaN for computed torques of nine and more joints (docs/howto/gpu.md).
TEST(ChainSimulate, ControlledChainsOfNineAndMoreJointsAgreeBitForBitAndFollowTheirLaw) {
  const double w = 20;  // critically damped: e(t) = (e + (v + w e) t) exp(-w t)
  for (const int joints : {9, 16}) {
    const Robot robot = mixed_chain(joints);
    Samples s = random_samples(3, joints, false);
    s.damping.clear();  // the robot's, which the law takes away
    for (const Integrator method :
         {Integrator::kRk4, Integrator::kDopri5, Integrator::kImplicit1, Integrator::kImplicit2})
      for (const TorqueKind kind : {TorqueKind::kPd, TorqueKind::kComputed}) {
        SCOPED_TRACE(std::to_string(joints) + " joints " + to_string(method) + " " + to_string(kind));
        const TorqueInput torque{
            .kind = kind, .set_point = {0.1}, .kp = {w * w}, .kd = {2 * w}, .compensate_gravity = true};
        SimulateOptions o;
        o.method = method;
        o.duration = 0.02;
        o.times = {0, 0.0071, 0.02};
        o.step = 1e-3;
        o.tolerance = {1e-8, 1e-10};
        test::expect_same_on_every_executor(
            [&](const Device& device) { return test::make_answer(simulate(robot, s, torque, o, device)); });
        if (kind != TorqueKind::kComputed || method == Integrator::kImplicit1) continue;  // of first order
        const Trajectories t = simulate(robot, s, torque, o);
        const double time = o.duration, tolerance = method == Integrator::kImplicit2 ? 2e-3 : 1e-6;
        for (std::size_t k = 0; k < s.q.size(); ++k) {
          const double e = s.q[k] - 0.1, left = (e + (s.qd[k] + w * e) * time) * std::exp(-w * time);
          EXPECT_NEAR(t.end_q[k], 0.1 + left, tolerance) << k;
        }
      }
  }
}

TEST(ChainSimulate, ABadSampleTouchesNoOther) {
  const Robot robot = exoskeleton();
  for (const Integrator method : {Integrator::kRk4, Integrator::kDopri5, Integrator::kImplicit2}) {
    SimulateOptions o;
    o.method = method;
    o.duration = 0.02;
    o.times = {0.01};
    o.step = method == Integrator::kRk4 ? 1e-4 : 1e-3;
    const Samples good = random_samples(20, 6, false);
    Samples bad = good;
    bad.q[5 * 6 + 2] = kNan;
    bad.damping[7 * 6 + 1] = 1e3;  // RK4 blows up; adaptive steps run out
    o.max_steps = 2000;
    const Trajectories a = simulate(robot, good, {}, o), b = simulate(robot, bad, {}, o);
    EXPECT_EQ(b.status[5], SimulationStatus::kInvalidInput);
    EXPECT_TRUE(std::isnan(b.q[5 * 6]));
    const SimulationStatus lost = method == Integrator::kRk4      ? SimulationStatus::kNonFinite
                                  : method == Integrator::kDopri5 ? SimulationStatus::kStepLimit
                                                                  : SimulationStatus::kCompleted;
    EXPECT_EQ(b.status[7], lost);
    for (std::size_t i = 0; i < 20; ++i) {
      if (i == 5 || i == 7) continue;
      EXPECT_EQ(b.status[i], SimulationStatus::kCompleted);
      EXPECT_EQ(std::memcmp(&a.q[i * 6], &b.q[i * 6], 6 * sizeof(double)), 0) << i;
      EXPECT_EQ(std::memcmp(&a.end_qd[i * 6], &b.end_qd[i * 6], 6 * sizeof(double)), 0) << i;
    }
  }
}

TEST(ChainSimulate, AChainOfItsOwnIsTheSameAsAChangedRobot) {
  Robot robot = exoskeleton();
  Samples s = random_samples(1, 6, false);
  SimulateOptions o;
  o.duration = 0.1;
  Robot heavier = robot;
  heavier.form[2].mass *= 1.3;
  heavier.form[2].first = 1.3 * heavier.form[2].first;
  for (double* v : {&heavier.form[2].xx, &heavier.form[2].yy, &heavier.form[2].zz, &heavier.form[2].xy,
                    &heavier.form[2].xz, &heavier.form[2].yz})
    *v *= 1.3;
  const Trajectories expected = simulate(heavier, s, {}, o);
  s.parameters = {{2, Quantity::kMass, Change::kScale, {1.3}}};
  const Trajectories got = simulate(robot, s, {}, o), plain = simulate(robot, random_samples(1, 6, false), {}, o);
  for (std::size_t j = 0; j < 6; ++j) {
    EXPECT_NEAR(got.end_q[j], expected.end_q[j], 1e-12);
    EXPECT_GT(std::abs(got.end_q[j] - plain.end_q[j]), 1e-7);
  }
}

TEST(ChainSimulate, RefusesWhatMakesNoSense) {
  const Robot robot = slider(1);
  const auto fails = [&](const Samples& s, const TorqueInput& t, const SimulateOptions& o) {
    EXPECT_THROW(static_cast<void>(simulate(robot, s, t, o)), Error);
  };
  const Samples one{1, {0}};
  fails({1, {0, 1}}, {}, {});
  fails({2, {0}}, {}, {});
  fails({1, {0}, {}, {1, 2}}, {}, {});
  fails(one, {.amplitude = {1, 2}}, {});
  fails(one, {.kind = TorqueKind::kRamp, .start = 1, .end = 1}, {});
  fails(one, {.kind = TorqueKind::kSampled}, {});
  fails(one, {.limit = {-1}}, {});
  fails(one, {}, {.step = 0});
  fails(one, {}, {.duration = kNan});
  fails(one, {}, {.times = {0.5, 0.4}});
  fails(one, {}, {.times = {2}});
  EXPECT_THROW(static_cast<void>(parse_integrator("euler")), Error);
}

}  // namespace
}  // namespace garra::chain
