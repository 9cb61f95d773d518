// Scenario files: units, distributions and defaults come out as meant; what is wrong is told with
// its place and remedy; no bytes crash the reader.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <sstream>

#include "garra/core/error.hpp"
#include "garra/io/scenario.hpp"
#include "garra/math/rotation.hpp"
#include "places.hpp"

namespace garra {
namespace {

using grasp::Scenario;
using study::Distribution;
using Kind = Distribution::Kind;
using Overrides = std::vector<std::string>;

constexpr double kDegree = M_PI / 180;
/// A few roundings.
constexpr double kRounding = 1e-14;

std::string scenario_path(const std::string& name) { return test::source_folder() + "/data/scenarios/" + name; }

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

Scenario three_puma(const Overrides& overrides = {}) {
  return io::read_scenario(scenario_path("three_puma_sphere.toml"), overrides);
}

/// A hand of one finger on a given object and contact: the smallest scenario.
std::string one_finger(const std::string& object, const std::string& contact) {
  return "schema = 1\njob = \"grasp\"\n[hand]\nmodel = \"fingers\"\n[[hand.finger]]\nmodel = "
         "\"puma560\"\n[object]\nmass = 1\n" +
         object + "\n[[contact]]\nfriction = 0.5\n" + contact + "\n[load]\nsqueeze = 1\n";
}

grasp::Contact contact_on(const std::string& object, const std::string& contact) {
  return io::parse_scenario(one_finger(object, contact), "test.toml").contacts.at(0);
}

struct Failure {
  ExitCode code = ExitCode::kDone;
  std::string message;
};
Failure failure_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
  return {};
}

/// What parsing the text says, "" where nothing is wrong.
std::string error_of(const std::string& text) {
  const Failure f = failure_of([&] { static_cast<void>(io::parse_scenario(text, "s.toml")); });
  if (!f.message.empty()) {
    EXPECT_EQ(f.code, ExitCode::kInvalidFile) << f.message;
  }
  return f.message;
}
std::string override_error(const std::string& assignment) {
  const Failure f = failure_of([&] { static_cast<void>(three_puma({assignment})); });
  if (!f.message.empty()) {
    EXPECT_EQ(f.code, ExitCode::kUsage) << f.message;
  }
  return f.message;
}

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "\"" << part << "\" is not in: " << text;
}

void expect_vector(const Vec3<double>& v, double x, double y, double z) {
  EXPECT_NEAR(v[0], x, kRounding);
  EXPECT_NEAR(v[1], y, kRounding);
  EXPECT_NEAR(v[2], z, kRounding);
}

void expect_distribution(const Distribution& d, Kind kind, double a, double b) {
  EXPECT_EQ(d.kind, kind);
  EXPECT_NEAR(d.a, a, kRounding);
  EXPECT_NEAR(d.b, b, kRounding);
}

// ---- the default hand

TEST(Scenario, ThreePumaIsTheDefaultHandOfTheReference) {
  const Scenario s = three_puma();
  ASSERT_EQ(s.fingers.size(), 3u);
  ASSERT_EQ(s.contacts.size(), 3u);
  const double half = 0.5, height = std::sqrt(3.0) / 2;
  expect_vector(s.fingers[0].base.p, 0.6 * half, -0.6 * height, 0);
  expect_vector(s.fingers[1].base.p, 0.6 * half, 0.6 * height, 0);
  expect_vector(s.fingers[2].base.p, -0.6, 0, 0);
  for (const grasp::Finger& f : s.fingers) {
    ASSERT_EQ(f.joints.size(), 6u);
    EXPECT_EQ(f.tool.p[2], 0.1);
    EXPECT_GT(f.joints[0].link.armature, 0.5);
    EXPECT_EQ(f.ik, grasp::Ik::kPuma);
    EXPECT_EQ(f.arm, -1);
    EXPECT_EQ(f.elbow, -1);
    EXPECT_EQ(f.wrist, 1);
  }
  expect_vector(s.object.position, 0, 0, 0.3);
  EXPECT_EQ(s.plan.samples, 100'000);
  EXPECT_EQ(s.plan.seed, 20051u);
}

TEST(Scenario, ThreePumaContactFramesAreThoseOfTheReference) {
  // reference/grasp/chain.json, id 0: E_nto and p_t - p_cm.
  const Scenario s = three_puma();
  const double height = std::sqrt(3.0) / 2;
  expect_vector(s.contacts[0].point, 0.05, -0.1 * height, 0);
  expect_vector(column(s.contacts[0].frame, 2), -0.5, height, 0);
  expect_vector(column(s.contacts[0].frame, 0), 0, 0, 1);
  expect_vector(column(s.contacts[0].frame, 1), height, 0.5, 0);
  expect_vector(column(s.contacts[1].frame, 2), -0.5, -height, 0);
  expect_vector(column(s.contacts[1].frame, 1), -height, 0.5, 0);
  expect_vector(s.contacts[2].point, -0.1, 0, 0);
  expect_vector(column(s.contacts[2].frame, 2), 1, 0, 0);
  expect_vector(column(s.contacts[2].frame, 0), 0, 1, 0);
  expect_vector(column(s.contacts[2].frame, 1), 0, 0, 1);
  EXPECT_EQ(s.contacts[0].angle_sign, -1);
  EXPECT_EQ(s.contacts[1].angle_sign, 1);
  EXPECT_EQ(s.contacts[2].angle_sign, 0);
  EXPECT_EQ(s.contacts[2].curvature_t, 10);
}

TEST(Scenario, ThreePumaInputsAreReadWithTheirUnits) {
  const Scenario s = three_puma();
  expect_distribution(s.angle, Kind::kNormal, 0, 2 * kDegree);
  expect_distribution(s.object.mass, Kind::kNormal, 1, 0.15);
  EXPECT_EQ(s.object.mass.low, Distribution::normal(1, 0.15).probability_below(0.3));
  for (int i = 0; i < 3; ++i) expect_distribution(s.object.shift[i], Kind::kNormal, 0, 0.002);
  for (const grasp::Contact& c : s.contacts) {
    expect_distribution(c.friction, Kind::kNormal, 0.4, 0.08);
    EXPECT_GT(c.friction.low, 0);
    EXPECT_EQ(c.friction.high, 1);
    expect_distribution(c.slide_t, Kind::kNormal, 0, 0.002);
    expect_distribution(c.slide_o, Kind::kNormal, 0, 0.002);
    expect_distribution(c.tilt, Kind::kConeAngle, 3 * kDegree, 1 - std::cos(3 * kDegree));
    expect_distribution(c.grip_force_error, Kind::kNormal, 0, 1);
  }
  expect_distribution(s.force_magnitude, Kind::kBallRadius, 3, 0);
  EXPECT_TRUE(s.torque_magnitude.is_constant());
  EXPECT_EQ(s.grip_force.a, 15);
}

TEST(Scenario, EveryShippedScenarioIsValid) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(scenario_path(""))) {
    if (entry.path().extension() != ".toml") continue;
    ++count;
    if (io::ScenarioDocument::read(entry.path().string()).job() != "grasp")
      continue;  // checked with the program: they name other files
    EXPECT_FALSE(io::read_scenario(entry.path().string()).title.empty());
  }
  EXPECT_GE(count, 3);
}

