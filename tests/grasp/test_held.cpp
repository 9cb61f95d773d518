// "Held" means that the object stays: forces leave the contacts at rest, the wrench can be balanced, and the command
// carries it. Against closed forms of fingers on rails, and with the scenarios that once said otherwise.
#include <gtest/gtest.h>

#include <cmath>

#include "garra/core/error.hpp"
#include "garra/io/scenario.hpp"
#include "garra/systems/grasp/object_step.hpp"
#include "grasp/sample/nominal.hpp"
#include "grasp/study/grasp_study.hpp"
#include "grasp/time/motion.hpp"
#include "places.hpp"
#include "rails.hpp"
#include "study/summary.hpp"

namespace garra::grasp {
namespace {

constexpr double kGravity = 9.81, kFinger = 2, kMass = 1, kGripForce = 30, kFriction = 0.5, kRadius = 0.1;

Scenario from_file(const std::string& name, const std::vector<std::string>& overrides) {
  return io::read_scenario(test::source_folder() + "/data/scenarios/" + name + ".toml", overrides);
}

study::Total run(const Study& study, std::int64_t samples, const Device& device = {}) {
  study::Total total{};
  total.add(study.run(0, samples, device), study.shape());
  return total;
}

std::int64_t count(const Study& study, const study::Total& total, Outcome outcome) {
  return study::at(total, study.layout().outcome + static_cast<int>(outcome));
}

/// Two point masses press a body from both sides along x.
Scenario pinch() {
  Scenario s = test::body_held_by(
      {{{{kRadius, 0, 0}}, {{-1, 0, 0}}, 0, kFinger}, {{{-kRadius, 0, 0}}, {{1, 0, 0}}, 0, kFinger}}, kMass);
  s.time.reset();
  s.gravity = {{0, 0, -kGravity}};
  s.grip_force = study::Distribution::constant(kGripForce);
  test::set_friction(s, kFriction);
  return s;
}

TEST(Held, NeedsACommandThatCarriesTheWeight) {
  for (const double carried : {1.0, 0.6, 0.4, 1e-9}) {
    Scenario s = pinch();
    s.nominal_mass = carried;
    const Replay r = Study(s).replay(0);
    EXPECT_EQ(r.outcome, carried > 0.5 ? Outcome::kHeld : Outcome::kCommandInsufficient) << carried;
    EXPECT_NEAR(r.metric[metric("imbalance")], (kMass - carried) / kMass, 1e-12);
    // Rails without weight: what is not carried accelerates body and fingers alike.
    EXPECT_NEAR(r.metric[metric("object_acceleration")], (kMass - carried) * kGravity / (kMass + 2 * kFinger), 1e-8);
    for (const int state : r.states) EXPECT_EQ(state, static_cast<int>(ContactState::kStick));
  }
}

TEST(Held, AllowsAsMuchImbalanceAsTheScenarioSays) {
  Scenario s = pinch();
  s.nominal_mass = 0.4;
  s.held_imbalance = 0.61;
  EXPECT_EQ(Study(s).replay(0).outcome, Outcome::kHeld);
}

TEST(Held, CountsTheExternalWrenchAmongWhatIsToBeCarried) {
  Scenario s = pinch();
  s.nominal_mass = kMass;
  s.force_magnitude = study::Distribution::constant(3);  // of whatever direction: the command does not know it
  const Replay r = Study(s).replay(0);
  EXPECT_NEAR(r.metric[metric("imbalance")], 3 / (kMass * kGravity + 3), 1e-12);
}

TEST(Held, NeedsForcesThatCanBalanceATorqueAboutTheLineThroughTwoContacts) {
  Scenario s = pinch();
  s.nominal_mass = kMass;
  s.torque = {{1e-3, 0, 0}};
  const Replay r = Study(s).replay(0);
  EXPECT_EQ(r.outcome, Outcome::kNotResisted);
  EXPECT_EQ(r.metric[metric("resisted_force_radius")], 0);
  EXPECT_EQ(r.metric[metric("load_factor")], 0);
  s.torque = {{0, 0.5, 0}};
  EXPECT_EQ(Study(s).replay(0).outcome, Outcome::kHeld);
}

TEST(Held, TwoContactsHaveNoWrenchRadiusButCarryMoreWeight) {
  Scenario s = pinch();
  s.nominal_mass = kMass;
  const Replay r = Study(s).replay(0);
  EXPECT_EQ(r.outcome, Outcome::kHeld);
  EXPECT_EQ(r.metric[metric("resisted_force_radius")], 0);  // any torque about x turns it
  EXPECT_GT(r.metric[metric("load_factor")], 1);
}

TEST(Held, NeedsForcesBelowTheirLimit) {
  for (const double limit : {9.80, 9.82}) {  // 2 mu F against m g
    Scenario s = pinch();
    s.nominal_mass = kMass;
    s.grip_force = study::Distribution::constant(9.815);
    for (Contact& c : s.contacts) c.force_limit = limit;
    EXPECT_EQ(Study(s).replay(0).outcome, limit < 9.81 ? Outcome::kNotResisted : Outcome::kHeld) << limit;
  }
}

/// pinch() by rails whose motors push at most `squeeze` along x and lift at most `lift`; each carries a weight of its
/// own.
Scenario weak_pinch(double grip_force, double lift, double own_mass) {
  Scenario s = pinch();
  s.nominal_mass = kMass;
  for (Finger& f : s.fingers) {
    f.torque_limit = {lift, 1e3, grip_force};  // of the rails along z, y and x
    f.joints[2].link.body.mass = own_mass;
    f.joints[2].link.armature = kFinger - own_mass;
  }
  return s;
}

TEST(Held, NeedsMotorsThatCanSqueezeAndLift) {
  constexpr double kWeight = kMass * kGravity;
  for (const double share : {0.999, 1.001}) {
    const Outcome expected = share < 1 ? Outcome::kNotResisted : Outcome::kHeld;
    // 2 mu F against m g: with the force that the command asks for, but not more.
    Scenario grip_force = weak_pinch(share * kWeight / (2 * kFriction), 1e3, 0);
    grip_force.grip_force = study::Distribution::constant(kWeight);
    EXPECT_EQ(Study(grip_force).replay(0).outcome, expected) << share;
    for (const double own : {0.0, 0.5}) {
      const Replay r = Study(weak_pinch(1e3, share * kWeight / 2 + own * kGravity, own)).replay(0);
      EXPECT_EQ(r.resisted, share < 1 ? 0 : 1) << share << ' ' << own;
      EXPECT_EQ(r.outcome, expected) << share << ' ' << own;
    }
  }
}

TEST(Held, ATorqueAboveItsLimitIsCutOff) {
  // Each finger is to lift half of the weight and has a quarter: the other half of it falls.
  Scenario s = weak_pinch(1e3, kMass * kGravity / 4, 0);
  const Replay r = Study(s).replay(0);
  EXPECT_EQ(r.outcome, Outcome::kNotResisted);
  EXPECT_NEAR(r.metric[metric("imbalance")], 0.5, 1e-12);
  EXPECT_TRUE(std::isnan(r.metric[metric("min_grip_force")]));
  // A squeeze above the limit presses with the limit.
  Scenario weak = weak_pinch(20, 1e3, 0);
  weak.grip_force = study::Distribution::constant(kGripForce);
  const Replay pressed = Study(weak).replay(0);
  EXPECT_EQ(pressed.outcome, Outcome::kHeld);
  EXPECT_NEAR(pressed.c[0], 20, 1e-9);
  EXPECT_NEAR(Study(weak_pinch(40, 1e3, 0)).replay(0).c[0], kGripForce, 1e-9);
  // Torques that are given are cut off, too.
  weak.fingers[0].tau = weak.fingers[1].tau = {kMass * kGravity / 2, 0, 0};
  weak.fingers[0].tau[2] = -kGripForce;
  weak.fingers[1].tau[2] = kGripForce;
  EXPECT_NEAR(Study(weak).replay(0).c[0], 20, 1e-9);
}

TEST(Held, TorqueLimitsCutTheWrenchRadiusAndTheLoadFactor) {
  const auto load_factor = [](const Scenario& s) { return Study(s).replay(0).metric[metric("load_factor")]; };
  // Twice the lift, less the weight, over the weight; the friction cone of the given command allows more.
  Scenario strong = weak_pinch(1e3, 1e3, 0), weak = weak_pinch(1e3, 6, 0);
  EXPECT_GT(load_factor(strong), 12 / (kMass * kGravity) - 1);
  EXPECT_NEAR(load_factor(weak), 12 / (kMass * kGravity) - 1, 1e-9);
  EXPECT_LT(load_factor(weak), load_factor(strong));
}

TEST(Held, TorqueLimitsThatAreFarAwayChangeNothing) {
  const Study free(from_file("three_puma_sphere", {}));
  Scenario s = from_file("three_puma_sphere", {});
  for (Finger& f : s.fingers) f.torque_limit.assign(6, 1e6);
  const Study limited(s);
  const auto a = run(free, 3000), b = run(limited, 3000);
  for (int k = 0; k < kOutcomes; ++k)
    EXPECT_EQ(count(free, a, static_cast<Outcome>(k)), count(limited, b, static_cast<Outcome>(k))) << k;
}

TEST(Held, TorqueLimitsGiveTheSameBitsOnEveryExecutorAndBesideAnyNeighbors) {
  Scenario s = from_file("three_puma_sphere", {});
  // Shoulders and elbows that are just strong enough for about three quarters of the samples.
  for (Finger& f : s.fingers) f.torque_limit = {10, 33.6, 5.25, 1.05, 0.63, 0.525};
  const Study study(s);
  Device scalar;
  scalar.executor = Executor::kScalar;
  const auto total = run(study, 1500);
  EXPECT_EQ(study.summary(run(study, 1500, scalar), "samples"), study.summary(total, "samples"));
  EXPECT_GT(count(study, total, Outcome::kNotResisted), 50);
  EXPECT_GT(count(study, total, Outcome::kHeld), 50);
  EXPECT_EQ(count(study, total, Outcome::kUnsolved), 0);
}

const std::vector<std::string> kTwisted = {"object.mass=0.2", "contacts.friction=0.6",
                                           "load.wrench={torque=[0.05,0,0]}"};

TEST(Held, SaysOfATwistedBottleWhatItsMotionSays) {
  const Study study(from_file("two_finger_cylinder", kTwisted));
  const auto total = run(study, 4096);
  EXPECT_EQ(count(study, total, Outcome::kNotResisted), 4096);
  EXPECT_EQ(study.estimate(total).probability, 0);
  EXPECT_GT(study.no_slip(total).probability, 0.999);
  EXPECT_EQ(study.resisted(total).probability, 0);
}

TEST(Held, SaysOfArmsThatCarryNothingThatTheyDoNot) {
  const Study study(from_file("three_puma_sphere",
                              {"load.nominal_mass=0.01", "contacts.friction=1.2", "load.wrench={force_radius=0}"}));
  const auto total = run(study, 4096);
  EXPECT_EQ(count(study, total, Outcome::kHeld), 0);
  EXPECT_EQ(count(study, total, Outcome::kCommandInsufficient), 4096);
  EXPECT_EQ(study.resisted(total).probability, 1);
  EXPECT_EQ(study.no_slip(total).probability, 1);
}

TEST(Held, IsTheSameOnEveryExecutor) {
  for (const char* limit : {"contacts.force_limit=1e9", "contacts.force_limit=14"}) {
    const Study study(
        from_file("three_puma_sphere", {"sampling.samples=1500", "contacts.friction={uniform=[0.1,0.5]}", limit}));
    Device scalar;
    scalar.executor = Executor::kScalar;
    EXPECT_EQ(study.summary(run(study, 1500, scalar), "samples"), study.summary(run(study, 1500), "samples"));
  }
}

TEST(Held, ACommandAboveTheForceLimitLeavesNothingAtRest) {
  // The rails press with 30 N on what may bear 20 N: forces within the limit leave them with (30 - 20) N / 2 kg.
  Scenario s = pinch();
  s.nominal_mass = kMass;
  for (Contact& c : s.contacts) c.force_limit = 20;
  EXPECT_EQ(Study(s).replay(0).outcome, Outcome::kCommandInsufficient);
  for (Contact& c : s.contacts) c.force_limit = kGripForce;
  EXPECT_EQ(Study(s).replay(0).outcome, Outcome::kHeld);
}

/// pinch() with so little friction that the body slips with this acceleration: of the body, which lacks 2 (m g / 2 - 30
/// mu) / m, and of the fingers, which are told to lift half of its weight each.
Scenario slipping_pinch(double slip) {
  Scenario s = pinch();
  s.nominal_mass = kMass;
  test::set_friction(s, (kMass * kGravity / 2 - slip / (2 / kMass + 1 / kFinger)) / kGripForce);
  return s;
}

TEST(Held, AllowsTheAccelerationOfATolerance) {
  for (const double share : {0.01, 0.5, 1 - 1e-6, 1 + 1e-6, 2.0}) {
    const Replay r = Study(slipping_pinch(share * kHeldAcceleration)).replay(0);
    for (const int state : r.states) EXPECT_EQ(state, static_cast<int>(ContactState::kSlip)) << share;
    EXPECT_EQ(r.outcome, share < 1 ? Outcome::kHeld : Outcome::kSlipping) << share;
    EXPECT_EQ(r.opens, 0);
  }
}

/// pinch() and a third finger of 2 kg below the body that leaves it with this acceleration.
Scenario grazed_pinch(double leaves) {
  Scenario s = test::body_held_by({{{{kRadius, 0, 0}}, {{-1, 0, 0}}, 0, kFinger},
                                   {{{-kRadius, 0, 0}}, {{1, 0, 0}}, 0, kFinger},
                                   {{{0, kRadius, 0}}, {{0, -1, 0}}, 0, kFinger}},
                                  kMass);
  s.time.reset();
  s.gravity = {{0, 0, -kGravity}};
  s.grip_force = study::Distribution::constant(kGripForce);
  s.nominal_mass = kMass;
  test::set_friction(s, kFriction);
  // The two fingers carry the weight; the third one is told to press with less than nothing.
  for (std::size_t j = 0; j < 2; ++j) s.contacts[j].force = Vec3<double>{{kGripForce, kMass * kGravity / 2, 0}};
  s.contacts[2].force = Vec3<double>{{-kFinger * leaves, 0, 0}};
  return s;
}

TEST(Held, HangsOnNoContactThatGrazes) {
  for (const double leaves : {3e-4, 0.09, 0.11, 3.0}) {
    const Replay r = Study(grazed_pinch(leaves)).replay(0);
    EXPECT_EQ(r.states[2], static_cast<int>(ContactState::kBreak)) << leaves;
    EXPECT_EQ(r.outcome, Outcome::kHeld) << leaves;
    EXPECT_EQ(r.opens, leaves > kHeldAcceleration ? 1 : 0) << leaves;
  }
}

TEST(Held, IsNotHeldByAContactThatOpens) {
  // What only the third contact could resist: a moment about the line through the other two.
  Scenario s = grazed_pinch(1);
  s.torque = {{1e-3, 0, 0}};
  const Replay r = Study(s).replay(0);
  EXPECT_EQ(r.outcome, Outcome::kSeparating);
  EXPECT_EQ(r.resisted, 1);  // with all three
}

TEST(Held, CountsSamplesThatAreHeldWithoutContactsThatOpen) {
  Scenario s = grazed_pinch(3);
  s.object.mass = study::Distribution::uniform(0.9, 1.1);
  const Study study(s);
  const auto total = run(study, 100);
  EXPECT_EQ(count(study, total, Outcome::kHeld), 100);
  EXPECT_EQ(study::at(total, study.layout().left_out), 100);
  EXPECT_EQ(study::at(total, study.layout().left_out + 1), 100);  // by two contacts
}

TEST(Held, ATurnIsARotationVector) {
  constexpr double kTurn = M_PI / 2;
  Vec3<double> v = {{0, 0, kTurn}};
  const Mat3<double> R = rotation_by(v);
  EXPECT_NEAR(R(0, 0), 0, 1e-15);
  EXPECT_NEAR(R(1, 0), 1, 1e-15);
  v = {{0.3, -2.1, 1.7}};
  const double angle = norm(v);
  const Mat3<double> S = rotation_by(v);
  // Its axis stays, and its trace is that of the angle.
  for (int i = 0; i < 3; ++i) EXPECT_NEAR((S * v)[i], v[i], 1e-14);
  EXPECT_NEAR(S(0, 0) + S(1, 1) + S(2, 2), 1 + 2 * std::cos(angle), 1e-14);
  EXPECT_NEAR(S(2, 1) - S(1, 2), 2 * std::sin(angle) * v[0] / angle, 1e-14);
  EXPECT_EQ(rotation_by(Vec3<double>::zero())(0, 0), 1);
}

TEST(NominalBalance, NamesWhatNoContactResistsAndWhatTheCommandLeaves) {
  Scenario s = pinch();
  s.nominal_mass = 0.8;
  const Study study(s);
  const NominalBalance b = nominal_balance(study);
  EXPECT_EQ(b.resisted, 1);
  EXPECT_NEAR(b.imbalance, 0.2, 1e-12);
  ASSERT_EQ(b.unresisted.size(), 1u);
  EXPECT_NEAR(std::abs(b.unresisted[0][3]), 1, 1e-9);
  const auto warnings = nominal_warnings(study);
  ASSERT_EQ(warnings.size(), 2u);
  EXPECT_NE(warnings[0].find("leaves 20 % of the nominal wrench unbalanced"), std::string::npos);
  EXPECT_NE(warnings[1].find("a torque about (1, 0, 0)"), std::string::npos) << warnings[1];
  EXPECT_TRUE(nominal_warnings(Study(from_file("three_puma_sphere", {}))).empty());
}

TEST(NominalBalance, NamesJointsThatAreTooWeak) {
  const auto said = [](const Scenario& s, const std::string& part) {
    for (const std::string& text : nominal_warnings(Study(s)))
      if (text.find(part) != std::string::npos) return true;
    return false;
  };
  EXPECT_TRUE(said(
      weak_pinch(20, 1e3, 0),
      "the nominal command asks for 30 N of joint 2 of finger 0, whose torque_limit is 20 N: the torque is cut off"));
  EXPECT_TRUE(said(weak_pinch(1e3, 4.9, 0.5), "the finger's own weight needs 4.91 N of joint 0 of finger 1"));
  EXPECT_FALSE(said(weak_pinch(1e3, 1e3, 0.5), "torque_limit"));
}

TEST(HeldInTime, MotorsThatCannotLiftLetGo) {
  for (const double share : {0.9, 1.1}) {
    Scenario s = weak_pinch(1e3, share * kMass * kGravity / 2, 0);
    s.time.emplace();
    s.time->duration = 1;  // object and rails fall at a tenth of g over 5 times its mass: 98 mm
    const Trajectory t = Motion(s).series(0, 2).trajectory;
    EXPECT_EQ(t.end, share < 1 ? MotionEnd::kDropped : MotionEnd::kHeld) << share;
  }
}

TEST(HeldInTime, ABottleThatTurnsIsNotHeldAndItsTurnIsCountedOn) {
  auto overrides = kTwisted;
  overrides.insert(overrides.end(), {"contacts.slide=0", "contacts.tilt=0", "object.position=[0,0,0.095]",
                                     "contact.1.grip_force_error=0", "sampling.samples=1"});
  overrides.push_back("time={duration=0.5}");
  const Motion stopped(from_file("two_finger_cylinder", overrides));
  const auto short_one = stopped.series(0, 2);
  EXPECT_EQ(short_one.trajectory.end, MotionEnd::kTurned);
  // About the line through the contacts: angle = torque t^2 / 2 I.
  const double inertia = 0.2 * (0.025 * 0.025 / 4 + 0.1 * 0.1 / 12), when = std::sqrt(2 * inertia * (M_PI / 4) / 0.05);
  EXPECT_NEAR(short_one.trajectory.end_time, when, 2e-3);
  overrides.back() = "time={duration=0.5, drop_turn=1000, drop=10}";
  const Motion spinning(from_file("two_finger_cylinder", overrides));
  const auto r = spinning.series(0, 2);
  const double turned = 0.05 * 0.5 * 0.5 / (2 * inertia);
  EXPECT_GT(turned, 4 * 2 * M_PI);
  EXPECT_NEAR(r.trajectory.peak_turn, turned, 0.01 * turned);
}

TEST(HeldInTime, TurnsAreCountedThroughHalfTurnsFromAnyPhase) {
  // About x, from 2.4 to beyond 10 rad, faster and faster, in steps of 10 ms that pass half a turn at 200 phases.
  const double step = 0.01, gain = 40;
  for (int phase = 0; phase < 200; ++phase) {
    const auto angle = [&](double t) { return 2.4 + 1e-3 * phase + 4 * t + gain * t * t / 2; };
    const auto motion_at = [&](double t) {
      ObjectMotion<double> x{};
      x.first_turn = {{1, 0, 0, 0}};
      x.turn = {{std::cos(angle(t) / 2), std::sin(angle(t) / 2), 0, 0}};
      x.w = {{4 + gain * t, 0, 0}};
      return x;
    };
    ObjectMotion<double> before = motion_at(0);
    before.turned = angle(0);
    for (int k = 1; k <= 50; ++k) {
      ObjectMotion<double> now = motion_at(k * step);
      count_turn(before, step, now);
      ASSERT_NEAR(now.turned, angle(k * step), 1e-9) << phase << " " << k;
      before = now;
    }
  }
}

}  // namespace
}  // namespace garra::grasp
