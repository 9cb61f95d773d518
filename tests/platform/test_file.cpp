// Platform files: they give their numbers exactly, and say where and how they are wrong.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "garra/io/platform_file.hpp"
#include "garra/platform_dynamics.hpp"
#include "garra/platform_kinematics.hpp"
#include "places.hpp"
#include "platform/files/parts.hpp"
#include "platform_reference.hpp"

namespace garra::io {
namespace {

using platform::Platform;
using platform::Poses;

std::string data_file(const std::string& name) { return test::source_folder() + "/data/platforms/" + name + ".toml"; }

std::string read_content(const std::string& file) {
  std::ifstream in(file);
  std::stringstream all;
  all << in.rdbuf();
  return all.str();
}

template <int R, int C>
void expect_same(const Mat<double, R, C>& a, const Mat<double, R, C>& b) {
  for (int i = 0; i < R * C; ++i) EXPECT_EQ(a.m[i], b.m[i]);
}

void expect_same(const platform::Link& a, const platform::Link& b) {
  EXPECT_EQ(a.mass, b.mass);
  EXPECT_EQ(a.com, b.com);
  expect_same(a.inertia, b.inertia);
}

/// To the bit, but for names.
void expect_same(const Platform& a, const Platform& b) {
  EXPECT_EQ(a.mass, b.mass);
  EXPECT_EQ(a.leg_radius, b.leg_radius);
  expect_same(a.inertia, b.inertia);
  expect_same(a.gravity, b.gravity);
  expect_same(a.home, b.home);
  expect_same(a.home_turn, b.home_turn);
  for (std::size_t i = 0; i < a.leg.size(); ++i) {
    const platform::Leg &x = a.leg[i], &y = b.leg[i];
    expect_same(x.base, y.base);
    expect_same(x.anchor, y.anchor);
    expect_same(x.axis, y.axis);
    expect_same(x.lower, y.lower);
    expect_same(x.upper, y.upper);
    EXPECT_EQ(x.length_min, y.length_min);
    EXPECT_EQ(x.length_max, y.length_max);
    EXPECT_EQ(x.universal_cone, y.universal_cone);
    EXPECT_EQ(x.spherical_cone, y.spherical_cone);
  }
}

std::string without(std::string text, const std::string& line) {
  const std::size_t at = text.find(line);
  EXPECT_NE(at, std::string::npos) << line;
  return at == std::string::npos ? text : text.erase(at, text.find('\n', at) + 1 - at);
}

std::string with(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

/// The whole message with which a text is refused.
std::string refusal(const std::string& text) {
  try {
    (void)parse_platform(text, "p.toml");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kInvalidFile);
    return error.what();
  }
  return "accepted";
}

void expect_refused(const std::string& text, const std::string& where, const std::string& why) {
  const std::string message = refusal(text);
  EXPECT_TRUE(message.starts_with(where)) << message;
  EXPECT_NE(message.find(why), std::string::npos) << message;
}

TEST(PlatformFile, HoldsTheReferenceNumbersToTheLastBit) {
  for (const char* name : {"trepa_like", "irregular"})
    expect_same(read_platform(data_file(name)), test::reference_platform(name));
}

TEST(PlatformFile, ReadsBackWhatItWrites) {
  for (const char* name : {"trepa_like", "irregular", "trepa_short"}) {
    Platform p = read_platform(data_file(name));
    p.name = "with \"quotes\"";
    p.home_turn = quaternion_of_rpy({{0.02, -0.03, 0.05}});
    p.leg[2].universal_cone = 3.2;
    p = platform::checked(p);
    const Platform again = parse_platform(platform_toml(p), "again");
    expect_same(again, p);
    EXPECT_EQ(again.name, p.name);
    expect_same(parse_platform(describe_platform(p), "described"), p);
  }
}

TEST(PlatformFile, SaysASymmetricPlatformInFewLines) {
  const Platform brief = read_platform(data_file("trepa_short")), whole = read_platform(data_file("trepa_like"));
  const double rounding = 2e-15;  // sines and cosines of the angles against the reference's
  for (std::size_t i = 0; i < brief.leg.size(); ++i) {
    for (int k = 0; k < 3; ++k) {
      EXPECT_NEAR(brief.leg[i].base[k], whole.leg[i].base[k], rounding);
      EXPECT_NEAR(brief.leg[i].anchor[k], whole.leg[i].anchor[k], rounding);
      EXPECT_NEAR(brief.leg[i].axis[k], whole.leg[i].axis[k], rounding);
    }
  }
}

TEST(PlatformFile, TurnsGravityIntoTheAxesOfABaseOnAWall) {
  const std::string text = read_content(data_file("trepa_like"));
  const auto gravity = [&](const std::string& wall) {
    return parse_platform(with(text, "leg_radius", "wall = " + wall + "\nleg_radius"), "p.toml").gravity;
  };
  expect_same(gravity("\"floor\""), Vec3<double>{{0, 0, -9.81}});
  expect_same(gravity("\"ceiling\""), Vec3<double>{{0, 0, 9.81}});
  // Down in the world is -z; the base's x axis points there where its z axis is level.
  expect_same(gravity("\"wall\""), Vec3<double>{{9.81, 0, 0}});
  expect_same(gravity("[\"90 deg\", 0, 0]"), Vec3<double>{{0, -9.81, 0}});
}

TEST(PlatformFile, TakesUnitsOverridesAndTurnedHomes) {
  const std::string text = read_content(data_file("trepa_like"));
  const Platform p = parse_platform(
      with(text, "home = { position = [0, 0, 1.15] }",
           "home = { position = [0, 0, \"1150 mm\"], axis_angle = { axis = [0, 0, 2], angle = \"10 deg\" } }"),
      "p.toml", {"platform.mass=30", "leg.1.anchor=[-0.12, 0.38, -0.04]"});
  EXPECT_EQ(p.mass, 30);
  EXPECT_EQ(p.home[2], 1.15);
  EXPECT_NEAR(p.home_turn[3], std::sin(M_PI / 36), 1e-16);
  EXPECT_EQ(p.leg[1].anchor[1], 0.38);
  EXPECT_THROW((void)parse_platform(text, "p.toml", {"platform.mas=30"}), Error);
}

TEST(PlatformFile, PointsAtTheKeyThatIsWrong) {
  const std::string text = read_content(data_file("trepa_like"));
  expect_refused("a = [", "p.toml:", "");
  expect_refused(without(text, "schema"), "p.toml:1:1: schema: missing", "");
  expect_refused(with(text, "schema = 1", "schema = 2"), "p.toml:5:1: schema: unknown version 2", "");
  expect_refused(with(text, "mass = 25", "mas = 25"), "p.toml:10:1: platform.mas: unknown key", "\"mass\"");
  expect_refused(with(text, "mass = 25", "mass = -1"), "p.toml:10:1: platform.mass", "");
  expect_refused(with(text, "mass = 25", "mass = \"25 m\""), "p.toml:10:1: platform.mass", "expected a mass");
  expect_refused(with(text, "[2.1, 2.1, 4]", "[2.1, 2.1]"), "p.toml:11:1: platform.inertia", "array of 3");
  expect_refused(with(text, "[2.1, 2.1, 4]", "[2.1, 2.1, 5]"), "p.toml:7:1: the platform \"TREPA", "no body has this");
  expect_refused(without(text, "home"), "p.toml:7:1: platform.home: missing", "Write home");
  expect_refused(with(text, "{ position = [0, 0, 1.15] }", "{ rpy = [0, 0, 0], quaternion = [1, 0, 0, 0] }"),
                 "p.toml:13:8: platform.home: turned twice", "only one");
  expect_refused(with(text, "{ position = [0, 0, 1.15] }", "{ quaternion = [0, 0, 0, 0] }"), "p.toml:13:10",
                 "the quaternion is zero");
  expect_refused(with(text, "[legs]", "[legs]\nstrike = 1"), "p.toml:17:1: legs.strike", "\"stroke\"");
  expect_refused(with(text, "[1.05, 1.85]", "[1.85, 1.05]"), "p.toml:17:1: legs.stroke: the stroke is empty", "");
  expect_refused(with(text, "[1.05, 1.85]", "[1.3, 1.85]"), "p.toml:7:1: the platform", "leg 0: its length at home");
  expect_refused(without(text, "rod ="), "p.toml:7:1", "leg 0: rod: the mass is not positive");
  expect_refused(with(text, "axis = [0.6", "axes = [0.6"), "p.toml:26:1: leg[0].axes: unknown key", "\"axis\"");
  expect_refused(with(text, "axis = [0.6691306063588583, 0.7431448254773942, 0]", "axis = [0, 0, 0]"), "p.toml:7:1",
                 "leg 0: the axis of the universal joint is zero");
  expect_refused(text.substr(0, text.rfind("[[leg]]")), "p.toml:23", "leg: a platform has 6 legs, here are 5");
  expect_refused(text + "\n[layout]\nbase_radius = 1\n", "p.toml:23", "leg: there is [layout] too");
  expect_refused(with(text, "leg_radius", "wall = \"wal\"\nleg_radius"), "p.toml:14:1: platform.wall", "\"wall\"");
}

TEST(PlatformFile, NeedsNoMassesForKinematics) {
  const std::string text =
      "schema = 1\n[platform]\nname = \"p\"\nhome = { position = [0, 0, 0.3] }\n[legs]\nstroke = [0.1, 0.9]\n"
      "[layout]\nbase_radius = 0.2\nplatform_radius = 0.15\nbase_half_angle = \"15 deg\"\n"
      "platform_half_angle = \"15 deg\"\n";
  const Platform p = io::parse_platform(text, "p.toml", {});
  EXPECT_EQ(p.mass, 0);
  const Platform again = io::parse_platform(io::platform_toml(p), "again.toml", {});
  EXPECT_EQ(again.mass, 0);
  EXPECT_EQ(again.leg[3].upper.mass, 0);
  const Poses home{{0, 0, 0.3}, {1, 0, 0, 0}};
  EXPECT_GT(inverse_kinematics({p}, home, {}).lengths[0], 0.3);
  try {
    static_cast<void>(inverse_dynamics({p}, home, {}, {}));
    FAIL() << "forces of a platform without masses";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("forces and motion need its masses"), std::string::npos) << error.what();
  }
}

TEST(PlatformFile, SaysAllThatIsWrong) {
  std::string text = read_content(data_file("trepa_like"));
  text =
      with(with(with(text, "mass = 25", "mass = -1"), "leg_radius", "wall = \"wal\"\nleg_radius"), "com = ", "con = ");
  const std::string message = refusal(text);
  for (const char* part :
       {"p.toml:10:1: platform.mass: must be at least 0 kg", "p.toml:14:1: platform.wall: unknown value",
        "legs.tube.con: unknown key\n  Did you mean \"com\"?"})
    EXPECT_NE(message.find(part), std::string::npos) << message;
  const std::string layout =
      "schema = 1\n[platform]\nname = \"p\"\nmass = 1\ninertia = [1, 1, 1]\n"
      "home = { position = [0, 0, 1] }\n[layout]\nbase_radius = 1\n";
  const std::string missing = refusal(layout);
  for (const char* key : {"legs.stroke", "layout.platform_radius", "layout.base_half_angle"})
    EXPECT_NE(missing.find(std::string(key) + ": missing"), std::string::npos) << missing;
  EXPECT_EQ(missing.find("axis"), std::string::npos) << missing;
}

TEST(PlatformFile, IsFoundByItsNameAndNamesTheOthers) {
  EXPECT_FALSE(is_platform_path("trepa_like"));
  EXPECT_TRUE(is_platform_path("trepa_like.toml"));
  EXPECT_TRUE(is_platform_toml(data_file("irregular")));
  EXPECT_FALSE(is_platform_toml(test::source_folder() + "/data/robots/scara.toml"));
  try {
    (void)read_platform("no_such_platform");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kInputOutput);
    EXPECT_NE(std::string(error.what()).find("no such platform"), std::string::npos);
  }
}

// Only a text that goes on to the last line of the sixth leg has all its numbers; any shorter one is refused at one of
// its lines.
TEST(PlatformFile, CutAnywhereIsRefusedAtAPlaceInIt) {
  const std::string text = read_content(data_file("irregular"));
  const std::size_t last_line = text.rfind('\n', text.size() - 2) + 1;
  ASSERT_GT(last_line, text.rfind("[[leg]]"));
  for (std::size_t n = 0; n < last_line; ++n) {
    const std::string cut = text.substr(0, n), message = refusal(cut);
    ASSERT_TRUE(message.starts_with("p.toml:")) << n << ": " << message;
    const auto line = std::strtol(message.c_str() + 7, nullptr, 10);
    ASSERT_GE(line, 1) << message;
    ASSERT_LE(line, 1 + std::count(cut.begin(), cut.end(), '\n')) << message;
  }
  expect_same(parse_platform(text, "p.toml"), read_platform(data_file("irregular")));
}

}  // namespace
}  // namespace garra::io