// ---- values

TEST(Scenario, UnitsAreConverted) {
  const std::pair<const char*, double> lengths[] = {{"\"50 mm\"", 0.05}, {"\"5cm\"", 0.05},    {"0.05", 0.05},
                                                    {"\"7 mm\"", 0.007}, {"\"1e-3 km\"", 1.0}, {"\"+2.5 m\"", 2.5},
                                                    {"\"0.2m\"", 0.2}};
  for (const auto& [text, value] : lengths) {
    EXPECT_EQ(three_puma({std::string("object.radius=").append(text)}).object.radius, value) << text;
  }
  EXPECT_EQ(three_puma({"object.mass=\"500 g\""}).object.mass.a, 0.5);
  EXPECT_EQ(three_puma({"load.grip_force=\"1.5 kN\""}).grip_force.a, 1500);
  EXPECT_EQ(three_puma({"sampling.time_limit=\"2 min\""}).plan.time_limit, 120);
  EXPECT_EQ(three_puma({"sampling.time_limit=\"1500 ms\""}).plan.time_limit, 1.5);
  EXPECT_EQ(three_puma({"load.wrench.torque_radius=\"50 N*mm\""}).torque_magnitude.a, 0.05);
  EXPECT_EQ(three_puma({"load.wrench.torque_radius=\"50 mN*m\""}).torque_magnitude.a, 0.05);
  EXPECT_EQ(three_puma({"contacts.friction=\"40 %\""}).contacts[0].friction.a, 0.4);
  const Scenario s =
      three_puma({"motion.velocity=[\"100 mm/s\",0,0]", "motion.angular_velocity=[\"90 deg/s\",0,\"1 rad/s\"]"});
  EXPECT_EQ(s.velocity[0], 0.1);
  EXPECT_EQ(s.angular_velocity[0], M_PI / 2);
  EXPECT_EQ(s.angular_velocity[2], 1);
}

TEST(Scenario, AWrongDimensionNamesTheExpectedOne) {
  expect_contains(override_error("load.grip_force=\"15 mm\""),
                  "load.grip_force: expected a force (N, kN, mN), found a length");
  expect_contains(override_error("object.mass=\"3 N\""), "expected a mass (kg, g), found a force");
  expect_contains(override_error("load.wrench.torque_radius=\"3 N\""), "expected a torque");
  expect_contains(override_error("contacts.friction=\"3 deg\""), "expected a plain number, found an angle");
  expect_contains(override_error("object.radius=\"50\""), "the unit is missing");
  expect_contains(override_error("object.radius=\"50 mn\""), "unknown unit \"mn\"");
  expect_contains(override_error("object.radius=\"50 mmm\""), "Did you mean \"mm\"?");
  expect_contains(override_error("object.radius=\"wide\""),
                  "expected a length (m, mm, cm, km, in, ft), found \"wide\"");
  expect_contains(override_error("object.radius=\"50 foot\""), "unknown unit \"foot\"");
  EXPECT_EQ(override_error("object.radius=\"50 kgg\"").find("\"kg\""), std::string::npos) << "is no length";
  EXPECT_EQ(three_puma({"object.radius=\"2 in\""}).object.radius, 0.0508);
  EXPECT_NEAR(three_puma({"object.radius=\"0.25 ft\""}).object.radius, 0.0762, 1e-15);
}

TEST(Scenario, NanAndInfinityAreRefused) {
  for (const char* bad : {"nan", "inf", "-inf", "\"nan m\"", "\"inf m\"", "1e999", "\"1e999 m\""}) {
    EXPECT_FALSE(override_error("object.radius=" + std::string(bad)).empty()) << bad;
  }
}

TEST(Scenario, EveryDistributionIsRead) {
  const auto friction = [](const std::string& value) {
    return three_puma({"contacts.friction=" + value}).contacts[1].friction;
  };
  expect_distribution(friction("0.25"), Kind::kConstant, 0.25, 0);
  expect_distribution(friction("{ uniform = [0.3, 0.8] }"), Kind::kUniform, 0.3, 0.8);
  expect_distribution(friction("{ lognormal = [0.4, 0.2] }"), Kind::kLognormal, 0.4, 0.2);
  const Distribution cut = friction("{ normal = [0.4, 0.1], min = 0.2, max = 0.5 }");
  expect_distribution(cut, Kind::kNormal, 0.4, 0.1);
  EXPECT_NEAR(study::quantile(cut, 1e-12), 0.2, 1e-9);
  EXPECT_NEAR(study::quantile(cut, 1 - 1e-12), 0.5, 1e-9);
  // No spread left: a value, which is no uncertain input.
  EXPECT_TRUE(friction("{ normal = [0.4, 0] }").is_constant());
  EXPECT_TRUE(friction("{ uniform = [0.4, 0.4] }").is_constant());
}

TEST(Scenario, AnUncertainRadiusScalesTheObject) {
  const Scenario s = three_puma({"object.radius={ normal = [\"50 mm\", \"1 mm\"], min = \"40 mm\" }"});
  EXPECT_NEAR(s.object.radius, 0.05, kRounding);
  expect_distribution(s.object.scale, Kind::kNormal, 1, 0.02);
  EXPECT_NEAR(norm(s.contacts[0].point), 0.05, kRounding);
}

