// "Held" means that the object stays: contacts stick, the wrench can be balanced, and the command carries it. Against
// closed forms of fingers on rails, and with the scenarios that once said otherwise.
#include <gtest/gtest.h>

#include <cmath>

#include "garra/core/error.hpp"
#include "garra/io/scenario.hpp"
#include "rails.hpp"
#include "study/summary.hpp"
#include "systems/grasp_motion.hpp"
#include "systems/grasp_nominal.hpp"
#include "systems/grasp_study.hpp"

namespace garra::grasp {
namespace {

constexpr double kGravity = 9.81, kFinger = 2, kMass = 1, kSqueeze = 30, kFriction = 0.5, kRadius = 0.1;

Scenario from_file(const std::string& name, const std::vector<std::string>& overrides) {
  return io::read_scenario(std::string(GARRA_SOURCE_DIR) + "/data/scenarios/" + name + ".toml", overrides);
}

study::Total run(const Study& study, std::int64_t samples, const Device& device = {}) {
  study::Total total{};
  total.add(study.run(0, samples, device), static_cast<std::size_t>(study.layout().sums), 2);
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
  s.squeeze = study::Distribution::constant(kSqueeze);
  test::set_friction(s, kFriction);
  return s;
}

TEST(Held, NeedsACommandThatCarriesTheWeight) {
  for (const double carried : {1.0, 0.6, 0.4, 1e-9}) {
    Scenario s = pinch();
    s.nominal_mass = carried;
    const Replay r = Study(s).replay(0);
    EXPECT_EQ(r.outcome, carried > 0.5 ? Outcome::kHeld : Outcome::kNotCarried) << carried;
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
  EXPECT_EQ(r.metric[metric("wrench_radius")], 0);
  EXPECT_EQ(r.metric[metric("load_factor")], 0);
  s.torque = {{0, 0.5, 0}};
  EXPECT_EQ(Study(s).replay(0).outcome, Outcome::kHeld);
}

TEST(Held, TwoContactsHaveNoWrenchRadiusButCarryMoreWeight) {
  Scenario s = pinch();
  s.nominal_mass = kMass;
  const Replay r = Study(s).replay(0);
  EXPECT_EQ(r.outcome, Outcome::kHeld);
  EXPECT_EQ(r.metric[metric("wrench_radius")], 0);  // any torque about x turns it
  EXPECT_GT(r.metric[metric("load_factor")], 1);
}

TEST(Held, NeedsForcesBelowTheirLimit) {
  for (const double limit : {9.80, 9.82}) {  // 2 mu F against m g
    Scenario s = pinch();
    s.nominal_mass = kMass;
    for (Contact& c : s.contacts) c.force_limit = limit;
    EXPECT_EQ(Study(s).replay(0).outcome, limit < 9.81 ? Outcome::kNotResisted : Outcome::kHeld) << limit;
  }
}

const std::vector<std::string> kTwisted = {"object.mass=0.2", "contacts.friction=0.6",
                                           "load.wrench={torque=[0.05,0,0]}"};

TEST(Held, SaysOfATwistedBottleWhatItsMotionSays) {
  const Study study(from_file("two_finger_cylinder", kTwisted));
  const auto total = run(study, 4096);
  EXPECT_EQ(count(study, total, Outcome::kNotResisted), 4096);
  EXPECT_EQ(study.estimate(total).probability, 0);
  EXPECT_GT(study.no_slip(total).probability, 0.999);
  EXPECT_EQ(study.can_be_held(total).probability, 0);
}

TEST(Held, SaysOfArmsThatCarryNothingThatTheyDoNot) {
  const Study study(from_file("three_puma_sphere",
                              {"load.nominal_mass=0.01", "contacts.friction=1.2", "load.wrench={force_ball=0}"}));
  const auto total = run(study, 4096);
  EXPECT_EQ(count(study, total, Outcome::kHeld), 0);
  EXPECT_EQ(count(study, total, Outcome::kNotCarried), 4096);
  EXPECT_EQ(study.can_be_held(total).probability, 1);
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

TEST(HeldInTime, ABottleThatTurnsIsNotHeldAndItsTurnIsCountedOn) {
  auto overrides = kTwisted;
  overrides.insert(overrides.end(), {"contacts.slide=0", "contacts.tilt=0", "object.position=[0,0,0.095]",
                                     "contact.2.squeeze_error=0", "sampling.samples=1"});
  overrides.push_back("time={until=0.5}");
  const Motion stopped(from_file("two_finger_cylinder", overrides));
  const auto short_one = stopped.series(0, 2);
  EXPECT_EQ(short_one.trajectory.end, MotionEnd::kTurned);
  // About the line through the contacts: angle = torque t^2 / 2 I.
  const double inertia = 0.2 * (0.025 * 0.025 / 4 + 0.1 * 0.1 / 12), when = std::sqrt(2 * inertia * (M_PI / 4) / 0.05);
  EXPECT_NEAR(short_one.trajectory.end_time, when, 2e-3);
  overrides.back() = "time={until=0.5, drop_turn=1000, drop=10}";
  const Motion spinning(from_file("two_finger_cylinder", overrides));
  const auto r = spinning.series(0, 2);
  const double turned = 0.05 * 0.5 * 0.5 / (2 * inertia);
  EXPECT_GT(turned, 4 * 2 * M_PI);
  EXPECT_NEAR(r.trajectory.peak_turn, turned, 0.01 * turned);
}

}  // namespace
}  // namespace garra::grasp
