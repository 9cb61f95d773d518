// What fingers are commanded: forces and torques as given, a squeeze for each contact, gravity compensation for each
// finger; and friction that contacts share.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "garra/core/error.hpp"
#include "garra/io/scenario.hpp"
#include "grasp/study/grasp_study.hpp"
#include "grasp/time/motion.hpp"
#include "places.hpp"

namespace garra::grasp {
namespace {

using study::Distribution;

const Device kScalar{Executor::kScalar, 1, 0};
constexpr double kWeight = 9.81;

Scenario read(const std::string& name, const std::vector<std::string>& overrides) {
  return io::read_scenario(test::source_folder() + "/data/scenarios/" + name + ".toml", overrides);
}

/// The reference's default hand: nothing is uncertain, contacts at -60, 60 and 180 degrees.
Scenario three_puma(const std::vector<std::string>& more = {}) {
  std::vector<std::string> overrides = {"object.mass=1",
                                        "object.position=[0,0,0.3]",
                                        "contacts.angle=60 deg",
                                        "contacts.friction=0.4",
                                        "contacts.slide=0",
                                        "contacts.tilt=0",
                                        "contacts.grip_force_error=0",
                                        "load.wrench={ force_radius = 0 }"};
  overrides.insert(overrides.end(), more.begin(), more.end());
  return read("three_puma_sphere", overrides);
}

/// Two opposite contacts, nothing uncertain.
Scenario two_finger(const std::vector<std::string>& more = {}) {
  std::vector<std::string> overrides = {
      "object.mass=0.2", "object.position=[0,0,\"95 mm\"]", "contacts.friction=0.6",           "contacts.slide=0",
      "contacts.tilt=0", "contact.1.grip_force_error=0",    "load.wrench={ force_radius = 0 }"};
  overrides.insert(overrides.end(), more.begin(), more.end());
  return read("two_finger_cylinder", overrides);
}

// Forces that balance the weight and press with 1 N more sideways: other ones than the balance would choose.
const double kMore = 1, kUp = kWeight / 3;
std::vector<Vec3<double>> balanced_forces() {
  return {{{14, kUp, kMore}}, {{14, kUp, -kMore}}, {{14 - std::sqrt(3.0) * kMore, 0, kUp}}};
}
Scenario with_forces(Scenario s, const std::vector<Vec3<double>>& forces) {
  for (std::size_t j = 0; j < forces.size(); ++j) s.contacts[j].force = forces[j];
  return s;
}

TEST(GivenForces, ThatBalanceTheLoadAreWhatTheContactsCarry) {
  const auto forces = balanced_forces();
  const Replay r = Study(with_forces(three_puma(), forces)).replay(0);
  EXPECT_EQ(r.outcome, Outcome::kHeld);
  for (std::size_t k = 0; k < 9; ++k) {
    double b = 0;  // -A c*
    for (std::size_t i = 0; i < 9; ++i) b -= r.A[9 * k + i] * forces[i / 3][static_cast<int>(i % 3)];
    EXPECT_NEAR(r.b[k], b, 1e-10) << k;
    EXPECT_NEAR(r.c[k], forces[k / 3][static_cast<int>(k % 3)], 1e-9) << k;
    EXPECT_NEAR(r.a[k], 0, 1e-9);
  }
  EXPECT_TRUE(std::isnan(r.metric[metric("min_grip_force")])) << "no contact has the common grip_force";
}

TEST(GivenForces, AreNotMadeToBalanceTheLoad) {
  // Without friction the sphere falls freely whatever the fingers press: nothing was added along the surface.
  const Replay r =
      Study(with_forces(three_puma({"contacts.friction=0"}), {{{10, 0, 0}}, {{10, 0, 0}}, {{10, 0, 0}}})).replay(0);
  EXPECT_NEAR(r.a[1], -kWeight, 1e-8);
  EXPECT_NEAR(r.a[8], -kWeight, 1e-8);
}

TEST(GivenForces, LeaveTheRestOfTheBalanceToTheOthers) {
  // In a line, without weight: what is told to one, the other has to press against.
  const std::vector<std::string> weightless = {"load.gravity=[0,0,0]", "load.grip_force=6 N"};
  auto overrides = weightless;
  overrides.emplace_back("contact.0.force=[4,0,0]");
  const Replay r = Study(two_finger(overrides)).replay(0);
  EXPECT_NEAR(r.c[0], 4, 1e-9);
  EXPECT_NEAR(r.c[3], 4, 1e-9);
}

TEST(Squeeze, OfEachContactIsBalancedLikeACommonOne) {
  // The least change of 4 N against 6 N is 5 N against 5 N.
  const Replay r =
      Study(two_finger({"load.gravity=[0,0,0]", "contact.0.grip_force=4 N", "contact.1.grip_force=6 N"})).replay(0);
  EXPECT_NEAR(r.c[0], 5, 1e-9);
  EXPECT_NEAR(r.c[3], 5, 1e-9);
  // Three of 12 N of their own are a common one of 12 N.
  Scenario own = three_puma();
  for (Contact& c : own.contacts) c.grip_force = Distribution::constant(12);
  const Replay a = Study(own).replay(0), b = Study(three_puma({"load.grip_force=12 N"})).replay(0);
  EXPECT_EQ(a.b, b.b);
  EXPECT_TRUE(std::isnan(a.metric[metric("min_grip_force")]));
  EXPECT_FALSE(std::isnan(b.metric[metric("min_grip_force")]));
}

TEST(Squeeze, OfOneContactIsAnInputOfItsOwn) {
  const Study study(two_finger({"contact.0.grip_force={ uniform = [3, 5] }"}));
  ASSERT_EQ(study.inputs().size(), 1u);
  EXPECT_EQ(study.inputs()[0].name, "contact 0 grip force");
  const Replay a = study.replay(0), b = study.replay(1);
  EXPECT_NE(a.b, b.b);
}

nlohmann::json torque_reference() {
  std::ifstream file(test::source_folder() + "/data/reference/grasp/torques.json");
  return nlohmann::json::parse(file);
}

/// With the joint values of the reference: these fingers have a joint more than a point needs.
Scenario with_torques() {
  const auto reference = torque_reference();
  Scenario s = two_finger();
  for (std::size_t j = 0; j < 2; ++j) {
    s.fingers[j].tau = reference["tau"][j].get<std::vector<double>>();
    for (std::size_t i = 0; i < 4; ++i) s.fingers[j].start[i] = reference["q"][j][i];
  }
  return s;
}

TEST(GivenTorques, GiveTheProblemOfAnIndependentComputation) {
  const auto reference = torque_reference();
  const Replay r = Study(with_torques()).replay(0);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_NEAR(r.b[i], reference["b"][i].get<double>(), 1e-9) << i;
    for (std::size_t k = 0; k < 6; ++k) EXPECT_NEAR(r.A[6 * i + k], reference["A"][i][k].get<double>(), 1e-9);
  }
}

TEST(GivenTorques, DoNotDependOnSqueezeOrCompensation) {
  Scenario other = with_torques();
  other.grip_force = Distribution::constant(40);
  other.compensation = Distribution::constant(0.3);
  EXPECT_EQ(Study(with_torques()).replay(0).b, Study(other).replay(0).b);
}

TEST(GravityCompensation, IsSwitchedOffForOneFinger) {
  Scenario one = three_puma();
  one.fingers[1].gravity_compensation = false;
  const Replay on = Study(three_puma()).replay(0), off = Study(three_puma({"load.compensation=0"})).replay(0),
               mixed = Study(one).replay(0);
  for (std::size_t k = 0; k < 9; ++k) EXPECT_EQ(mixed.b[k], (k / 3 == 1 ? off : on).b[k]) << k;
  EXPECT_NE(on.b, off.b);
}

study::Total run(const Study& study, std::int64_t samples, const Device& device) {
  study::Total total{};
  total.add(study.run(0, samples, device), study.shape());
  return total;
}

TEST(GivenCommands, HaveTheSameBytesOnEveryExecutor) {
  Scenario torques = with_torques();
  torques.object.shift[0] = Distribution::normal(0, 1e-3);
  torques.contacts[0].tilt = {Distribution::Kind::kConeAngle, 0.05, 1 - std::cos(0.05), 0, 1};
  Scenario forces =
      with_forces(read("three_puma_sphere", {"contacts.friction={ common = { uniform = [0.3, 0.5] }, each = { "
                                             "lognormal = [1, 0.05] } }"}),
                  balanced_forces());
  Scenario mixed = read("three_puma_sphere", {"hand.gravity_compensation=[true,false,true]"});
  mixed.contacts[1].grip_force = Distribution::uniform(12, 16);
  for (const Scenario& s : {torques, forces, mixed}) {
    const Study study(s);
    EXPECT_EQ(study.summary(run(study, 1500, kScalar), "samples"),
              study.summary(run(study, 1500, Device{}), "samples"));
  }
}

TEST(CommonFriction, IsOneDrawForAllContacts) {
  const Study study(three_puma({"contacts.friction={ common = { uniform = [0.1, 0.5] } }"}));
  ASSERT_EQ(study.inputs().size(), 1u);
  EXPECT_EQ(study.inputs()[0].name, "friction common to all contacts");
  for (const std::int64_t i : {0, 1, 2}) {
    const Replay r = study.replay(i);
    EXPECT_EQ(r.mu, std::vector<double>(3, r.inputs[0]));
  }
  constexpr std::int64_t n = 100'000;
  const double p =
      (0.5 - kWeight / 45) / 0.4;  // of one number, not of three: HoldsWith..., OnlyFriction of test_grasp_study
  EXPECT_NEAR(study.estimate(run(study, n, Device{})).probability, p, 4 * std::sqrt(p * (1 - p) / n));
}

TEST(CommonFriction, IsMultipliedWithWhatEachContactHasOfItsOwn) {
  const Study study(
      three_puma({"contacts.friction={ common = { uniform = [0.3, 0.5] }, each = { lognormal = [1, 0.05] } }",
                  "contact=[{}, { friction = { each = 0.5 } }, { friction = 0.7 }]"}));
  ASSERT_EQ(study.inputs().size(), 2u);
  EXPECT_EQ(study.inputs()[1].name, "contact 0 friction factor");
  const Replay r = study.replay(5);
  EXPECT_EQ(r.mu, (std::vector<double>{r.inputs[0] * r.inputs[1], 0.5 * r.inputs[0], 0.7}));
}

TEST(CommonFriction, LeavesTheRandomNumbersOfOthersAlone) {
  const Study with(three_puma({"object.mass={ uniform = [0.9, 1.1] }", "contacts.friction={ common = 0.4 }"})),
      without(three_puma({"object.mass={ uniform = [0.9, 1.1] }"}));
  EXPECT_EQ(with.replay(7).b, without.replay(7).b);
  EXPECT_EQ(with.replay(7).mu, without.replay(7).mu);
}

Scenario in_time(Scenario s, double duration = 0.1) {
  s.time.emplace();
  s.time->duration = duration;
  s.time->instants = 11;
  return s;
}

TEST(CommonFriction, DeviatesFromEachLevelByTheSameDraw) {
  Scenario s = in_time(three_puma({"contacts.friction={ common = { normal = [0.4, 0.02], min = 0.2 }, each = 0.5 }"}));
  s.time->friction = {0.3, 0.6};
  const Motion motion(s);
  const MotionSeries low = motion.series(6, 2), high = motion.series(7, 2);  // draw 3
  ASSERT_EQ(low.inputs, high.inputs);
  for (std::size_t j = 0; j < 3; ++j) {
    EXPECT_NEAR(low.friction[j], 0.3 + 0.5 * (low.inputs[0] - 0.4),
                1e-6);  // the median of the cut-off normal is the mean to 1e-7
    EXPECT_NEAR(high.friction[j] - low.friction[j], 0.3, 1e-15);
  }
}

TEST(GivenForces, HoldTheObjectInTime) {
  const auto forces = balanced_forces();
  const MotionSeries m = Motion(in_time(with_forces(three_puma(), forces))).series(0, 5);
  EXPECT_EQ(m.trajectory.end, MotionEnd::kHeld);
  EXPECT_LE(m.trajectory.peak_drift, 1e-7);
  for (std::size_t k = 0; k < 9; ++k) EXPECT_NEAR(m.force[k], forces[k / 3][static_cast<int>(k % 3)], 1e-5);
}

TEST(GivenTorques, ActInTimeLikeTheSameTorquesSampled) {
  Scenario given = in_time(with_torques(), 0.02), sampled = in_time(two_finger(), 0.02);
  sampled.time->drive = Drive::kSampled;
  sampled.time->sample_times = {0};
  for (std::size_t j = 0; j < 2; ++j) {
    std::copy(std::begin(given.fingers[j].start), std::end(given.fingers[j].start), sampled.fingers[j].start);
    sampled.time->sample_torques.push_back(given.fingers[j].tau);
  }
  const Motions a = Motion(given).run(0, 2, kScalar), b = Motion(sampled).run(0, 2, Device{});
  EXPECT_EQ(0, std::memcmp(a.looks.data(), b.looks.data(), a.looks.size() * sizeof(double)));
  given.time->drive = Drive::kConstant;
  const Motions kept = Motion(given).run(0, 2, kScalar);
  EXPECT_EQ(0, std::memcmp(a.looks.data(), kept.looks.data(), a.looks.size() * sizeof(double)));
}

std::string refusal(const Scenario& s) {
  try {
    static_cast<void>(Study(s));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(GivenTorques, OfSomeFingersOnlyAreRefusedWhereOthersBalance) {
  Scenario s = with_torques();
  s.fingers[1].tau.clear();
  EXPECT_NE(refusal(s).find("finger 0: tau: other fingers balance the load"), std::string::npos) << refusal(s);
  s.contacts[1].force = Vec3<double>{{4, 0, 0}};
  EXPECT_EQ(refusal(s), "");
}

}  // namespace
}  // namespace garra::grasp