TEST(Scenario, AnUncertainPositionIsANominalPlaceAndADeviation) {
  const Scenario s = three_puma({"object.position=[0, { uniform = [0.01, 0.03] }, 0.4]"});
  expect_vector(s.object.position, 0, 0.02, 0.4);
  EXPECT_TRUE(s.object.shift[0].is_constant());
  expect_distribution(s.object.shift[1], Kind::kUniform, -0.01, 0.01);
}

TEST(Scenario, ContactsMayDifferInTheirInputs) {
  const Scenario s = three_puma({"contact=[{}, { friction = 0.2, slide = [0, { normal = [0, \"3 mm\"] }] }, {}]"});
  expect_distribution(s.contacts[0].friction, Kind::kNormal, 0.4, 0.08);
  EXPECT_EQ(s.contacts[1].friction.a, 0.2);
  EXPECT_TRUE(s.contacts[1].slide_t.is_constant());
  expect_distribution(s.contacts[1].slide_o, Kind::kNormal, 0, 0.003);
}

TEST(Scenario, WhatIsLeftOutHasItsDefault) {
  const Scenario s = io::parse_scenario(
      "schema=1\njob='grasp'\nhand={model='three_puma'}\nobject={shape='sphere',radius=0.1,mass=2}"
      "\n"
      "contacts={friction=0.5}\nload={grip_force=15}",
      "minimal");
  EXPECT_EQ(s.nominal_mass, 2);
  EXPECT_EQ(s.gravity[2], -9.81);
  EXPECT_EQ(s.plan.chunk, 65536);
  EXPECT_EQ(s.fingers[0].tool.p[2], 0.1);
  EXPECT_TRUE(s.angle.is_constant());
  EXPECT_EQ(s.tolerance, 1e-9);
  EXPECT_TRUE(s.check_uniqueness);
}

TEST(Scenario, ChunksGrowWithTheSamplesWhereFewOfThemAreKept) {
  const auto chunk = [](const std::string& samples, const std::string& keep, std::vector<std::string> more = {}) {
    more.insert(more.end(), {"sampling.samples=" + samples, "output.keep=" + keep});
    return io::parse_scenario(
               "schema=1\njob='grasp'\nhand={model='three_puma'}\nobject={shape='sphere',radius=0.1,mass=2}\n"
               "contacts={friction=0.5}\nload={grip_force=15}",
               "minimal", more)
        .plan.chunk;
  };
  EXPECT_EQ(chunk("1000000", "none"), 1 << 16);
  EXPECT_EQ(chunk("10000000", "none"), 1 << 20);
  EXPECT_EQ(chunk("1000000000", "none"), 1 << 22);
  EXPECT_EQ(chunk("1000000000", "failures"), 1 << 18);
  EXPECT_EQ(chunk("100000000", "all"), 1 << 16);
  EXPECT_EQ(chunk("1000000000000", "none"), 1 << 28) << "at most 4000 files";
  EXPECT_EQ(chunk("1000000000", "none", {"sampling.chunk=2048"}), 2048) << "as it is named";
}

// ---- places on shapes

void expect_right_handed_unit_frame(const grasp::Contact& c) {
  const Vec3<double> t = column(c.frame, 0), o = column(c.frame, 1), n = column(c.frame, 2);
  expect_vector(cross(t, o), n[0], n[1], n[2]);
  EXPECT_NEAR(dot(t, t), 1, kRounding);
  EXPECT_NEAR(dot(n, n), 1, kRounding);
  EXPECT_NEAR(dot(t, n), 0, kRounding);
}

TEST(ScenarioContact, OnASphereFollowsAzimuthElevationAndRoll) {
  const double phi = 0.7, psi = -0.4, roll = 0.3;
  const grasp::Contact c = contact_on("shape='sphere'\nradius=0.2", "azimuth=0.7\nelevation=-0.4\nroll=0.3");
  const Vec3<double> n = vec3(-std::cos(psi) * std::cos(phi), -std::cos(psi) * std::sin(phi), -std::sin(psi));
  const Vec3<double> t0 = vec3(-std::sin(psi) * std::cos(phi), -std::sin(psi) * std::sin(phi), std::cos(psi));
  const Vec3<double> o0 = vec3(-std::sin(phi), std::cos(phi), 0.0);
  const Vec3<double> t = axpy(std::sin(roll), o0, std::cos(roll) * t0);
  expect_vector(column(c.frame, 2), n[0], n[1], n[2]);
  expect_vector(column(c.frame, 0), t[0], t[1], t[2]);
  expect_vector(c.point, -0.2 * n[0], -0.2 * n[1], -0.2 * n[2]);
  expect_right_handed_unit_frame(c);
  EXPECT_EQ(c.curvature_o, 5);
}

TEST(ScenarioContact, OnABoxLiesOnItsFace) {
  const std::string box = "shape='box'\nsize=[0.2, 0.4, 0.6]";
  const struct {
    const char* face;
    Vec3<double> point, normal;
  } faces[] = {
      {"+x", {{0.1, 0.01, 0.02}}, {{-1, 0, 0}}}, {"-x", {{-0.1, 0.01, 0.02}}, {{1, 0, 0}}},
      {"+y", {{0.02, 0.2, 0.01}}, {{0, -1, 0}}}, {"-y", {{0.02, -0.2, 0.01}}, {{0, 1, 0}}},
      {"+z", {{0.01, 0.02, 0.3}}, {{0, 0, -1}}}, {"-z", {{0.01, 0.02, -0.3}}, {{0, 0, 1}}},
  };
  for (const auto& f : faces) {
    const grasp::Contact c = contact_on(box, "face='" + std::string(f.face) + "'\nat=[0.01, 0.02]");
    expect_vector(c.point, f.point[0], f.point[1], f.point[2]);
    expect_vector(column(c.frame, 2), f.normal[0], f.normal[1], f.normal[2]);
    expect_right_handed_unit_frame(c);
    EXPECT_EQ(c.curvature_t, 0);
    EXPECT_EQ(c.curvature_o, 0);
  }
}

