// Scenarios with job = "platform": what is read, what is filled in, and what is refused where.
#include <gtest/gtest.h>

#include <cmath>

#include "garra/core/error.hpp"
#include "garra/io/platform_scenario.hpp"
#include "places.hpp"

namespace garra::io {
namespace {

using platform::Path;
using platform::Scenario;
using study::Distribution;

constexpr double kDegree = M_PI / 180;
const char* const kPoses =
    "poses = [{ position = [0, 0, 1.2] }, { position = [0, 0, 1.5], rpy = [\"45 deg\", 0, 0] }]\n";

std::string scenario_text(const std::string& tables) {
  return "schema = 1\njob = \"platform\"\n[platform]\nfile = \"" + test::source_folder() +
         "/data/platforms/trepa_like.toml\"\n" + tables;
}
std::string with_path(const std::string& more) { return scenario_text(std::string("[path]\n") + kPoses + more); }

/// What is said of a text; "" where nothing is.
std::string complaint(const std::string& text, const std::vector<std::string>& overrides = {}) {
  try {
    static_cast<void>(parse_platform_scenario(text, "s.toml", overrides));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(PlatformScenario, FillsInWhatIsLeftOut) {
  const Scenario s = parse_platform_scenario(with_path(""), "s.toml");
  EXPECT_EQ(s.kind, platform::Study::kPath);
  EXPECT_EQ(s.path.kind, Path::Kind::kStraight);
  EXPECT_EQ(s.path.law, Path::Law::kQuintic);
  EXPECT_EQ(s.path.instants, 101);
  EXPECT_EQ(s.path.duration, 1);
  EXPECT_EQ(s.platform.gravity[2], -9.81);
  EXPECT_EQ(s.uncertain.payload_mass.nominal(), 0);
  EXPECT_EQ(s.uncertain.mass_factor.nominal(), 1);
  EXPECT_EQ(s.allowed.force, 0);
  EXPECT_EQ(s.plan.samples, 100'000);
}

TEST(PlatformScenario, ReadsAPathWithWhatIsUncertain) {
  const Scenario s = parse_platform_scenario(
      with_path("kind = \"screw\"\nlaw = \"trapezoid\"\nduration = \"500 ms\"\ninstants = 11\n"
                "[payload]\nmass = { normal = [20, 2], min = 10 }\ncom = [0, { uniform = [0, \"20 mm\"] }, 0.1]\n"
                "[disturbance]\nforce = \"60 N\"\nmoment = { uniform = [0, 5] }\ntilt = \"2 deg\"\n"
                "[allowed]\nforce = 900\n"),
      "s.toml");
  EXPECT_EQ(s.path.kind, Path::Kind::kScrew);
  EXPECT_EQ(s.path.duration, 0.5);
  EXPECT_NEAR(s.path.pose.quaternion[4], std::cos(22.5 * kDegree), 1e-15);
  EXPECT_EQ(s.uncertain.payload_com[1].b, 0.02);
  EXPECT_EQ(s.uncertain.payload_com[2].nominal(), 0.1);
  EXPECT_EQ(s.uncertain.force_radius.kind, Distribution::Kind::kBallRadius);
  EXPECT_EQ(s.uncertain.moment_radius.kind, Distribution::Kind::kUniform);
  EXPECT_EQ(s.uncertain.tilt.kind, Distribution::Kind::kConeAngle);
  EXPECT_EQ(s.allowed.force, 900);
}

TEST(PlatformScenario, TurnsGravityWithTheBase) {
  const auto gravity = [](const char* wall) {
    return parse_platform_scenario(with_path(""), "s.toml", {std::string("platform.wall=") + wall}).platform.gravity;
  };
  EXPECT_EQ(gravity("\"floor\"")[2], -9.81);
  EXPECT_EQ(gravity("\"ceiling\"")[2], 9.81);
  EXPECT_EQ(std::abs(gravity("\"wall\"")[0]), 9.81);
  EXPECT_EQ(gravity("[\"90 deg\", 0, 0]")[1], -9.81);
}

TEST(PlatformScenario, TakesASampleForEachOrientationOfEachNode) {
  const Scenario s = parse_platform_scenario(
      scenario_text("[map]\nlow = [-0.1, 0, 1]\nhigh = [0.1, 0, 1.5]\npoints = [3, 1, 4]\norientations = 10\n"),
      "s.toml");
  EXPECT_EQ(s.kind, platform::Study::kMap);
  EXPECT_EQ(s.plan.samples, 120);
  EXPECT_EQ(s.plan.keep, "none");
}

TEST(PlatformScenario, ReadsBackWhatItPrints) {
  const std::vector<std::string> texts = {
      with_path("[payload]\nmass = { normal = [20, 2], min = 10 }\n[disturbance]\nforce = 60\ntilt = \"2 deg\"\n"
                "[geometry]\nbase_error = { normal = [0, \"0.5 mm\"] }\n[allowed]\nforce = 900\n"),
      scenario_text("[path]\nkind = \"sampled\"\ntimes = [0, 0.5, 2]\nposes = [{ position = [0, 0, 1.2] }, { position "
                    "= [0, 0, 1.3] }, { position = [0, 0.1, 1.5] }]\n"),
      scenario_text("[map]\nlow = [-0.1, 0, 1]\nhigh = [0.1, 0, 1.5]\npoints = [3, 1, 4]\ntilt = \"15 deg\"\n")};
  for (const std::string& text : texts) {
    const std::string printed = resolved_toml(parse_platform_scenario(text, "s.toml"));
    EXPECT_EQ(resolved_toml(parse_platform_scenario(printed, "s.toml")), printed);
  }
}

struct Refusal {
  const char *tables, *says;
};

TEST(PlatformScenario, SaysWhereItIsWrongAndHowToMendIt) {
  const Refusal refusals[] = {
      {"", "path: neither a path nor a map"},
      {"[path]\nposes = [{ position = [0, 0, 1] }]\n", "s.toml:6:9: path.poses: must hold two poses or more"},
      {"[path]\nposess = []\n", "path.poses"},
      {"[path]\nkind = \"spine\"\n", "s.toml:6:1: path.kind"},
      {"[payloads]\nmass = 1\n", "payloads"},
      {"[payload]\nmas = 1\n[path]\n", "payload.mas"},
      {"[payload]\nmass = -1\n[path]\n", "s.toml:6:1: payload.mass"},
      {"[payload]\nmass = \"3 mm\"\n[path]\n", "payload.mass"},
      {"[payload]\ncom = [0, 0]\n[path]\n", "payload.com"},
      {"[geometry]\nleg_mass_factor = { normal = [1, 0.3] }\n[path]\n", "geometry.leg_mass_factor"},
      {"[friction]\ncoulomb = -3\n[path]\n", "friction.coulomb"},
      {"[disturbance]\nforce = -3\n[path]\n", "disturbance.force"},
      {"[map]\nlow = [0, 0, 1]\nhigh = [0, 0, 2]\n", "map.points"},
      {"[map]\nlow = [0, 0, 2]\nhigh = [0, 0, 1]\npoints = [1, 1, 2]\n", "s.toml:7:1: map.high: lies below low"},
      {"[map]\nlow = [0, 0, 1]\nhigh = [0, 0, 2]\npoints = [1000, 1000, 2]\n", "nodes"},
      {"[map]\nlow = [0, 0, 1]\nhigh = [0, 0, 2]\npoints = [1, 1, 2]\n[sampling]\nsamples = 10\n", "sampling.samples"},
      {"[map]\nlow = [0, 0, 1]\nhigh = [0, 0, 2]\npoints = [1, 1, 2]\n[path]\n", "map: both a path and a map"},
  };
  for (const Refusal& r : refusals) {
    const std::string said = complaint(scenario_text(r.tables));
    EXPECT_NE(said.find(r.says), std::string::npos) << r.tables << "\nsaid: " << said;
  }
  const Refusal of_path[] = {
      {"duration = 0\n", "path.duration"},
      {"instants = 1\n", "path.instants: must be at least 2"},
      {"times = [0, 1]\n", "only poses of a sampled path have times"},
      {"kind = \"sampled\"\ntimes = [0, 1, 2]\n", "path.times"},
      {"kind = \"sampled\"\ntimes = [1, 1]\n", "path.times[1]: is not later"},
      {"kind = \"sampled\"\ntimes = [0, 1]\nlaw = \"uniform\"\n", "path.law"},
      {"[allowed]\nforce = 0\n", "allowed.force"},
      {"[sampling]\nchunk = 1000\n", "sampling.chunk"},
  };
  for (const Refusal& r : of_path) {
    const std::string said = complaint(with_path(r.tables));
    EXPECT_NE(said.find(r.says), std::string::npos) << r.tables << "\nsaid: " << said;
  }
}

TEST(PlatformScenario, SaysWhichPlatformsThereAre) {
  const std::string said = complaint("schema = 1\njob = \"platform\"\n[platform]\nmodel = \"trepalike\"\n");
  EXPECT_NE(said.find("platform.model"), std::string::npos) << said;
}

}  // namespace
}  // namespace garra::io
