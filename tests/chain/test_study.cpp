// Chain studies against closed forms: a damped slider under a PD law, whose settling times and probabilities are known.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>

#include "chain/study/chain_study.hpp"
#include "garra/chain_eval.hpp"
#include "study_answer.hpp"

namespace garra::chain {
namespace {

using Json = nlohmann::json;
using study::Distribution;

constexpr double kStep = 5e-4;   // [s]
constexpr double kWithin = 0.5;  // [s]
constexpr double kBand = 0.01;   // [m]
constexpr double kStiffness = 16, kDamping = 10;

/// A mass of 1 kg that slides along x without gravity.
Robot slider() {
  GeneralJoint joint;
  joint.axis = {{1, 0, 0}};
  joint.link.joint.prismatic = true;
  joint.link.body.mass = 1;
  RobotData data{.name = "slider"};
  data.gravity = Vec3<double>::zero();
  return from_joints(data, {joint});
}

JointInputs same_for_all(const Distribution& d, int joints = 1) {
  return {std::vector<Distribution>(static_cast<std::size_t>(joints), d), true};
}

/// A PD law pulls the slider to 0; only its place decides.
Design pulled_slider(double damping = kDamping) {
  Design d;
  d.q = same_for_all(Distribution::uniform(0.012, 0.04));
  d.qd = same_for_all(Distribution::constant(0));
  d.damping = same_for_all(Distribution::constant(damping));
  d.torque.kind = TorqueKind::kPd;
  d.torque.amplitude = {1};
  d.torque.set_point = {0};
  d.torque.kp = {kStiffness};
  d.torque.kd = {0};
  d.options.step = kStep;
  d.options.duration = 1;
  d.options.settle_speed = 100;
  d.options.settle_band = kBand;
  d.within = kWithin;
  d.outputs = 11;
  return d;
}

Scenario make_uncertainty(const Robot& robot, const std::vector<Design>& designs, std::int64_t samples) {
  Scenario s;
  s.robot = robot;
  s.designs = designs;
  s.sweep = {{"some.key", "", "list", {}}};
  for (std::size_t d = 0; d < designs.size(); ++d) {
    s.sweep[0].values.push_back(static_cast<double>(d));
    s.designs[d].values = {static_cast<double>(d)};
  }
  s.plan.samples = samples * static_cast<std::int64_t>(designs.size());
  s.plan.chunk = 4 * study::kBlock;
  s.plan.keep = "all";
  return s;
}

study::Total run(const Study& study, const Device& device = {}, std::int64_t chunk = 4 * study::kBlock) {
  study::Total total{};
  const std::int64_t samples = study.plan().samples;
  for (std::int64_t i = 0; i < samples; i += chunk) {
    const study::Tally t = study.run(i, std::min(chunk, samples - i), device);
    total.add(t, study.shape());
    total.kept.insert(total.kept.end(), t.kept.begin(), t.kept.end());
  }
  return total;
}

/// Column `name` of the kept rows.
std::vector<double> column(const Study& study, const study::Total& total, const std::string& name,
                           std::size_t item = 0) {
  std::vector<double> out;
  for (const study::RowColumn& c : study.columns()) {
    if (c.name != name) continue;
    for (std::size_t at = 0; at < total.kept.size(); at += study.shape().row)
      out.push_back(total.kept[at + c.first + item]);
  }
  return out;
}

/// m x'' + b x' + k x = 0 with x(0) = 1, x'(0) = 0 and two real rates: x at t.
double overdamped(double m, double b, double k, double t) {
  const double root = std::sqrt(b * b - 4 * m * k), fast = (-b - root) / (2 * m), slow = (-b + root) / (2 * m);
  return (fast * std::exp(slow * t) - slow * std::exp(fast * t)) / (fast - slow);
}

TEST(ChainStudy, SettledIsWhatTheClosedFormSaysOfEverySample) {
  Design design = pulled_slider();
  design.mass = Distribution::normal(1, 0.1).truncated(0.5, 1.5);
  const Study study(make_uncertainty(slider(), {design}, 4096));
  const study::Total total = run(study);
  const auto x0 = column(study, total, "inputs", 0), mass = column(study, total, "inputs", 1);
  const auto outcome = column(study, total, "outcome"), time = column(study, total, "settling_time");
  ASSERT_EQ(x0.size(), 4096u);
  int settled = 0;
  for (std::size_t i = 0; i < x0.size(); ++i) {
    ASSERT_NEAR(x0[i], 0.026, 0.014);
    ASSERT_TRUE(std::isfinite(time[i]));
    // At the settling time the slider enters the band.
    ASSERT_NEAR(x0[i] * overdamped(mass[i], kDamping, kStiffness, time[i]), kBand, 2e-3 * kBand) << i;
    const double at_limit = x0[i] * overdamped(mass[i], kDamping, kStiffness, kWithin);
    if (std::abs(at_limit / kBand - 1) < 2e-3) continue;  // decided by the last step
    ASSERT_EQ(outcome[i] == 0, at_limit < kBand) << i;
    ++settled;
  }
  EXPECT_GT(settled, 4050);  // few lie so near
}

TEST(ChainStudy, ProbabilityIsThatOfTheClosedForm) {
  constexpr std::int64_t n = 16384;
  const Study study(make_uncertainty(slider(), {pulled_slider()}, n));
  const study::Total total = run(study);
  const double edge = kBand / overdamped(1, kDamping, kStiffness, kWithin);
  const double p = (edge - 0.012) / (0.04 - 0.012);
  ASSERT_GT(p, 0.05);
  ASSERT_LT(p, 0.95);
  const study::Estimate e = study.estimate(total);
  // Four standard deviations of a binomial, and the share of starts that one step decides.
  EXPECT_NEAR(e.probability, p, 4 * std::sqrt(p * (1 - p) / n) + 1e-3);
  EXPECT_LT(e.interval.low, e.probability);
  EXPECT_GT(e.interval.high, e.probability);
  // The torque is largest at the start.
  const auto x0 = column(study, total, "inputs"), torque = column(study, total, "peak_torque");
  for (std::size_t i = 0; i < x0.size(); ++i) ASSERT_NEAR(torque[i], kStiffness * x0[i], 1e-3 * kStiffness * x0[i]);
}

TEST(ChainStudy, EnergyGoesWhereItBelongs) {
  const Study study(make_uncertainty(slider(), {pulled_slider()}, 1024));
  const study::Total total = run(study);
  const auto work = column(study, total, "work"), lost = column(study, total, "dissipated"),
             x0 = column(study, total, "inputs");
  for (std::size_t i = 0; i < work.size(); ++i) {
    // The spring's work is what its potential has lost; all but nothing of it is dissipated by t = 1.
    const double end = x0[i] * overdamped(1, kDamping, kStiffness, 1);
    ASSERT_NEAR(work[i], 0.5 * kStiffness * (x0[i] * x0[i] - end * end), 1e-6);
    ASSERT_LT(lost[i], work[i]);
  }
  for (const auto& e : total.worst.list()) EXPECT_LT(std::abs(e.value), 1e-6);
}

/// Three joints, gravity, everything uncertain, stiff enough to be interesting.
Scenario shaken_arm(std::int64_t samples, TorqueKind kind = TorqueKind::kPd) {
  std::vector<DhJoint> joints(3);
  for (DhJoint& j : joints) {
    j.a = 0.2;
    j.link.body.mass = 0.4;
    j.link.body.com = {{-0.1, 0.01, 0}};
    for (int k = 0; k < 3; ++k) j.link.body.inertia(k, k) = 1e-3;
    j.link.damping = 0.05;
  }
  joints[0].alpha = M_PI / 2;
  const Robot robot = from_dh({.name = "arm"}, joints);
  std::vector<Design> designs;
  for (const double kp : {5.0, 20.0, 80.0}) {
    Design d;
    d.q = {{Distribution::normal(0.3, 0.1), Distribution::uniform(-0.2, 0.2), Distribution::constant(0.1)}, false};
    d.qd = same_for_all(Distribution::normal(0, 0.3), 3);
    d.damping = same_for_all(Distribution::uniform(0.2, 0.5), 3);
    d.mass = Distribution::normal(1, 0.05);
    d.size = Distribution::normal(1, 0.03);
    d.amplitude = Distribution::uniform(0.9, 1.1);
    d.torque.kind = kind;
    d.torque.compensate_gravity = true;
    d.torque.amplitude = {1, 1, 1};
    d.torque.set_point = {0.2, 0, 0};
    d.torque.kp = {kp, kp, kp};
    d.torque.kd =
        std::vector<double>(3, kind == TorqueKind::kPd ? 0.1 : 30);  // more than it may mistake the damping for
    d.options.step = 2e-3;
    d.options.duration = 0.6;
    d.options.settle_speed = 0.3;
    d.options.settle_band = 0.1;
    d.within = 0.5;
    d.outputs = 7;
    designs.push_back(d);
  }
  return make_uncertainty(robot, designs, samples);
}

TEST(ChainStudy, ThreadsExecutorsAndChunksChangeNoBit) {
  for (const TorqueKind kind : {TorqueKind::kPd, TorqueKind::kComputed}) {
    // No whole number of blocks or lanes; few where a simulated GPU is among the executors.
    test::expect_study_same_on(test::other_host_executors(), Study(shaken_arm(683, kind)),
                               {study::kBlock, 4 * study::kBlock});
    test::expect_study_same_on(test::other_executors(), Study(shaken_arm(7, kind)), {study::kBlock});
  }
}

TEST(ChainStudy, ASampleHasTheSameRandomNumbersInEveryDesign) {
  const Study study(shaken_arm(200));
  const study::Total total = run(study);
  const auto index = column(study, total, "index"), design = column(study, total, "design");
  ASSERT_EQ(index.size(), 600u);
  ASSERT_EQ(study.inputs().size(), 2u + 1 + 1 + 3);  // two joints' q, qd and damping in common, three factors
  for (std::size_t k = 0; k < study.inputs().size(); ++k) {
    const auto x = column(study, total, "inputs", k);
    for (std::size_t i = 0; i < x.size(); ++i) {
      ASSERT_EQ(static_cast<double>(i), index[i]);
      ASSERT_EQ(design[i], static_cast<double>(i % 3));
      ASSERT_EQ(x[i], x[i - i % 3]) << study.inputs()[k].name;
      if (i >= 3) {
        ASSERT_NE(x[i], x[i - 3]);
      }
    }
  }
}

TEST(ChainStudy, AnInputThatIsUncertainInOneDesignOnlyLeavesTheOthersTheirNumbers) {
  Scenario s = shaken_arm(100);
  const Study whole(s);
  s.designs[1].mass = Distribution::constant(1);
  s.designs[1].q.value[0] = Distribution::constant(0.3);
  const Study part(s);
  const study::Total a = run(whole), b = run(part);
  for (std::size_t k = 0; k < whole.inputs().size(); ++k) {
    const auto x = column(whole, a, "inputs", k), y = column(part, b, "inputs", k);
    const bool fixed = whole.inputs()[k].name == "mass factor" || whole.inputs()[k].name == "start q 0";
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (i % 3 == 1 && fixed) continue;
      ASSERT_EQ(x[i], y[i]) << whole.inputs()[k].name;
    }
  }
}

TEST(ChainStudy, ASampleAgainIsTheSample) {
  for (const TorqueKind kind : {TorqueKind::kPd, TorqueKind::kComputed}) {
    const Study study(shaken_arm(100, kind));
    const study::Total total = run(study);
    const auto time = column(study, total, "settling_time"), torque = column(study, total, "peak_torque", 2),
               size = column(study, total, "inputs", 5);
    int compared = 0;
    for (const std::int64_t i : {0, 7, 22, 299}) {
      const Replay r = study.replay(i, true);
      const auto at = static_cast<std::size_t>(i);
      if (std::isnan(torque[at])) continue;  // a torque computed for the nominal arm need not hold this one
      ++compared;
      EXPECT_EQ(r.design, i % 3);
      EXPECT_EQ(r.measured.settling(), time[at]);
      EXPECT_EQ(r.measured.of_joints()[2], torque[at]);
      EXPECT_EQ(r.inputs[5], size[at]);
      ASSERT_EQ(r.trajectory.count, 1);
      ASSERT_EQ(r.trajectory.q.size(), 7u * 3);
      EXPECT_EQ(r.trajectory.q[1], r.inputs[1]);
    }
    EXPECT_GE(compared, 2);
  }
}

TEST(ChainStudy, UnsolvedSamplesAreCountedAndWidenTheInterval) {
  Design broken = pulled_slider();
  broken.damping = same_for_all(Distribution::uniform(0.1 / kStep, 6 / kStep));  // unstable beyond 2.785 / step
  broken.options.method = Integrator::kRk4;
  broken.options.duration = 0.6;
  broken.q = same_for_all(Distribution::constant(0.005));
  const Study study(make_uncertainty(slider(), {pulled_slider(), broken}, 1024));
  const study::Total total = run(study);
  const std::vector<DesignResult> r = study.results(total);
  const auto damping = column(study, total, "inputs", 1), outcome = column(study, total, "outcome");
  std::int64_t unstable = 0;
  for (std::size_t i = 1; i < damping.size(); i += 2) {
    const bool expected = damping[i] * kStep > 2.785;
    if (std::abs(damping[i] * kStep - 3.05) < 0.27) continue;  // too slow a growth to overflow within 1,200 steps
    ASSERT_EQ(outcome[i] == static_cast<double>(StudyOutcome::kNonFinite), expected) << damping[i];
    unstable += expected;
  }
  EXPECT_GT(unstable, 400);
  EXPECT_EQ(r[0].unsolved, 0);
  EXPECT_GE(r[1].unsolved, unstable);
  EXPECT_EQ(r[1].samples, 1024);
  const study::Interval interval =
      study::clopper_pearson_with_unsolved(r[1].settled, r[1].samples - r[1].unsolved, r[1].unsolved);
  EXPECT_EQ(r[1].interval.low, interval.low);
  EXPECT_LT(r[1].interval.low, 0.6);
  EXPECT_EQ(r[1].interval.high, interval.high);
  EXPECT_GT(r[1].interval.high, 0.95);
  EXPECT_NEAR(study::unsolved_share(study.decisions(total)), static_cast<double>(r[1].unsolved) / 2048, 1e-15);
  const Json summary = Json::parse(study.summary(total, "samples"));
  EXPECT_EQ(summary["outcomes"]["non_finite"], r[1].unsolved);
  EXPECT_EQ(summary["designs"][1]["work"]["undefined"], r[1].unsolved);
}

TEST(ChainStudy, TheBestDesignNeedsTheLeastTorqueAmongTheSurest) {
  Design weak = pulled_slider(), strong = pulled_slider(), hopeless = pulled_slider(1000);
  weak.q = strong.q = same_for_all(Distribution::uniform(0.011, 0.02));  // both are in time always
  strong.torque.kp = {24};
  const Study study(make_uncertainty(slider(), {hopeless, strong, weak}, 1024));
  const study::Total total = run(study);
  EXPECT_EQ(study.best(total), 2);
  EXPECT_EQ(study.results(total)[1].probability, 1);
  EXPECT_EQ(study.results(total)[0].settled, 0);
  const Json j = Json::parse(study.summary(total, "samples"));
  EXPECT_EQ(j["best"]["design"], 2);
  EXPECT_EQ(j["convergence"]["samples"].back(), 1024);
  EXPECT_EQ(j["convergence"]["low"].back(), j["designs"][2]["low"]);
  const double median = j["designs"][2]["peak_torque"][0]["quantiles"]["0.5"];
  EXPECT_NEAR(median, kStiffness * 0.0155, 0.02 * kStiffness * 0.0155);
  const Study none(make_uncertainty(slider(), {hopeless}, 100));
  EXPECT_EQ(none.best(run(none)), -1);
  EXPECT_TRUE(Json::parse(none.summary(run(none), "samples"))["best"].is_null());
}

TEST(ChainStudy, ALittleLessTorqueIsNoReasonToSettleLessOften) {
  Design often = pulled_slider(), seldom = pulled_slider();
  often.q = same_for_all(Distribution::uniform(0.015, 0.0216));
  seldom.q = same_for_all(Distribution::uniform(0.0145, 0.0222));
  seldom.torque.kp = {0.98 * kStiffness};
  const Study study(make_uncertainty(slider(), {seldom, often}, 20));
  const study::Total total = run(study);
  const std::vector<DesignResult> r = study.results(total);
  ASSERT_GT(r[1].probability, r[0].probability);
  ASSERT_GE(r[0].interval.high, r[1].interval.low);
  EXPECT_EQ(study.best(total), 1);
}

TEST(ChainStudy, ACutShortRunHasEquallyManySamplesOfEachDesign) {
  const Study study(shaken_arm(10000));
  study::Total total{};
  total.add(study.run(0, 2 * study::kBlock, {}), study.shape());
  for (const DesignResult& r : study.results(total)) EXPECT_NEAR(static_cast<double>(r.samples), 2048.0 / 3, 1);
}

TEST(ChainStudy, NominalTrajectoriesSayWhatTheLawAndTheFramesSay) {
  Scenario s = shaken_arm(10);
  s.designs[2].size = Distribution::constant(1.5);
  const Study study(s);
  const NominalTrajectories n = study.nominal(-1);
  ASSERT_EQ(n.design, (std::vector<int>{0, 1, 2}));
  ASSERT_EQ(n.motion.times.size(), 7u);
  for (std::size_t d = 0; d < 3; ++d) {
    const Robot robot = d == 2 ? similar_robot(s.robot, 1.5, 1) : s.robot;
    for (std::size_t k = 0; k < 7; ++k) {
      const double* q = n.motion.q.data() + (d * 7 + k) * 3;
      const double* qd = n.motion.qd.data() + (d * 7 + k) * 3;
      const Results r = evaluate(robot, {1, {q, q + 3}}, {Output::kGravity, Output::kPose, Output::kLinkPoses});
      for (std::size_t j = 0; j < 3; ++j) {
        const auto& law = s.designs[d].torque;
        const double tau = law.kp[j] * (law.set_point[j] - q[j]) - law.kd[j] * qd[j] + r.gravity[j];
        EXPECT_NEAR(n.torque[(d * 7 + k) * 3 + j], tau, 1e-12 * (1 + std::abs(tau)));
      }
      const double* points = n.points.data() + (d * 7 + k) * 5 * 3;
      for (std::size_t c = 0; c < 3; ++c) {
        EXPECT_EQ(points[c], robot.base.p[static_cast<int>(c)]);
        EXPECT_EQ(points[6 + c], r.link_poses[16 + 4 * c + 3]);
        EXPECT_NEAR(points[12 + c], n.motion.tip[((d * 7 + k) * 3) + c], 1e-12);
      }
    }
  }
}

// Size: a chain built from scaled numbers is the truth.

Robot arm_of_size(double s, double density) {
  std::vector<DhJoint> joints(4);
  for (std::size_t i = 0; i < 4; ++i) {
    const double k = static_cast<double>(i);
    DhJoint& j = joints[i];
    j.a = s * (0.2 + 0.1 * k);
    j.d = s * (0.05 * k - 0.03);
    j.alpha = 0.4 * k - 0.7;
    j.theta = 0.1 * k;
    const double s3 = s * s * s * density;
    j.link.body.mass = s3 * (1 + 0.3 * k);
    j.link.body.com = {{s * -0.1, s * 0.02 * k, s * 0.03}};
    for (int r = 0; r < 3; ++r)
      for (int c = 0; c < 3; ++c) j.link.body.inertia(r, c) = s3 * s * s * (r == c ? 0.01 + 0.002 * r : 0.001);
    j.link.armature = 0.02;
    j.link.damping = 0.1;
  }
  RobotData data{.name = "arm"};
  data.base.p = {{0.1, 0.2, 0.3}};
  data.tool.p = {{s * 0.1, 0, s * 0.05}};
  return from_dh(data, joints);
}

std::vector<Parameter> all_joints(Quantity quantity, const std::vector<double>& value) {
  std::vector<Parameter> list;
  for (int j = 0; j < 4; ++j) list.push_back({j, quantity, Change::kScale, value});
  return list;
}

TEST(ChainSize, ASimilarChainIsTheChainBuiltFromScaledNumbers) {
  const Robot robot = arm_of_size(1, 1);
  const std::vector<double> q = {0.3, -0.4, 0.8, 1.1}, qd = {1, -2, 0.5, 3}, qdd = {4, 1, -2, 3},
                            tau = {1, 2, 0.3, 0.1};
  const Outputs wanted = {Output::kPose,
                          Output::kLinkPoses,
                          Output::kJacobian,
                          Output::kComJacobians,
                          Output::kMassMatrix,
                          Output::kInverseDynamics,
                          Output::kForwardDynamics,
                          Output::kGravity,
                          Output::kPotentialEnergy,
                          Output::kKineticEnergy};
  for (const double size : {1.0, 0.8, 1.3})
    for (const Executor executor : {Executor::kScalar, Executor::kLanes}) {
      States given{1, q, qd, qdd, tau, {}, {}};
      given.parameters = all_joints(Quantity::kSize, {size});
      for (const Parameter& p : all_joints(Quantity::kMass, {1.2})) given.parameters.push_back(p);
      const Results r = evaluate(robot, given, wanted, {}, {executor, 1, 0});
      const Robot built = arm_of_size(size, 1.2), similar = similar_robot(robot, size, 1.2);
      for (const Robot& truth : {built, similar}) {
        const Results t = evaluate(truth, {1, q, qd, qdd, tau, {}, {}}, wanted, {}, {executor, 1, 0});
        for (int k = 0; k < kOutputCount; ++k) {
          const auto output = static_cast<Output>(k);
          if (!wanted.has(output)) continue;
          double scale = 0;
          for (const double x : t[output]) scale = std::max(scale, std::abs(x));
          for (std::size_t i = 0; i < t[output].size(); ++i)
            ASSERT_NEAR(r[output][i], t[output][i], 1e-12 * scale) << to_string(output) << " size " << size;
        }
      }
    }
}

TEST(ChainSize, TrajectoriesOfASimilarChainAreThoseOfTheBuiltOne) {
  Samples samples{1, {0.3, -0.4, 0.8, 1.1}, {1, -2, 0.5, 3}};
  SimulateOptions o;
  o.duration = 0.2;
  o.times = {0.1, 0.2};
  const Trajectories truth = simulate(arm_of_size(1.3, 1), samples, {}, o);
  samples.parameters = all_joints(Quantity::kSize, {1.3});
  for (const Executor executor : {Executor::kScalar, Executor::kLanes}) {
    const Trajectories t = simulate(arm_of_size(1, 1), samples, {}, o, {executor, 1, 0});
    for (std::size_t i = 0; i < truth.q.size(); ++i) EXPECT_NEAR(t.q[i], truth.q[i], 1e-11);
    for (std::size_t i = 0; i < truth.tip.size(); ++i) EXPECT_NEAR(t.tip[i], truth.tip[i], 1e-11);
    for (std::size_t i = 0; i < truth.kinetic.size(); ++i)
      EXPECT_NEAR(t.kinetic[i], truth.kinetic[i], 1e-10 * truth.kinetic[i]);
  }
}

TEST(ChainSize, IsAFactorAndNothingElse) {
  States s{1, {0, 0, 0, 0}};
  s.parameters = {{0, Quantity::kSize, Change::kAdd, {0.1}}};
  EXPECT_THROW(static_cast<void>(evaluate(arm_of_size(1, 1), s, {Output::kPose})), Error);
}

TEST(ChainStudy, OtherNumbersOfInputsThanJointsAreRefused) {
  Design good = pulled_slider();
  EXPECT_NO_THROW((void)make_study(make_uncertainty(slider(), {good}, 16)));
  Design none = good, many = good;
  none.q.value.clear();
  many.damping.value.resize(2, many.damping.value.at(0));
  EXPECT_THROW((void)make_study(make_uncertainty(slider(), {none}, 16)), Error);
  EXPECT_THROW((void)make_study(make_uncertainty(slider(), {good, many}, 16)), Error);
}

}  // namespace
}  // namespace garra::chain