TEST(ScenarioContact, OnACylinderCurvesAroundItOnly) {
  const std::string cylinder = "shape='cylinder'\nradius=0.05\nheight=0.2";
  const grasp::Contact side = contact_on(cylinder, "azimuth='90 deg'\nheight='20 mm'");
  expect_vector(side.point, 0, 0.05, 0.02);
  expect_vector(column(side.frame, 2), 0, -1, 0);
  EXPECT_EQ(side.curvature_t, 0);
  EXPECT_EQ(side.curvature_o, 20);
  const grasp::Contact turned = contact_on(cylinder, "azimuth=0\nroll='90 deg'");
  EXPECT_EQ(turned.curvature_t, 20);
  EXPECT_EQ(turned.curvature_o, 0);
  const grasp::Contact top = contact_on(cylinder, "face='+z'\nat=[0.01, 0.02]");
  expect_vector(top.point, 0.01, 0.02, 0.1);
  expect_vector(column(top.frame, 2), 0, 0, -1);
  for (const grasp::Contact& c : {side, turned, top}) expect_right_handed_unit_frame(c);
}

TEST(ScenarioContact, AtAPointTakesNormalTangentAndCurvature) {
  const std::string points = "shape='points'\ngyration=[0.03, 0.03, 0.04]";
  const grasp::Contact c = contact_on(points,
                                      "point=[0.1,0,0]\nnormal=[-2,0,0]\ntangent=[1,0,3]"
                                      "\ncurvature=[1,'0.002 1/mm']\nangle_sign=1");
  expect_vector(column(c.frame, 2), -1, 0, 0);
  expect_vector(column(c.frame, 0), 0, 0, 1);
  EXPECT_EQ(c.curvature_t, 1);
  EXPECT_NEAR(c.curvature_o, 2, kRounding);
  EXPECT_EQ(c.angle_sign, 1);
  expect_right_handed_unit_frame(c);
  // Without a tangent the frame is that of a sphere.
  const grasp::Contact ball = contact_on("shape='sphere'\nradius=0.1", "azimuth=0.7\nelevation=0.2");
  const Vec3<double> n = column(ball.frame, 2);
  std::ostringstream normal;
  normal.precision(17);
  normal << "point=[0,0,0]\nnormal=[" << n[0] << "," << n[1] << "," << n[2] << "]";
  const grasp::Contact same = contact_on(points, normal.str());
  for (int i = 0; i < 9; ++i) EXPECT_NEAR(same.frame[i], ball.frame[i], kRounding);
}

TEST(ScenarioContact, AtAPointOfTheShapeHasItsCurvature) {
  const auto curvature = [](const std::string& object, const std::string& contact) {
    const grasp::Contact c = contact_on(object, contact);
    return std::pair{c.curvature_t, c.curvature_o};
  };
  using Pair = std::pair<double, double>;
  const std::string ball = "shape='sphere'\nradius=0.2", below = "point=[0,0,-0.2]\nnormal=[0,0,1]";
  EXPECT_EQ(curvature(ball, below), Pair(5, 5));
  EXPECT_EQ(curvature(ball, below + "\ncurvature=[0,0]"), Pair(0, 0));             // as it is given
  EXPECT_EQ(curvature(ball, "point=[0,0,-0.1]\nnormal=[0,0,1]"), Pair(0, 0));      // not on it
  EXPECT_EQ(curvature(ball, "point=[0,0,-0.2]\nnormal=[0,0.6,0.8]"), Pair(0, 0));  // another surface
  const std::string can = "shape='cylinder'\nradius=0.05\nheight=0.1", side = "point=[0.05,0,0.02]\nnormal=[-1,0,0]";
  EXPECT_EQ(curvature(can, side + "\ntangent=[0,0,1]"), Pair(0, 20));
  EXPECT_EQ(curvature(can, side + "\ntangent=[0,1,0]"), Pair(20, 0));
  EXPECT_EQ(curvature(can, "point=[0.01,0,0.05]\nnormal=[0,0,-1]"), Pair(0, 0));
}

TEST(ScenarioContact, OffTheSurfaceIsRefused) {
  const std::string box = "shape='box'\nsize=[0.2, 0.4, 0.6]", cylinder = "shape='cylinder'\nradius=0.05\nheight=0.2";
  expect_contains(error_of(one_finger(box, "face='+x'\nat=[0.3, 0]")), "contact[0].at[0]: off the surface");
  expect_contains(error_of(one_finger(box, "face='+w'")), "contact[0].face: unknown value \"+w\"");
  expect_contains(error_of(one_finger(cylinder, "azimuth=0\nheight=0.2")), "contact[0].height: off the surface");
  expect_contains(error_of(one_finger(cylinder, "face='+z'\nat=[0.04,0.04]")), "off the end of the cylinder");
  expect_contains(error_of(one_finger(cylinder, "azimuth=0\nroll='30 deg'")), "not a multiple of 90 deg");
  expect_contains(error_of(one_finger("shape='points'\ngyration=[1,1,1]", "point=[0,0,0]\nnormal=[0,0,0]")),
                  "no direction");
  expect_contains(error_of(one_finger("shape='points'\ngyration=[1,1,3]", "point=[0,0,0]\nnormal=[0,0,1]")),
                  "no body has these radii");
}

// ---- fingers

TEST(ScenarioFinger, DenavitHartenbergRowsAndBodiesAreRead) {
  const Scenario s = io::read_scenario(scenario_path("two_finger_cylinder.toml"));
  const grasp::Finger& f = s.fingers[0];
  ASSERT_EQ(f.joints.size(), 4u);
  EXPECT_EQ(f.joints[1].a, 0.05);
  EXPECT_EQ(f.joints[0].alpha, M_PI / 2);
  EXPECT_EQ(f.joints[3].link.body.mass, 0.03);
  EXPECT_EQ(f.joints[2].link.body.com[0], -0.02);
  EXPECT_EQ(f.joints[2].link.body.inertia(2, 2), 6e-6);
  EXPECT_EQ(f.joints[2].link.armature, 1e-5);
  EXPECT_EQ(f.ik, grasp::Ik::kNumeric);
  EXPECT_EQ(f.start[1], 110 * M_PI / 180);
  EXPECT_EQ(f.base.R(0, 0), -1);
  EXPECT_EQ(f.base.R(1, 0), 0);
}

