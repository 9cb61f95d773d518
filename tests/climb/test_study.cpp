// Climbing platforms against statics by hand and Newton's law for the whole machine, on every executor.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>

#include "climb/scenario.hpp"
#include "garra/io/platform_file.hpp"
#include "garra/platform_dynamics.hpp"
#include "garra/platform_study.hpp"
#include "garra/study/system.hpp"
#include "on_every_executor.hpp"
#include "places.hpp"

namespace garra::climb {
namespace {

constexpr double kGravity = 9.81, kMachine = 25 + 6 * 6 + 25;  ///< mass of both rings and the legs [kg]
const std::vector<std::string> kOutcomes = {"climbed", "limit", "singular", "force", "not_resisted", "slips"};

Scenario certain(double friction) {
  Scenario s;
  s.title = "climb";
  s.platform = io::read_platform(test::source_folder() + "/data/platforms/trepa_like.toml");
  s.ring.friction = Distribution::constant(friction);
  s.plan.samples = 1;
  return s;
}

struct Found {
  std::string outcome;
  double margin, peak, failed_at;
};
Found sample(const Scenario& s, std::int64_t k = 0) {
  const std::vector<double> row = make_study(s)->row(k);
  const double* out = row.data() + row.size() - 3;
  return {kOutcomes.at(static_cast<std::size_t>(row[1])), out[0], out[1], out[2]};
}

/// Mass times height of the center of mass of everything that moves, for a ring at height z that does not turn.
double center(const platform::Platform& p, double z) {
  double total = p.mass * z;
  for (const platform::Leg& leg : p.leg) {
    const Vec3<double> tip = leg.anchor + Vec3<double>{{0, 0, z}}, way = tip - leg.base;
    const double slope = way[2] / norm(way);
    total += leg.lower.mass * (leg.base[2] + leg.lower.com * slope);
    total += leg.upper.mass * (tip[2] - leg.upper.com * slope);
  }
  return total;
}

/// With a lower ring of any mass: the machine weighs the same whichever ring holds.
class ClimbWithRing : public testing::TestWithParam<double> {};
INSTANTIATE_TEST_SUITE_P(Mass, ClimbWithRing, testing::Values(25, 31));
TEST_P(ClimbWithRing, TheHoldingRingBearsWeightAndInertiaOfTheWholeMachine) {
  Scenario s = certain(0.5);
  s.ring.mass = GetParam();
  const double machine = kMachine - 25 + GetParam();
  const Series n = nominal(s);
  const platform::Platform machines[] = {s.platform, inverted(s.platform, s.ring.mass)};
  for (const int at : {7, 20, 30, 41 + 11, 41 + 35}) {
    const bool upper = at < 41;
    const auto height = [&](double t) {  // the quintic law, of the moving ring above the other
      const double x = t / s.gait.duration, moved = s.gait.stride * x * x * x * (10 - 15 * x + 6 * x * x);
      return (upper ? s.gait.low : -s.gait.low - s.gait.stride) + moved;
    };
    const double t = s.gait.duration * (at % 41) / 40, h = 1e-4;
    double rate = 0;
    for (const int k : {-1, 0, 1})
      rate += (k == 0 ? -2 : 1) * center(machines[upper ? 0 : 1], height(t + k * h)) / (h * h);
    const double* w = n.wrench.data() + static_cast<std::ptrdiff_t>(6 * at);
    EXPECT_NEAR(w[2], -machine * kGravity - rate, 1e-4) << at;
    for (const int c : {0, 1, 3, 4}) EXPECT_NEAR(w[c], 0, 1e-9) << at;  // symmetry
  }
}

TEST(Climb, APayloadOffTheAxisIsAMomentOnTheRing) {
  Scenario s = certain(0.9);
  s.payload = Distribution::constant(20);
  s.payload_com[0] = s.payload_com[1] = Distribution::constant(0.1);
  const Series n = nominal(s);
  for (const int at : {0, 81}) {  // at rest, on either ring
    const double* w = n.wrench.data() + static_cast<std::ptrdiff_t>(6 * at);
    EXPECT_NEAR(w[2], -kGravity * (kMachine + 20), 1e-9);
    EXPECT_NEAR(w[3], -20 * kGravity * 0.1, 1e-6);
    EXPECT_NEAR(w[4], 20 * kGravity * 0.1, 1e-6);
  }
}

TEST(Climb, APayloadUnderLeaningGravityHasTheLeverArmOfItsHeight) {
  Scenario s = certain(0.9);
  s.platform.gravity = {{3, 0, -9.81}};
  const Series none = nominal(s);
  s.payload = Distribution::constant(20);
  s.payload_com[1] = Distribution::constant(0.1);
  const Series n = nominal(s);
  for (const int at : {0, 40, 41, 81}) {  // at rest; 1.1 m and 1.5 m above the lower ring, then on the holding one
    const double height = at == 0 ? 1.1 : at == 40 ? 1.5 : 0;
    const Vec3<double> force{{60, 0, -196.2}}, moment = cross(Vec3<double>{{0, 0.1, height}}, force);
    for (int c = 0; c < 6; ++c) {
      const auto k = static_cast<std::size_t>(6 * at + c);
      EXPECT_NEAR(n.wrench[k] - none.wrench[k], c < 3 ? force[c] : moment[c - 3], 1e-9) << at;
    }
  }
}

TEST(Climb, APushIsBorneByTheActuators) {
  // Of a ring at rest: the legs' forces have the push and the weight as their resultant, from the lengths' Jacobian.
  Scenario s = certain(0.9);
  s.push = Distribution::constant(60);
  s.gait.stride = 1e-9;
  s.gait.cycles = 1;
  const std::vector<double> row = make_study(s)->row(0);
  const double way = row[2 + 5], peak = row[row.size() - 2];
  const platform::Poses pose = {{0, 0, s.gait.low}, {1, 0, 0, 0}};
  const auto found = platform::inverse_dynamics({s.platform}, pose, {std::vector<double>(6), std::vector<double>(6)},
                                                {60 * std::cos(way), 60 * std::sin(way), 0, 0, 0, 0});
  double most = 0;
  for (const double f : found.force) most = std::max(most, std::abs(f));
  EXPECT_NEAR(peak, most, 1e-6 * most);
}

TEST(Climb, FrictionDecidesWhereStaticsSays) {
  // At rest a load F along the trunk slips where F = 3 mu s: normal forces stay s by symmetry.
  for (const double factor : {1.01, 0.99}) {
    Scenario s = certain(factor * kMachine * kGravity / (3 * 1000.0));
    s.ring.squeeze = Distribution::constant(1000);
    s.gait.stride = 1e-6;
    s.gait.cycles = 1;
    const Found found = sample(s);
    EXPECT_EQ(found.outcome, factor > 1 ? "climbed" : "slips");
    EXPECT_NEAR(found.margin, std::max(0.0, 1 - 1 / factor), 1e-3);
  }
}

TEST(Climb, AWrenchThatNoForcesBalanceIsToldFromASlip) {
  EXPECT_EQ(sample(certain(0.04)).outcome, "not_resisted");  // 3 * 0.04 * 6000 N < 844 N
  EXPECT_EQ(sample(certain(0.05)).outcome, "slips");
}

TEST(Climb, LimitsSingularityAndForcesEndIt) {
  Scenario s = certain(0.9);
  s.gait.stride = 0.9;
  EXPECT_EQ(sample(s).outcome, "limit");
  s = certain(0.9);
  s.near_singular = 0.9;
  EXPECT_EQ(sample(s).outcome, "singular");
  s = certain(0.9);
  s.force_limit = 50;
  const Found found = sample(s);
  EXPECT_EQ(found.outcome, "force");
  EXPECT_GT(found.peak, 50);
  EXPECT_EQ(found.failed_at, 0);
}

/// The shipped scenario with the platform's file by its place.
Scenario shipped() {
  const std::string data = test::source_folder() + "/data/", model = "model = \"trepa_like\"";
  std::ifstream file(data + "scenarios/platform_climb_trunk.toml");
  std::string text{std::istreambuf_iterator<char>(file), {}};
  text.replace(text.find(model), model.size(), "file = \"" + data + "platforms/trepa_like.toml\"");
  return io::read_climb(io::ScenarioDocument::parse(text, "trunk.toml"));
}

TEST(Climb, HasTheSameCountsOnEveryExecutor) {
  test::expect_same_on_every_executor([&](const Device& device) {
    Scenario s = shipped();
    s.gait.instants = 3;
    s.gait.cycles = 2;
    s.plan.samples = 40;
    const study::Tally t = make_study(s)->run(0, s.plan.samples, device);
    return test::Answer().add("counts", t.counts).add("sums", t.sums).add("rows", t.kept);
  });
}

TEST(Climb, RefusesWhatIsNone) {
  Scenario s = certain(0.5);
  s.ring.pads = 2;
  EXPECT_THROW(static_cast<void>(make_study(s)), Error);
  s = certain(0.5);
  s.platform.mass = 0;
  for (platform::Leg& leg : s.platform.leg) leg.lower = leg.upper = {};
  EXPECT_THROW(static_cast<void>(make_study(s)), Error);
  s = shipped();
  s.ring.trunk_radius = study::Distribution::constant(5);  // wider than the rings
  EXPECT_THROW(static_cast<void>(make_study(s)), Error);
}

TEST(ClimbScenario, NamesTwoMistakesOfAFile) {
  const std::string text = "schema = 1\njob = \"platform_climb\"\n[platform]\nfile = \"" + test::source_folder() +
                           "/data/platforms/trepa_like.toml\"\n[ring]\npads = 2\n[gait]\nstride = \"-1 m\"\n";
  try {
    static_cast<void>(io::read_climb(io::ScenarioDocument::parse(text, "climb.toml")));
    FAIL();
  } catch (const Error& error) {
    const std::string what = error.what();
    EXPECT_NE(what.find("ring.pads"), std::string::npos) << what;
    EXPECT_NE(what.find("gait.stride"), std::string::npos) << what;
  }
}

}  // namespace
}  // namespace garra::climb
