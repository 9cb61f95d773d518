// Tool errors of arms, judged by closed forms of planar arms, by the Jacobian, and on every executor.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "accuracy/scenario.hpp"
#include "base/scenario/field_reader.hpp"
#include "garra/accuracy.hpp"
#include "garra/core/error.hpp"
#include "garra/io/robot.hpp"
#include "places.hpp"
#include "study_answer.hpp"

namespace garra::accuracy {
namespace {

using study::Distribution;

constexpr double kFirst = 0.4, kSecond = 0.3;  ///< lengths of the planar arm [m]

chain::JointInputs constant(std::vector<double> values) {
  chain::JointInputs out{{}, false};
  for (const double x : values) out.value.push_back(Distribution::constant(x));
  return out;
}

/// Two revolute joints about z, links along x, masses at the links' ends.
Scenario planar_arm(double q0, double q1) {
  Scenario s;
  s.title = "planar arm";
  s.robot = chain::from_dh({.name = "planar"}, {{.a = kFirst}, {.a = kSecond}});
  s.q = {q0, q1};
  s.frame_position = s.frame_angle = s.offset = s.backlash = constant({0, 0});
  s.stiffness = {INFINITY, INFINITY};
  s.plan.samples = 1024;
  return s;
}

/// Outputs of sample `k`: errors of position and orientation, then along x, y, z.
std::vector<double> outputs(const Scenario& s, std::int64_t k = 0) {
  const auto row = make_study(s)->row(k);
  return {row.end() - 5, row.end()};
}

TEST(Accuracy, OfJointOffsetsIsThatOfTheOtherJointValues) {
  Scenario s = planar_arm(0.3, 0.8);
  s.offset = constant({0.02, -0.05});
  const auto at = [](double a, double b) {
    return std::pair{kFirst * std::cos(a) + kSecond * std::cos(a + b),
                     kFirst * std::sin(a) + kSecond * std::sin(a + b)};
  };
  const auto nominal = at(0.3, 0.8), actual = at(0.32, 0.75);
  const double x = actual.first - nominal.first, y = actual.second - nominal.second;
  const auto out = outputs(s);
  EXPECT_NEAR(out[0], std::hypot(x, y), 1e-15);
  EXPECT_NEAR(out[1], 0.03, 1e-14);
  EXPECT_NEAR(out[2], x, 1e-15);
  EXPECT_NEAR(out[3], y, 1e-15);
  EXPECT_NEAR(out[4], 0, 1e-16);
}

TEST(Accuracy, OfAWarmArmIsItsGrowth) {
  Scenario s = planar_arm(0, 0);
  s.expansion = 23e-6;
  s.temperature = Distribution::constant(10);
  EXPECT_NEAR(outputs(s)[2], 23e-5 * (kFirst + kSecond), 1e-15);
}

TEST(Accuracy, OfAWarmArmDoesNotDependOnTheDirectionOfItsFirstAxis) {
  for (const std::string axis : {"0 0 1", "1 0 0", "0 0.6 0.8"}) {
    const auto joint = [](const std::string& parent, const std::string& child, const std::string& at,
                          const std::string& about) {
      return "<link name=\"" + child + "\"/><joint name=\"" + child + "_joint\" type=\"revolute\"><parent link=\"" +
             parent + "\"/><child link=\"" + child + "\"/><origin xyz=\"" + at + "\"/><axis xyz=\"" + about +
             "\"/><limit lower=\"-3\" upper=\"3\" effort=\"9\" velocity=\"1\"/></joint>";
    };
    Scenario s = planar_arm(0, 0);
    s.robot = io::parse_urdf("<robot name=\"r\"><link name=\"base\"/>" + joint("base", "arm", "0.5 0.1 0.4", axis) +
                                 joint("arm", "tool", "0.3 -0.2 0.7", "0 1 0") + "</robot>",
                             "r");
    s.expansion = 1e-3;
    s.temperature = Distribution::constant(1);
    const auto out = outputs(s);  // the base does not move, and the link grows
    EXPECT_NEAR(out[2], 1e-3 * 0.3, 1e-12) << axis;
    EXPECT_NEAR(out[3], 1e-3 * -0.2, 1e-12) << axis;
    EXPECT_NEAR(out[4], 1e-3 * 0.7, 1e-12) << axis;
  }
}

TEST(Accuracy, OfATiltedLinkFrameIsALeverArm) {
  Scenario s = planar_arm(0, 0);
  s.frame_angle = constant({1e-3, 0});  // about x, y and z of the first link's frame, at its far end
  const auto out = outputs(s);
  // The three turns are one rotation vector (t, t, t) that moves the second link's end.
  const double t = 1e-3, angle = t * std::sqrt(3.0);
  EXPECT_NEAR(out[1], angle, 1e-12);
  EXPECT_NEAR(out[3], kSecond * t, 1e-6);
  EXPECT_NEAR(out[4], -kSecond * t, 1e-6);
}

TEST(Accuracy, OfAPayloadIsTheDeflectionOfTheDrives) {
  Scenario s = planar_arm(0, 0);
  s.robot.gravity = {{0, -9.81, 0}};
  s.stiffness = {2000, 500};
  s.payload = Distribution::constant(3);
  // Torques about the joints of a horizontal arm, by hand.
  const double force = 3 * 9.81, first = force * (kFirst + kSecond) / 2000, second = force * kSecond / 500;
  const double y = -kFirst * std::sin(first) - kSecond * std::sin(first + second);
  EXPECT_NEAR(outputs(s)[3], y, 1e-14);
  s.gravity_compensated = true;  // of the links' weight, which is none
  EXPECT_NEAR(outputs(s)[3], y, 1e-14);
}

TEST(Accuracy, IsTheWorstOfAllPoses) {
  Scenario s = planar_arm(0, 0);
  s.offset = constant({0, 0.01});
  const double one = outputs(s)[0];
  s.offset = constant({0.01, 0});
  s.q = {0, 2.0, 0, 0, 0, 2.5};
  EXPECT_NEAR(outputs(s)[0], 2 * (kFirst + kSecond) * std::sin(0.005), 1e-15);
  EXPECT_LT(one, outputs(s)[0]);
}

/// PUMA 560 with all tolerances.
Scenario puma(double size) {
  Scenario s;
  s.title = "puma";
  s.robot = io::read_robot(test::source_folder() + "/data/robots/puma560.toml");
  s.q = {0.2, -0.7, 2.9, 0.4, 0.8, -0.3};
  const auto normal = [&](double sd) {
    return chain::JointInputs{std::vector<Distribution>(6, Distribution::normal(0, size * sd)), true};
  };
  s.frame_position = normal(1e-4);
  s.frame_angle = normal(2e-4);
  s.offset = normal(3e-4);
  s.backlash = normal(1e-4);
  s.stiffness = {4e4, 4e4, 2e4, 5e3, 5e3, 5e3};
  s.gravity_compensated = true;
  s.payload = Distribution::uniform(0, 2);
  s.temperature = Distribution::normal(0, 5);
  s.expansion = 23e-6;
  s.position_limit = 7e-4;
  s.plan.samples = 1 << 15;
  return s;
}

TEST(Accuracy, OfSmallTolerancesIsLinearInThem) {
  // Halved tolerances halve the error, to second order; payload and temperature stay out.
  Scenario full = puma(1e-2), half = puma(0.5e-2);
  full.payload = half.payload = full.temperature = half.temperature = Distribution::constant(0);
  for (std::int64_t k = 0; k < 20; ++k) EXPECT_NEAR(outputs(full, k)[0] / outputs(half, k)[0], 2, 1e-4);
}

TEST(Accuracy, HasTheSameStudyOnEveryExecutor) {
  for (const char* const keep : {"none", "failures", "all"}) {
    Scenario s = puma(1);
    s.plan.samples = 5000;
    s.plan.keep = keep;
    test::expect_study_same_on_every_executor(*make_study(s), {5000, 1024});
  }
}

TEST(Accuracy, HasTheSameCountsForEveryNumberOfJoints) {
  for (int joints = 2; joints <= kMostJoints; ++joints) {
    Scenario s;
    std::vector<chain::DhJoint> links(static_cast<std::size_t>(joints));
    for (int i = 0; i < joints; ++i) {
      links[static_cast<std::size_t>(i)].a = 0.1 + 0.05 * i;
      links[static_cast<std::size_t>(i)].alpha = i % 2 == 0 ? 1.2 : -0.4;
      s.q.push_back(0.3 * i - 0.5);
    }
    s.robot = chain::from_dh({.name = "arm"}, links);
    const auto normal = [&](double sd) {
      return chain::JointInputs{std::vector<Distribution>(links.size(), Distribution::normal(0, sd)), true};
    };
    s.frame_position = normal(1e-4);
    s.frame_angle = s.offset = s.backlash = normal(2e-4);
    s.stiffness.assign(links.size(), INFINITY);
    s.plan.samples = 2048;
    const auto study = make_study(s);
    test::expect_same_on_every_executor([&](const Device& device) {
      const study::Tally t = study->run(0, s.plan.samples, device);
      return test::Answer().add("counts", t.counts).add("sums", t.sums);
    });
  }
}

TEST(Accuracy, RefusesWhatIsNoArm) {
  Scenario s = planar_arm(0, 0);
  s.q = {0, 0, 0};
  EXPECT_THROW(static_cast<void>(make_study(s)), Error);
  s = planar_arm(0, 0);
  s.stiffness = {0, 1};
  EXPECT_THROW(static_cast<void>(make_study(s)), Error);
}

TEST(AccuracyScenario, NamesTwoMistakesOfAFile) {
  const std::string text = "schema = 1\njob = \"accuracy\"\n[robot]\nfile = \"" + test::source_folder() +
                           R"(/data/robots/puma560.toml"
[command]
q = [0, 0, 0, 0, 0]
[limit]
position = "-1 mm"
)";
  try {
    static_cast<void>(io::read_accuracy(io::ScenarioDocument::parse(text, "arm.toml")));
    FAIL();
  } catch (const Error& error) {
    const std::string what = error.what();
    EXPECT_NE(what.find("command.q"), std::string::npos) << what;
    EXPECT_NE(what.find("limit.position"), std::string::npos) << what;
  }
}

TEST(AccuracyScenario, NamesAWrongStiffnessAlone) {
  const std::string text = "schema = 1\njob = \"accuracy\"\n[robot]\nfile = \"" + test::source_folder() +
                           R"(/data/robots/puma560.toml"
[command]
q = [0, 0, 0, 0, 0, 0]
[load]
stiffness = [1000, 1000]
)";
  try {
    static_cast<void>(io::read_accuracy(io::ScenarioDocument::parse(text, "arm.toml")));
    FAIL();
  } catch (const io::FileErrors& errors) {
    ASSERT_EQ(errors.each().size(), 1u) << errors.what();
    EXPECT_NE(std::string(errors.what()).find("load.stiffness"), std::string::npos) << errors.what();
  }
}

TEST(AccuracyScenario, OfARobotThatIsNotThereSaysSo) {
  const std::string text =
      "schema = 1\njob = \"accuracy\"\n[robot]\nfile = \"nowhere.toml\"\n[command]\nq = [0, 0, 0]\n";
  EXPECT_THROW(static_cast<void>(io::read_accuracy(io::ScenarioDocument::parse(text, "arm.toml"))), Error);
}

}  // namespace
}  // namespace garra::accuracy