TEST(ScenarioFinger, WhatDoesNotFitIsRefused) {
  const std::string path = scenario_path("two_finger_cylinder.toml");
  const auto message = [&](const std::string& assignment) {
    return failure_of([&] { static_cast<void>(io::read_scenario(path, {assignment})); }).message;
  };
  expect_contains(message("hand.finger.0.mass=[1,2]"),
                  "hand.finger[0].mass: expected an array of 4, found an array of 2");
  expect_contains(message("hand.finger.1.ik=puma"), "fits model = \"puma560\" only");
  expect_contains(message("hand.finger.1.start=[0]"), "expected an array of 4");
  expect_contains(message("hand.finger.0.dh=[]"), "expected 1 to 16 rows, found 0");
  expect_contains(message("hand.finger.0.inertia.1=[1e-6,1e-6,-1e-6]"), "negative principal moment");
  expect_contains(message("hand.finger.0.mass.1=\"-1 kg\""), "must be at least 0 kg, found -1 kg");
  expect_contains(message("hand.finger.0.model=puma560"), "more than one of model, file and dh");
  expect_contains(message("hand.finger=[]"), "expected 1 to 8 fingers, found 0");
  expect_contains(message("contact=[{azimuth=0}]"), "1 contacts for 2 fingers");
  expect_contains(override_error("hand.branch=xyz"), "arm r or l, elbow u or d, wrist n or f");
}

// ---- errors

TEST(ScenarioError, SaysFileLineColumnKeyAndRemedy) {
  std::string text = read_file(scenario_path("three_puma_sphere.toml"));
  const std::string good = "grip_force = \"15 N\"";
  text.replace(text.find(good), good.size(), "grip_force = \"15 Nn\"");
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(text.find("15 Nn")), '\n');
  EXPECT_EQ(error_of(text),
            "s.toml:" + std::to_string(line) + ":1: load.grip_force: unknown unit \"Nn\"\n  Did you mean \"N\"?");
}

TEST(ScenarioError, SuggestsTheKeyThatWasMeant) {
  expect_contains(override_error("objct.mass=1"), "objct: unknown key\n  Did you mean \"object\"?");
  expect_contains(override_error("contacts.fricton=1"), "contacts.fricton: unknown key\n  Did you mean \"friction\"?");
  expect_contains(override_error("solver.precision=1"), "Keys that fit here: method, tolerance, max_iterations");
  expect_contains(override_error("hand.model=three_pma"),
                  "unknown value \"three_pma\"\n  Did you mean \"three_puma\"?");
  expect_contains(error_of("shcema=1"), "shcema: unknown key\n  Did you mean \"schema\"?");
  expect_contains(error_of("schema=1\njob='grasp'\nobject={shape='sphere',radius=1,maas=2}"),
                  "object.maas: unknown key\n  Did you mean \"mass\"?");
  expect_contains(error_of(one_finger("shape='sphere'\nradius=0.1\nsize=[1,1,1]", "azimuth=0")),
                  "object.size: unknown key");
}

TEST(ScenarioError, TypesAreNamedAsFound) {
  expect_contains(override_error("object.mass=true"), "object.mass: expected a mass (kg, g), found true");
  expect_contains(override_error("object=3"), "object: expected a table, found the number 3");
  expect_contains(override_error("object.position=[0,0]"), "expected an array of 3, found an array of 2");
  expect_contains(override_error("hand.armature=1"), "expected true or false, found the number 1");
  expect_contains(override_error("sampling.samples=\"many\""), "expected a whole number, found the string \"many\"");
  expect_contains(override_error("object.mass=1979-05-27"), "found a date or time");
  expect_contains(override_error("title=3"), "expected a string, found the number 3");
  expect_contains(override_error("contacts.friction={ normal = 3 }"),
                  "contacts.friction.normal: expected an array of 2, found the number 3");
}

TEST(ScenarioError, ImpossibleDistributionsAreRefused) {
  const auto friction = [](const std::string& value) { return override_error("contacts.friction=" + value); };
  expect_contains(friction("{ normal = [0.4, -0.1] }"), "the standard deviation is negative");
  expect_contains(friction("{ uniform = [0.8, 0.3] }"), "the lower limit is above the upper one");
  expect_contains(friction("{ lognormal = [-1, 0.3] }"), "the median is not positive");
  expect_contains(friction("{ normal = [0.4, 0.1], min = 0.5, max = 0.3 }"), "min is not below max");
  expect_contains(friction("{ normal = [0.4, 0.01], min = 0.9 }"), "less than a millionth");
  expect_contains(friction("{ normal = [0.4, 0.1], uniform = [0, 1] }"), "two distributions: normal and uniform");
  expect_contains(friction("{ nromal = [0.4, 0.1] }"), "unknown key\n  Did you mean \"normal\"?");
  expect_contains(friction("{}"), "a table without a distribution");
  expect_contains(friction("{ cone_uniform = \"3 deg\" }"), "for tilt only");
  expect_contains(override_error("contacts.tilt={ cone_uniform = \"95 deg\" }"), "below 90 deg");
}

TEST(ScenarioError, DrawsThatCouldBeImpossibleNeedALimit) {
  expect_contains(override_error("object.mass={ normal = [1, 0.15] }"),
                  "object.mass: must be above 0 kg, but draws reach down to -0.231");
  expect_contains(override_error("object.mass={ normal = [1, 0.15] }"), "Add min = ... to the distribution");
  expect_contains(override_error("object.mass={ normal = [1, 0.15], min = 0 }"), "must be above 0 kg");
  expect_contains(override_error("object.mass=0"), "must be above 0 kg, found 0 kg");
  expect_contains(override_error("contacts.friction={ normal = [0.4, 0.1] }"),
                  "must be at least 0, but draws reach down");
  expect_contains(override_error("contacts.friction={ uniform = [-0.1, 0.1] }"), "Narrow the interval");
  expect_contains(override_error("contacts.friction=-0.1"), "must be at least 0, found -0.1");
  expect_contains(override_error("object.radius={ normal = [0.1, 0.05] }"), "must be above 0 m");
  expect_contains(override_error("contacts.angle=\"180.1 deg\""), "must be above 0 rad and at most");
  // Ten standard deviations away no draw gets there: the smallest uniform number is 2^-53.
  EXPECT_EQ(override_error("object.mass={ normal = [1, 0.1] }"), "");
  EXPECT_EQ(override_error("contacts.friction={ normal = [0.4, 0.1], min = 0 }"), "");
}

TEST(ScenarioError, PlansThatCannotRunAreRefused) {
  expect_contains(override_error("sampling.samples=0"), "sampling.samples: must be 1 to");
  expect_contains(override_error("sampling.samples=-5"), "must be 1 to");
  expect_contains(override_error("sampling.samples=1.5"), "expected a whole number, found the number 1.5");
  EXPECT_EQ(three_puma({"sampling.samples=1e6"}).plan.samples, 1'000'000);
  expect_contains(override_error("sampling.chunk=1000"), "1000 is not a multiple of 1024\n  Write 1024,");
  expect_contains(override_error("sampling.chunk=5000"), "Write 5120,");
  expect_contains(override_error("sampling.stop={ half_width = 0 }"), "must be above 0");
  expect_contains(override_error("seed=-1"), "must not be negative");
  expect_contains(override_error("solver.tolerance=0"), "must be above 0 and at most 0.01");
  expect_contains(override_error("solver.max_unsolved=2"), "at most 1");
  expect_contains(override_error("output.keep=everything"), "Known values: none, failures, all");
}

TEST(ScenarioError, HandsAndObjectsThatDoNotFitAreRefused) {
  const Failure box =
      failure_of([] { static_cast<void>(three_puma({"object={ shape = \"box\", size = [1, 1, 1], mass = 1 }"})); });
  expect_contains(box.message, "hand.model: the hand three_puma holds a sphere only");
  expect_contains(override_error("job=platform"), "\"platform\" is no grasp study");
  expect_contains(override_error("schema=2"), "unknown version 2");
  expect_contains(
      error_of(one_finger("shape='sphere'\nradius=0.1", "azimuth=0") + "\n[contacts]\nangle={normal=[0,1]}"),
      "moves no contact");
  std::string text = one_finger("shape='sphere'\nradius=0.1", "azimuth=0");
  text.replace(text.find("friction = 0.5"), 14, "");
  expect_contains(error_of(text), "contact[0].friction: missing");
  expect_contains(error_of("schema=1\njob='grasp'"), "object: missing\n  Write an [object] table");
}

TEST(ScenarioError, AMissingFileIsNoInvalidFile) {
  const Failure missing = failure_of([] { static_cast<void>(io::read_scenario("/no/such/file.toml")); });
  EXPECT_EQ(missing.code, ExitCode::kInputOutput);
  expect_contains(missing.message, "/no/such/file.toml: cannot be read");
  const Failure folder = failure_of([] { static_cast<void>(io::read_scenario("/")); });
  EXPECT_EQ(folder.code, ExitCode::kInputOutput);
}

TEST(ScenarioError, JobsOfOtherKindsAreNamed) {
  const std::string path = ::testing::TempDir() + "garra_job.toml";
  std::ofstream(path) << "schema = 1\njob = \"platform\"\n";
  EXPECT_EQ(io::ScenarioDocument::read(path).job(), "platform");
  std::ofstream(path) << "schema = 1\njob = \"plattform\"\n";
  expect_contains(failure_of([&] { static_cast<void>(io::ScenarioDocument::read(path).job()); }).message,
                  "Did you mean \"platform\"?");
  std::filesystem::remove(path);
}

// ---- overrides

TEST(ScenarioOverride, TakesTomlWordsAndQuantities) {
  EXPECT_EQ(three_puma({"load.grip_force=20"}).grip_force.a, 20);
  EXPECT_EQ(three_puma({"load.grip_force=20 N"}).grip_force.a, 20);
  EXPECT_EQ(three_puma({"load.grip_force = \"20 N\""}).grip_force.a, 20);
  EXPECT_EQ(three_puma({"hand.branch=run"}).fingers[0].arm, 1);
  EXPECT_EQ(three_puma({"title=A title"}).title, "A title");
  EXPECT_EQ(three_puma({"sampling.samples=5_000", "sampling.samples=6_000"}).plan.samples, 6000);
  EXPECT_EQ(three_puma({"object.position.2=0.35"}).object.position[2], 0.35);
  EXPECT_EQ(io::read_scenario(scenario_path("four_finger_box.toml"), {"contact.3.friction=0.1"}).contacts[3].friction.a,
            0.1);
}

TEST(ScenarioOverride, SaysWhatIsWrongWithIt) {
  expect_contains(override_error("object.mass"), "--set object.mass: has no \"=\"");
  expect_contains(override_error("=3"), "not of the form a.b.c");
  expect_contains(override_error("object..mass=3"), "not of the form a.b.c");
  expect_contains(override_error("object.mass=[1"), "not a TOML value");
  expect_contains(override_error("object.mass=1\nseed=2"), "more than one value");
  expect_contains(override_error("object.mass="), "not a TOML value");
  expect_contains(override_error("object.position.3=1"), "there is no item 3 in an array of 3");
  expect_contains(override_error("object.position.4=1"), "Items are counted from 0");
  const auto listed = [](const std::string& assignment) {
    return failure_of(
               [&] { static_cast<void>(io::read_scenario(scenario_path("four_finger_box.toml"), {assignment})); })
        .message;
  };
  expect_contains(listed("contact.friction=0.3"), "\"friction\" is no number of an item of contact");
  expect_contains(listed("contact.friction=0.3"), "contact.0.friction is for the first, contacts.friction for all");
  expect_contains(override_error("seed.x=1"), "\"x\" is looked for in the number 20051");
}

// ---- the resolved scenario

void expect_same(const Distribution& a, const Distribution& b) {
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.a, b.a);
  EXPECT_NEAR(a.b, b.b, 1e-18);
  EXPECT_NEAR(a.low, b.low, 1e-14);
  EXPECT_NEAR(a.high, b.high, 1e-14);
}

template <int R, int C>
void expect_same(const Mat<double, R, C>& a, const Mat<double, R, C>& b) {
  for (int i = 0; i < R * C; ++i) EXPECT_NEAR(a[i], b[i], 1e-15);
}

void expect_same(const grasp::Contact& a, const grasp::Contact& b) {
  expect_same(a.point, b.point);
  expect_same(a.frame, b.frame);
  EXPECT_EQ(a.curvature_t, b.curvature_t);
  EXPECT_EQ(a.curvature_o, b.curvature_o);
  EXPECT_EQ(a.angle_sign, b.angle_sign);
  expect_same(a.friction, b.friction);
  expect_same(a.slide_t, b.slide_t);
  expect_same(a.slide_o, b.slide_o);
  expect_same(a.tilt, b.tilt);
  expect_same(a.grip_force_error, b.grip_force_error);
}

void expect_same(const grasp::Finger& a, const grasp::Finger& b) {
  expect_same(a.base.R, b.base.R);
  expect_same(a.base.p, b.base.p);
  EXPECT_EQ(std::tuple(a.ik, a.arm, a.elbow, a.wrist), std::tuple(b.ik, b.arm, b.elbow, b.wrist));
  ASSERT_EQ(a.joints.size(), b.joints.size());
  EXPECT_EQ(a.modified, b.modified);
  expect_same(a.tool.p, b.tool.p);
  expect_same(a.tool.R, b.tool.R);
  for (std::size_t i = 0; i < a.joints.size(); ++i) {
    const chain::DhJoint &x = a.joints[i], &y = b.joints[i];
    EXPECT_EQ(std::tuple(x.a, x.d, x.alpha, x.theta), std::tuple(y.a, y.d, y.alpha, y.theta));
    EXPECT_EQ(std::tuple(x.link.joint.prismatic, x.link.body.mass, x.link.armature),
              std::tuple(y.link.joint.prismatic, y.link.body.mass, y.link.armature));
    expect_same(x.link.body.com, y.link.body.com);
    expect_same(x.link.body.inertia, y.link.body.inertia);
    EXPECT_EQ(a.start[i], b.start[i]);
  }
}

void expect_same(const Scenario& a, const Scenario& b) {
  EXPECT_EQ(a.title, b.title);
  ASSERT_EQ(a.fingers.size(), b.fingers.size());
  ASSERT_EQ(a.contacts.size(), b.contacts.size());
  for (std::size_t j = 0; j < a.fingers.size(); ++j) expect_same(a.fingers[j], b.fingers[j]);
  for (std::size_t j = 0; j < a.contacts.size(); ++j) expect_same(a.contacts[j], b.contacts[j]);
  EXPECT_EQ(a.object.shape, b.object.shape);
  EXPECT_EQ(a.object.radius, b.object.radius);
  expect_same(a.object.size, b.object.size);
  expect_same(a.object.gyration2, b.object.gyration2);
  expect_same(a.object.mass, b.object.mass);
  expect_same(a.object.scale, b.object.scale);
  expect_same(a.object.position, b.object.position);
  expect_same(a.object.rpy, b.object.rpy);
  for (int i = 0; i < 3; ++i) {
    expect_same(a.object.shift[i], b.object.shift[i]);
    expect_same(a.object.turn[i], b.object.turn[i]);
  }
  for (const auto& d :
       {std::pair(a.angle, b.angle), std::pair(a.grip_force, b.grip_force), std::pair(a.compensation, b.compensation),
        std::pair(a.force_magnitude, b.force_magnitude), std::pair(a.torque_magnitude, b.torque_magnitude)}) {
    expect_same(d.first, d.second);
  }
  for (const auto& v : {std::pair(a.gravity, b.gravity), std::pair(a.force, b.force), std::pair(a.torque, b.torque),
                        std::pair(a.velocity, b.velocity), std::pair(a.angular_velocity, b.angular_velocity)}) {
    expect_same(v.first, v.second);
  }
  EXPECT_EQ(std::tuple(a.nominal_mass, a.tolerance, a.max_iterations, a.check_uniqueness),
            std::tuple(b.nominal_mass, b.tolerance, b.max_iterations, b.check_uniqueness));
  const study::Plan &p = a.plan, &q = b.plan;
  EXPECT_EQ(std::tuple(p.seed, p.samples, p.chunk, p.stop_half_width, p.time_limit, p.max_unsolved, p.keep),
            std::tuple(q.seed, q.samples, q.chunk, q.stop_half_width, q.time_limit, q.max_unsolved, q.keep));
}

Scenario round_trip(const Scenario& s) { return io::parse_scenario(io::resolved_toml(s), "resolved"); }

TEST(ResolvedScenario, ReadsBackToTheSameModel) {
  for (const char* name : {"three_puma_sphere.toml", "four_finger_box.toml", "two_finger_cylinder.toml"}) {
    SCOPED_TRACE(name);
    const Scenario s = io::read_scenario(scenario_path(name));
    expect_same(s, round_trip(s));
    EXPECT_EQ(io::resolved_toml(s), io::resolved_toml(round_trip(s)));
  }
}

TEST(ResolvedScenario, KeepsEveryKey) {
  const Scenario s = three_puma({"title=\"quotes \\\" and \\\\ and \\t\"",
                                 "object.radius={ lognormal = [0.1, 0.02], max = 0.11 }",
                                 "object.rpy=[0.1,\"20 deg\",-0.3]",
                                 "object.turn=[0,{ uniform = [\"-1 deg\",\"1 deg\"] },0.01]",
                                 "hand.armature=false",
                                 "hand.branch=ruf",
                                 "load.gravity=[0,1,-9]",
                                 "load.compensation={ normal = [1, 0.02] }",
                                 "load.nominal_mass=0.9",
                                 "load.wrench={ force = [1,2,3], torque = [0.1,0.2,0.3], "
                                 "force_magnitude = { uniform = [0, 2] }, torque_radius = 0.05 }",
                                 "motion.velocity=[0.1,0.2,0.3]",
                                 "motion.angular_velocity=[\"10 deg/s\",0,1]",
                                 "solver.tolerance=1e-10",
                                 "solver.max_iterations=99",
                                 "solver.max_unsolved=0.25",
                                 "solver.check_uniqueness=false",
                                 "sampling.samples=12345",
                                 "sampling.chunk=2048",
                                 "sampling.stop={ half_width = 5e-4 }",
                                 "sampling.time_limit=\"1 h\"",
                                 "output.keep=all",
                                 "seed=9007199254740993"});
  EXPECT_EQ(s.plan.seed, 9007199254740993u);
  expect_same(s, round_trip(s));
}

TEST(ResolvedScenario, IsTheSameForPointsPrismaticJointsAndTools) {
  const Scenario s = io::parse_scenario(
      "schema=1\njob='grasp'\nhand={model='fingers', finger=[{ dh=[[0,0,'90 "
      "deg',0],[0.1,0.2,0.3,'45 deg']], modified=true, "
      "prismatic=[false,true], mass=[1,2], inertia=[[1,2,2.5],[3,3,3,0.1,0.2,0.3]], "
      "armature=[0.1,'2 kg'], start=[0.1,'20 mm'], "
      "tool={position=[0,0.1,0.2],rpy=[0.1,0.2,0.3]}, base={rpy=['10 deg','90 deg',0]} }]}\n"
      "object={shape='points',gyration=['30 mm','30 mm','40 mm'],mass=1}\n"
      "contact=[{point=[0.1,0,0],normal=[-1,0.2,0.1],roll='30 "
      "deg',curvature=[3,-4],friction=0.3}]\nload={grip_force=1}",
      "inline");
  expect_same(s, round_trip(s));
}

// ---- nothing crashes

TEST(ScenarioFuzz, HostileTextIsRefusedNotCrashed) {
  const auto repeat = [](const std::string& text, int n, std::string before = "", const std::string& after = "") {
    for (int i = 0; i < n; ++i) before.append(text);
    return before.append(after);
  };
  const std::string hostile[] = {"",
                                 "[$",
                                 "[[$",
                                 "[",
                                 "[[",
                                 "[\"",
                                 "x",
                                 "=",
                                 "x=",
                                 "x=[",
                                 "x={",
                                 "\"",
                                 "'''",
                                 "\"\"\"",
                                 std::string("\0", 1),
                                 "\xff\xfe",
                                 "\xc0\x80",
                                 "\xed\xa0\x80",
                                 "\xf4\x90\x80\x80",
                                 "a.=1",
                                 ".a=1",
                                 "[a.]",
                                 "[.]",
                                 "x=0x",
                                 "x=1__0",
                                 "x=\"\\u",
                                 "x=\"\\uD800\"",
                                 "x=1e",
                                 "x=+",
                                 "x=0b2",
                                 "x=99999999999999999999",
                                 "[[hand]]\n[hand]\n",
                                 "hand=[]",
                                 "[hand.finger]\n[[hand.finger]]",
                                 "x=1979-99-99",
                                 "#\x01",
                                 repeat("[", 100000),
                                 repeat("x=[", 1000),
                                 repeat("[", 100000, "x="),
                                 repeat("{a=", 100000, "x="),
                                 repeat("a.", 1000000, "", "b=1"),
                                 repeat("a.", 1000000, "[", "b]"),
                                 repeat("a.", 100000, "x={", "b=1}"),
                                 repeat("[{a.a.a.a.a.a.a.a=", 200, "x="),
                                 repeat("a", 1000000, "x=\"", "\""),
                                 repeat("a", 1000000, "", "=1"),
                                 repeat("9", 100000, "x="),
                                 repeat("\n", 100000, "", "x=1"),
                                 repeat("[a.b.c.d.e.f.g.h]\n", 3),
                                 repeat("x", 10000001)};
  for (const std::string& text : hostile) {
    const std::string message = error_of(text);
    EXPECT_EQ(message.rfind("s.toml:", 0), 0u) << text.substr(0, 40) << " -> " << message.substr(0, 200);
  }
}

/// One random change of the text, from flipped bits to doubled lines.
std::string mutated(std::string text, std::mt19937& random) {
  static const std::string kTokens[] = {"[$",
                                        "[",
                                        "]",
                                        "{",
                                        "}",
                                        "\"",
                                        "'",
                                        "\"\"\"",
                                        "=",
                                        ".",
                                        ",",
                                        "\n",
                                        "#",
                                        "nan",
                                        "inf",
                                        "-",
                                        "1e999",
                                        "0",
                                        "-1",
                                        "\\u0000",
                                        "\\",
                                        "[[contact]]\n",
                                        "[hand.finger]\n",
                                        "uniform = [0, 1]",
                                        "normal",
                                        "min = 0",
                                        "true",
                                        "1979-05-27",
                                        "\xc3",
                                        "\xf0\x9f\x98\x80",
                                        "\"30 deg\"",
                                        "a.b.c=1\n",
                                        "9223372036854775808",
                                        "0x",
                                        "_",
                                        "{}",
                                        "[]",
                                        "''"};
  const auto pick = [&](std::size_t n) { return static_cast<std::size_t>(random()) % std::max<std::size_t>(n, 1); };
  const std::size_t at = pick(text.size());
  switch (random() % 6) {
    case 0:
      if (!text.empty()) text[at] = static_cast<char>(random());
      break;
    case 1:
      text.erase(at, 1 + pick(20));
      break;
    case 2:
      text.insert(at, kTokens[pick(std::size(kTokens))]);
      break;
    case 3:
      text.insert(pick(text.size()), text.substr(at, pick(60)));
      break;
    case 4:
      text.resize(at);
      break;
    default: {
      const std::string& token = kTokens[pick(std::size(kTokens))];
      const std::size_t value = text.find('=', at);
      if (value != std::string::npos)
        text.replace(value + 1, std::min(text.find('\n', value), text.size()) - value - 1, token);
    }
  }
  return text;
}

TEST(ScenarioFuzz, MutatedScenariosAreReadOrRefused) {
  constexpr int kInputs = 4000;
  std::mt19937 random(1);
  const char* names[] = {"three_puma_sphere.toml", "four_finger_box.toml", "two_finger_cylinder.toml"};
  int refused = 0;
  for (int k = 0; k < kInputs; ++k) {
    std::string text = read_file(scenario_path(names[k % 3]));
    for (unsigned change = 0; change <= random() % 4; ++change) text = mutated(std::move(text), random);
    try {
      const Scenario s = io::parse_scenario(text, "s.toml");
      ASSERT_EQ(s.fingers.size(), s.contacts.size());
      static_cast<void>(round_trip(s));
    } catch (const Error& error) {
      ++refused;
      ASSERT_EQ(error.code(), ExitCode::kInvalidFile) << error.what();
      ASSERT_EQ(std::string(error.what()).rfind("s.toml:", 0), 0u) << error.what() << "\n" << text;
    }
  }
  // Neither is everything refused nor everything taken: the mutations reach past the parser.
  EXPECT_GT(refused, kInputs / 4);
  EXPECT_LT(refused, kInputs);
}

}  // namespace
}  // namespace garra
