// Robot files: the models of data/robots against reference poses, TOML and URDF read as meant, what is wrong told with
// its place, and no bytes crash the readers.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <sstream>

#include "garra/chain_eval.hpp"
#include "garra/io/robot.hpp"
#include "garra/math/rotation.hpp"
#include "places.hpp"
#include "reference.hpp"

namespace garra {
namespace {

using chain::Robot;

/// The reference poses are rounded to double; what remains are a few dozen roundings of our own.
constexpr double kPose = 1e-12;
constexpr double kRounding = 1e-14;

std::string robot_path(const std::string& name) { return test::source_folder() + "/data/robots/" + name; }

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// World poses of the kernel frames, by (1) of model.hpp.
std::vector<Pose<double>> kernel_frames(const Robot& robot, const double* q) {
  std::vector<Pose<double>> out;
  Pose<double> frame = robot.base;
  for (std::size_t i = 0; i < robot.form.size(); ++i) {
    const auto& f = robot.form[i];
    const bool slides = robot.joint[i].prismatic;
    const double c = std::cos(f.theta + (slides ? 0 : q[i])), s = std::sin(f.theta + (slides ? 0 : q[i]));
    const Pose<double> x{{{1, 0, 0, 0, f.cos_alpha, -f.sin_alpha, 0, f.sin_alpha, f.cos_alpha}}, Vec3<double>::zero()};
    const Pose<double> z{{{c, -s, 0, s, c, 0, 0, 0, 1}}, {{f.a, f.b, f.d + (slides ? q[i] : 0)}}};
    frame = frame * x * z;
    out.push_back(frame);
  }
  return out;
}

Pose<double> tool_at(const Robot& robot, const double* q) { return kernel_frames(robot, q).back() * robot.tool; }

/// Largest difference from the rows of a 3x4 or 4x4 matrix.
template <class Entry>
double gap(const Pose<double>& have, Entry want) {
  double most = 0;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) most = std::max(most, std::abs(have.R(i, j) - want(i, j)));
    most = std::max(most, std::abs(have.p[i] - want(i, 3)));
  }
  return most;
}

void expect_reference_poses(const Robot& robot, const std::string& file) {
  const test::ReferenceArray q = test::read_reference(file, "q"), T = test::read_reference(file, "T_ee");
  ASSERT_GE(q.count(), 80u);
  for (std::size_t i = 0; i < q.count(); ++i) {
    const auto want = [&](int r, int c) { return T.item(i)[4 * r + c]; };
    EXPECT_LT(gap(tool_at(robot, q.item(i)), want), kPose) << "sample " << i;
  }
}

TEST(RobotModels, Puma560StandsWherePinocchioPutsIt) {
  expect_reference_poses(io::read_robot(robot_path("puma560.toml")), "chain/puma560.h5");
}

TEST(RobotModels, Iiwa14StandsWherePinocchioPutsIt) {
  expect_reference_poses(io::read_robot(robot_path("iiwa14.urdf")), "chain/iiwa14.h5");
}

TEST(RobotModels, ExoskeletonStandsWhereQuadruplePrecisionPutsIt) {
  const Robot robot = io::read_robot(robot_path("exoskeleton.toml"));
  const nlohmann::json samples = test::read_reference_json("chain/exoskeleton_static.json").at("samples");
  ASSERT_EQ(samples.size(), 60u);
  for (const nlohmann::json& sample : samples) {
    const std::vector<double> q = sample.at("q");
    const auto frames = kernel_frames(robot, q.data());
    for (std::size_t k = 0; k < 7; ++k) {
      const nlohmann::json& T = sample.at("T").at(k);
      const Pose<double> have = k < 6 ? frames[k] * robot.link[k].offset : frames[5] * robot.tool;
      EXPECT_LT(gap(have, [&](int r, int c) { return T.at(r).at(c).get<double>(); }), kPose) << "frame " << k + 1;
      if (k == 6) continue;
      const Vec3<double> com = have.R * robot.body[k].com + have.p;
      for (int i = 0; i < 3; ++i) EXPECT_NEAR(com[i], sample.at("com").at(k).at(i).get<double>(), kPose);
      const Vec3<double> moment = frames[k].R * robot.form[k].first + robot.form[k].mass * frames[k].p;
      for (int i = 0; i < 3; ++i) EXPECT_NEAR(moment[i], robot.form[k].mass * com[i], 1e-15);
    }
  }
}

/// Potential energy's derivative by central differences; the shoulder's printed value checks masses and signs.
TEST(RobotModels, Puma560HoldsItselfWithThePrintedTorques) {
  const Robot robot = io::read_robot(robot_path("puma560.toml"));
  const auto energy = [&](const std::vector<double>& q) {
    const auto frames = kernel_frames(robot, q.data());
    double U = 0;
    for (std::size_t i = 0; i < 6; ++i)
      U -= dot(robot.gravity, frames[i].R * robot.form[i].first + robot.form[i].mass * frames[i].p);
    return U;
  };
  const std::vector<double> qn = {0, M_PI / 4, M_PI, 0, M_PI / 4, 0};
  const double printed[6] = {0, 31.6399, 6.0351, 0, 0.0283, 0};  // Corke's manual, four decimals
  for (std::size_t i = 0; i < 6; ++i) {
    std::vector<double> high = qn, low = qn;
    high[i] += 1e-5;
    low[i] -= 1e-5;
    EXPECT_NEAR((energy(high) - energy(low)) / 2e-5, printed[i], 5e-5 + 1e-8);
  }
  EXPECT_NEAR(robot.form[0].armature, 62.6111 * 62.6111 * 200e-6, kRounding);
  EXPECT_NEAR(robot.form[5].armature, 76.686 * 76.686 * 33e-6, kRounding);
}

TEST(RobotModels, Ur5StandsUprightAndReachesAsTheDataSheetSays) {
  const Robot robot = io::read_robot(robot_path("ur5.toml"));
  const double flat[6] = {}, up[6] = {0, -M_PI / 2, 0, -M_PI / 2, 0, 0};
  EXPECT_LT(gap(tool_at(robot, flat),
                [](int r, int c) {
                  const double T[3][4] = {{1, 0, 0, -0.81725}, {0, 0, -1, -0.19145}, {0, 1, 0, -0.005491}};
                  return T[r][c];
                }),
            kPose);
  EXPECT_NEAR(tool_at(robot, up).p[2], 0.089159 + 0.425 + 0.39225 + 0.09465, kPose);
  double mass = 0;
  for (const chain::Body& body : robot.body) mass += body.mass;
  EXPECT_NEAR(mass, 17.0489, 1e-9);  // 18.4 kg with the base, says the data sheet
}

TEST(RobotModels, ScaraAndStanfordSlideAlongTheirThirdAxis) {
  const Robot scara = io::read_robot(robot_path("scara.toml")), stanford = io::read_robot(robot_path("stanford.toml"));
  const double zero[4] = {}, down[4] = {0, 0, 0.1, 0}, folded[4] = {0, M_PI / 2, 0, 0};
  const Vec3<double> stretched = tool_at(scara, zero).p;
  EXPECT_NEAR(stretched[0], 0.6, kPose);
  EXPECT_NEAR(stretched[2], 0.387, kPose);
  EXPECT_NEAR(tool_at(scara, down).p[2], 0.287, kPose);
  EXPECT_NEAR(tool_at(scara, folded).p[1], 0.275, kPose);
  const double out[6] = {0, 0, 0.5, 0, 0, 0}, level[6] = {0, M_PI / 2, 0.5, 0, 0, 0};
  EXPECT_NEAR(tool_at(stanford, out).p[2], 0.412 + 0.5 + 0.263, kPose);
  EXPECT_NEAR(tool_at(stanford, out).p[1], 0.154, kPose);
  EXPECT_NEAR(tool_at(stanford, level).p[0], 0.5 + 0.263, kPose);
  EXPECT_TRUE(scara.joint[2].prismatic && stanford.joint[2].prismatic);
}

TEST(RobotModels, EveryModelSaysWhereItsNumbersComeFrom) {
  int models = 0;
  for (const auto& entry : std::filesystem::directory_iterator(robot_path(""))) {
    const Robot robot = io::read_robot(entry.path().string());
    EXPECT_FALSE(robot.source.empty()) << entry.path();
    EXPECT_NE(io::describe_robot(robot).find("kernel form"), std::string::npos);
    ++models;
  }
  EXPECT_GE(models, 6);
}

struct Failure {
  ExitCode code = ExitCode::kDone;
  std::string message = "accepted";
};
Failure failure_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& e) {
    return {e.code(), e.what()};
  }
  return {};
}

Robot toml(const std::string& body, const std::string& convention = "dh", const io::RobotOptions& options = {}) {
  return io::parse_robot_toml("schema = 1\nrobot = \"r\"\nconvention = \"" + convention + "\"\n" + body, "r.toml",
                              options);
}

/// The refusal of a robot whose fourth line on is `body`.
void expect_refused(const std::string& body, const std::string& message, const std::string& convention = "dh") {
  const Failure failure = failure_of([&] { static_cast<void>(toml(body, convention)); });
  EXPECT_EQ(failure.code, ExitCode::kInvalidFile) << body;
  EXPECT_NE(failure.message.find(message), std::string::npos) << failure.message;
}

TEST(RobotToml, ReadsUnitsLimitsAndDefaults) {
  const Robot r = toml(
      "gravity = [0, 0, -1.62]\nbase = { position = [0, 0, \"5 cm\"], rpy = [0, 0, \"90 deg\"] }\n"
      "[[joint]]\na = \"50 mm\"\nalpha = \"90 deg\"\ntheta = \"30 deg\"\nlimits = [\"-45 deg\", 1]\nvelocity_limit = "
      "\"90 deg/s\"\n"
      "effort_limit = \"50 N*mm\"\nmass = \"200 g\"\ncom = [0.1, 0, 0]\ninertia = [1e-3, 2e-3, \"2500000 g*mm^2\"]\n"
      "armature = 0.1\ndamping = \"0.2 N*m*s/rad\"\n"
      "[[joint]]\ntype = \"prismatic\"\nname = \"slide\"\nframe = \"sled\"\nlimits = [0, \"1 m\"]\nmass = 1\n");
  ASSERT_EQ(r.joints, 2);
  EXPECT_EQ(r.gravity[2], -1.62);
  EXPECT_EQ(r.base.p[2], 0.05);
  EXPECT_EQ(r.base.R(1, 0), 1);
  EXPECT_EQ(r.form[1].a, 0.05);
  EXPECT_EQ(r.form[1].sin_alpha, 1);
  EXPECT_EQ(r.form[1].cos_alpha, 0);
  EXPECT_NEAR(r.form[0].theta, M_PI / 6, kRounding);
  EXPECT_NEAR(r.joint[0].lower, -M_PI / 4, kRounding);
  EXPECT_EQ(r.joint[0].upper, 1);
  EXPECT_NEAR(r.joint[0].velocity_limit, M_PI / 2, kRounding);
  EXPECT_NEAR(r.joint[0].effort_limit, 0.05, kRounding);
  EXPECT_EQ(r.body[0].mass, 0.2);
  EXPECT_NEAR(r.body[0].inertia(2, 2), 2.5e-3, kRounding);
  EXPECT_EQ(r.form[0].armature, 0.1);
  EXPECT_NEAR(r.form[0].damping, 0.2, kRounding);
  EXPECT_TRUE(r.joint[1].prismatic);
  EXPECT_EQ(r.joint[1].name, "slide");
  EXPECT_EQ(r.link[1].name, "sled");
  EXPECT_EQ(r.joint[1].effort_limit, chain::kNoLimit);
  EXPECT_EQ(r.joint[1].upper, 1);
}

/// One arm in four conventions: the tool is in the same place.
TEST(RobotToml, ConventionsAgree) {
  const Robot dh =
      toml("[[joint]]\na = 0.3\nalpha = \"90 deg\"\n[[joint]]\na = 0.2\n[[joint]]\ntype = \"prismatic\"\n");
  const Robot modified = toml(
      "tool = { position = [0, 0, 0] }\n[[joint]]\n[[joint]]\na = 0.3\nalpha = \"90 deg\"\n[[joint]]\na = 0.2\ntype = "
      "\"prismatic\"\n",
      "modified_dh");
  const Robot gryma = toml(
      "tool = { rpy = [\"90 deg\", 0, 0] }\n[[joint]]\ntheta = 6\n[[joint]]\ntheta = 8\nd = [0.3, 0, 0]\nalpha = \"-90 "
      "deg\"\nbeta = \"90 deg\"\n"
      "[[joint]]\ntheta = 7\nd = [0.2, 0, 0]\nalpha = \"270 deg\"\nbeta = \"90 deg\"\n",
      "gryma");
  const Robot screws = toml(
      "home = { position = [0.5, 0, 0], rpy = [\"90 deg\", 0, 0] }\n[[joint]]\nscrew = [0, 0, 1, 0, 0, 0]\n"
      "[[joint]]\nscrew = [0, -1, 0, 0, 0, -0.3]\n[[joint]]\nscrew = [0, 0, 0, 0, -1, 0]\npose = { position = [0.5, 0, "
      "0] }\n",
      "screws");
  const double q[3] = {0.4, -1.1, 0.25};
  const Pose<double> want = tool_at(dh, q);
  EXPECT_NEAR(want.p[2], 0.2 * std::sin(-1.1), kRounding);
  for (const Robot& other : {modified, gryma, screws})
    EXPECT_LT(gap(tool_at(other, q), [&](int r, int c) { return c < 3 ? want.R(r, c) : want.p[r]; }), kRounding);
}

TEST(RobotToml, TheExampleOfTheDocumentationIsRead) {
  const std::string page = read_file(test::source_folder() + "/docs/reference/robots.md");
  const std::size_t begin = page.find("```toml\n"), end = page.find("```", begin + 8);
  ASSERT_NE(begin, std::string::npos);
  const Robot r = io::parse_robot_toml(page.substr(begin + 8, end - begin - 8), "robots.md");
  EXPECT_EQ(r.joints, 2);
  EXPECT_EQ(r.form[0].armature, 0.5);
  EXPECT_TRUE(r.notes.empty());
}

TEST(RobotFiles, UnknownNamesGetTheListOfModels) {
  // Models of data/robots are found from the root of the tree.
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(test::source_folder());
  const Failure failure = failure_of([] { static_cast<void>(io::read_robot("ur10")); });
  std::filesystem::current_path(before);
  EXPECT_NE(
      failure.message.find(
          "\"ur10\": there is no such file, and no such model\n  Did you mean \"ur10e\"? Models: "
          "exoskeleton, exoskeleton_dh, exoskeleton_mdh, exoskeleton_original, exoskeleton_parts, gallardo_3, gen3, "
          "iiwa14, jaco2, panda, puma560, scara, stanford, ur10e, ur5."),
      std::string::npos)
      << failure.message;
}

TEST(RobotToml, InchesFeetAndTurnsAreUnits) {
  const Robot r = toml(
      "[[joint]]\na = \"10 in\"\nd = \"2 ft\"\nalpha = \"0.25 turn\"\nlimits = [\"-2 turns\", 1]\n"
      "inertia = [\"1 kg*ft^2\", 0.1, 0.1]\n[[joint]]\n",
      "dh");
  EXPECT_EQ(r.form[1].a, 0.254);
  EXPECT_EQ(r.form[0].d, 0.6096);
  EXPECT_EQ(r.form[1].sin_alpha, 1);
  EXPECT_EQ(r.joint[0].lower, -4 * M_PI);
  EXPECT_NEAR(r.body[0].inertia(0, 0), 0.09290304, 1e-16);
  expect_refused("[[joint]]\na = \"10 inn\"\n", "unknown unit \"inn\"\n  Did you mean \"in\"?");
  // No unit of another dimension is suggested: "mi" is next to "min".
  expect_refused("[[joint]]\na = \"3 yd\"\n", "Known units, joined by * and /: m, mm, cm, km, um, in, ft.");
  expect_refused("[[joint]]\nalpha = \"3 h\"\n", "expected an angle (rad, deg, turn), found a time");
}

TEST(RobotToml, InertiaMayBeTheNineEntriesOfTheMatrix) {
  const Robot r = io::parse_robot_toml(
      "schema = 1\nrobot = \"r\"\nconvention = \"dh\"\n[[joint]]\nmass = 1\n"
      "inertia = [0.3, 0.01, 0.02, 0.01, 0.4, 0.03, 0.02, 0.03, 0.5]\n",
      "r.toml");
  const double want[9] = {0.3, 0.01, 0.02, 0.01, 0.4, 0.03, 0.02, 0.03, 0.5};
  for (int k = 0; k < 9; ++k) EXPECT_EQ(r.body[0].inertia[k], want[k]);
}

TEST(RobotToml, RefusesWithPlaceAndRemedy) {
  expect_refused("[[joint]]\nalhpa = 1\n", "r.toml:5:1: joint[0].alhpa: unknown key\n  Did you mean \"alpha\"?");
  expect_refused("[[joint]]\n[[joint]]\nalpha = \"90 mm\"\n", "r.toml:6:1: joint[1].alpha: expected an angle");
  expect_refused("[[joint]]\ntype = \"revolut\"\n", "Did you mean \"revolute\"?");
  expect_refused("[[joint]]\nlimits = [1, -1]\n",
                 "joint[0].limits: the lower limit is above the upper\n  Write [-1, 1] if the two are exchanged, "
                 "[1, 5.283185] rad if the range leads through half a turn: the lower limit comes first.");
  expect_refused("[[joint]]\ninertia = [1, 0, 0, 0, 1, 0, 0, 0.1, 1]\n", "not symmetric: entries 8 and 6 differ");
  expect_refused("[[joint]]\nscrew = [0, 0, 2, 0.2, 0, 0]\n",
                 "r.toml:5:1: joint[0].screw: the direction has length 2, not 1", "screws");
  expect_refused("[[joint]]\nscrew = [0, 0, 2, 0.2, 0, 0]\n", "screw = [0, 0, 1, 0.1, 0, 0]", "screws");
  expect_refused("[[joint]]\nscrew = [0, 0, 0, 0, 0.5, 0]\n", "the axis of the slide has length 0.5, not 1", "screws");
  expect_refused("[[joint]]\nmass = -1\n", "joint[0].mass");
  expect_refused("[[joint]]\nmass = nan\n", "joint[0].mass");
  expect_refused("[[joint]]\ninertia = [1, 1, -1]\n", "negative principal moment");
  expect_refused("[[joint]]\ninertia = [1, 1, 1, 2, 0, 0]\n", "negative principal moment");
  expect_refused("[[joint]]\ninertia = [1, 1]\n", "expected an array of 3");
  expect_refused("[[joint]]\ndamping = -0.1\n", "joint[0].damping");
  expect_refused("[[joint]]\ntype = \"prismatic\"\nlimits = [\"0 deg\", \"10 deg\"]\n", "expected a length");
  expect_refused("grvity = [0, 0, 0]\n[[joint]]\n", "r.toml:4:1: grvity: unknown key\n  Did you mean \"gravity\"?");
  expect_refused("home = { position = [0, 0, 0] }\n[[joint]]\n", "home: unknown key");
  expect_refused("", "joint: missing");
  expect_refused("[[joint]]\ntheta = 9\n", "joint[0].theta: must be from 0 to 8, found 9\n  0 fixed; 1 2 3 prismatic",
                 "gryma");
  expect_refused("[[joint]]\ntheta = 4\nalpha = 1\n", "joint[0].alpha: unknown key", "gryma");
  expect_refused("[[joint]]\ntheta = 0\ndamping = 1\n", "joint[0].damping: unknown key", "gryma");
  expect_refused("[[joint]]\nd = [0, 0, 0]\n", "joint[0].theta: missing", "gryma");
  expect_refused("[[joint]]\ntheta = 0\n", "a chain of 0 joints", "gryma");
  expect_refused("[[joint]]\nscrew = [0, 0, 1, 0, 0, 1]\n", "coupled joints are not supported here", "screws");
  expect_refused("[[joint]]\nscrew = [0, 0, 0, 0, 0, 0]\n", "the screw is zero", "screws");
  expect_refused("[[joint]]\n", "convention: unknown value \"hd\"\n  Did you mean \"dh\"?", "hd");
  std::string many;
  for (int i = 0; i < 17; ++i) many += "[[joint]]\n";
  expect_refused(many, "a chain of 17 joints");
}

/// All mistakes of a file at once, each with its place; what its kind decides waits for the kind.
TEST(RobotToml, SaysAllThatIsWrong) {
  const auto lines = [](const std::string& body, const std::string& convention) {
    const Failure failure = failure_of([&] { static_cast<void>(toml(body, convention)); });
    EXPECT_EQ(failure.code, ExitCode::kInvalidFile) << failure.message;
    std::vector<std::string> out;
    std::istringstream text(failure.message);
    for (std::string line; std::getline(text, line);)
      if (line.starts_with("r.toml:")) out.push_back(line);
    return out;
  };
  const std::vector<std::string> several = lines(
      "gravity = [0, 0]\n[[joint]]\nmass = -1\nlimits = [1, -1]\n[[joint]]\nlimits = [1, -1]\na = \"1 deg\"\n"
      "[[joint]]\nbeta = 1\n",
      "dh");
  ASSERT_EQ(several.size(), 4u);
  EXPECT_EQ(several[0], "r.toml:4:1: gravity: expected an array of 3, found an array of 2");
  EXPECT_EQ(several[1], "r.toml:6:1: joint[0].mass: must be at least 0 kg, found -1 kg");
  EXPECT_EQ(several[2].find("r.toml:10:1: joint[1].a: expected a length"), 0u) << several[2];
  EXPECT_EQ(several[3], "r.toml:12:1: joint[2].beta: unknown key");
  // Whether 1 m or 1 rad is asked for, the type says.
  EXPECT_EQ(lines("[[joint]]\ntype = \"linear\"\nlimits = [0, \"1 m\"]\n", "dh").size(), 1u);
  EXPECT_EQ(lines("[[joint]]\nscrew = [0, 0, 1, 0, 0, 0]\n[[locked]]\njoint = \"j\"\n", "screws").size(), 1u);
}

TEST(RobotToml, TakesOverridesAndNoLinks) {
  const Robot r = toml("[[joint]]\na = 1\n", "dh", {.base = "", .tip = "", .overrides = {"joint.0.a=30 mm"}});
  EXPECT_EQ(r.link[0].offset.p[0], 0.03);
  const Failure wrong = failure_of(
      [] { static_cast<void>(toml("[[joint]]\n", "dh", {.base = "", .tip = "", .overrides = {"joint.0.mass=-3"}})); });
  EXPECT_EQ(wrong.code, ExitCode::kUsage);
  EXPECT_EQ(wrong.message.find("--set joint.0.mass=-3"), 0u) << wrong.message;
  EXPECT_EQ(
      failure_of([] { static_cast<void>(toml("[[joint]]\n", "dh", {.base = "a", .tip = "", .overrides = {}})); }).code,
      ExitCode::kUsage);
}

TEST(RobotToml, InertiasHaveKeysAndListsOfSixAWarning) {
  const Mat3<double> want = {{1e-2, 1e-4, 2e-4, 1e-4, 2e-2, 3e-4, 2e-4, 3e-4, 3e-2}};
  const auto has = [&](const std::string& inertia) {
    const Robot r = toml("[[joint]]\nmass = 1\ninertia = " + inertia + "\n");
    for (int i = 0; i < 9; ++i) EXPECT_EQ(r.body[0].inertia.m[i], want.m[i]) << inertia;
    return r.warnings;
  };
  EXPECT_TRUE(has("{ ixx = 1e-2, iyy = 2e-2, izz = 3e-2, ixy = 1e-4, ixz = 2e-4, iyz = \"3e-4 kg*m^2\" }").empty());
  const std::vector<std::string> warnings = has("[1e-2, 2e-2, 3e-2, 1e-4, 3e-4, 2e-4]");
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0].find("r.toml:6:1: inertia: six numbers are read as [ixx, iyy, izz, ixy, iyz, ixz]"), 0u)
      << warnings[0];
  EXPECT_TRUE(
      toml("[[joint]]\nmass = 1\ninertia = [1, 1, 1]\n[[joint]]\ninertia = [1, 1, 1, 0, 0, 0]\n").warnings.empty());
  expect_refused("[[joint]]\ninertia = { ixx = 1, iyy = 1 }\n", "joint[0].inertia.izz: missing");
  expect_refused("[[joint]]\ninertia = { ixx = 1, iyy = 1, izz = 1, izx = 0 }\n", "Did you mean");
  expect_refused("[[joint]]\ninertia = { ixx = 1, iyy = 1, izz = -1 }\n", "negative principal moment");
}

TEST(RobotToml, KernelFormReadsBackToTheSameBits) {
  for (const char* name :
       {"puma560.toml", "exoskeleton.toml", "stanford.toml", "iiwa14.urdf", "ur5.toml", "scara.toml"}) {
    const Robot r = io::read_robot(robot_path(name)), again = io::parse_robot_toml(io::robot_toml(r), "again.toml");
    ASSERT_EQ(r.joints, again.joints) << name;
    std::mt19937_64 random(11);
    std::uniform_real_distribution<double> any(-2, 2);
    chain::States at{.count = 3, .q = {}};
    for (int i = 0; i < 3 * r.joints; ++i) at.q.push_back(any(random)), at.qd.push_back(any(random));
    at.qdd = at.qd;
    const chain::Outputs outputs = {chain::Output::kPose, chain::Output::kLinkPoses, chain::Output::kMassMatrix,
                                    chain::Output::kInverseDynamics};
    const chain::Results one = chain::evaluate(r, at, outputs, {}, {}),
                         two = chain::evaluate(again, at, outputs, {}, {});
    EXPECT_EQ(one.pose, two.pose) << name;
    EXPECT_EQ(one.link_poses, two.link_poses) << name;
    EXPECT_EQ(one.mass_matrix, two.mass_matrix) << name;
    EXPECT_EQ(one.tau, two.tau) << name;
    for (std::size_t j = 0; j < r.joint.size(); ++j) {
      EXPECT_EQ(r.joint[j].lower, again.joint[j].lower) << name;
      EXPECT_EQ(r.joint[j].effort_limit, again.joint[j].effort_limit) << name;
      EXPECT_EQ(r.joint[j].name, again.joint[j].name) << name;
      EXPECT_EQ(r.link[j].name, again.link[j].name) << name;
    }
    EXPECT_EQ(io::robot_toml(r), io::robot_toml(again)) << name;
  }
}

const std::string kBody =
    "<inertial><mass value='2'/><inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/></inertial>";

std::string link_xml(const std::string& name, const std::string& inside = kBody) {
  return "<link name='" + name + "'>" + inside + "</link>\n";
}
std::string joint_xml(const std::string& name, const std::string& type, const std::string& from_to,
                      const std::string& inside = "<limit lower='-1' upper='2' effort='3' velocity='4'/>") {
  const std::size_t gap = from_to.find(' ');
  return "<joint name='" + name + "' type='" + type + "'><parent link='" + from_to.substr(0, gap) + "'/><child link='" +
         from_to.substr(gap + 1) + "'/>" + inside + "</joint>\n";
}
Robot urdf(const std::string& inside, const std::string& base = "", const std::string& tip = "",
           const std::vector<io::JointLock>& locks = {}) {
  return io::parse_urdf("<robot name='r'>\n" + inside + "</robot>\n", "r.urdf",
                        {.base = base, .tip = tip, .overrides = {}, .locks = locks});
}
/// b - j1 - l1 - j2 - l2
std::string two_links(const std::string& j2 = "revolute",
                      const std::string& inside = "<limit lower='-1' upper='2' effort='3' velocity='4'/>",
                      const std::string& l2 = kBody) {
  return link_xml("b", "") + link_xml("l1") + link_xml("l2", l2) + joint_xml("j1", "revolute", "b l1") +
         joint_xml("j2", j2, "l1 l2", inside);
}
void expect_urdf_refused(const std::string& inside, const std::string& message) {
  const Failure failure = failure_of([&] { static_cast<void>(urdf(inside)); });
  EXPECT_EQ(failure.code, ExitCode::kInvalidFile) << failure.message;
  EXPECT_NE(failure.message.find(message), std::string::npos) << failure.message;
}

TEST(Urdf, KeepsTypesLimitsAndNames) {
  const Robot r = urdf(two_links(
      "prismatic", "<axis xyz='0 0 3'/><dynamics damping='0.5'/><limit lower='0' upper='2' effort='3' velocity='4'/>"));
  ASSERT_EQ(r.joints, 2);
  EXPECT_EQ(r.name, "r");
  EXPECT_EQ(r.joint[0].name, "j1");
  EXPECT_EQ(r.link[1].name, "l2");
  EXPECT_FALSE(r.joint[0].prismatic);
  EXPECT_TRUE(r.joint[1].prismatic);
  EXPECT_EQ(r.joint[0].lower, -1);
  EXPECT_EQ(r.joint[0].upper, 2);
  EXPECT_EQ(r.joint[0].effort_limit, 3);
  EXPECT_EQ(r.joint[0].velocity_limit, 4);
  EXPECT_EQ(r.form[1].damping, 0.5);
  const double q[2] = {0, 0.7};
  EXPECT_NEAR(tool_at(r, q).p[2], 0.7, kRounding);  // the axis is made a unit vector
  const Robot turning = urdf(two_links("continuous", "<limit effort='3' velocity='4'/>"));
  EXPECT_EQ(turning.joint[1].upper, chain::kNoLimit);
  EXPECT_EQ(turning.joint[1].effort_limit, 3);
  EXPECT_EQ(urdf(two_links("continuous", "")).joint[1].effort_limit, chain::kNoLimit);
}

TEST(Urdf, RollPitchYawAreAboutFixedAxes) {
  const Robot r = urdf(two_links("revolute",
                                 "<origin xyz='1 2 3' rpy='0.3 -0.4 0.5'/><axis xyz='0 1 0'/><limit lower='-1' "
                                 "upper='2' effort='3' velocity='4'/>"));
  const double q[2] = {};
  const Pose<double> tool = tool_at(r, q);
  // x turned by roll, then pitch, then yaw, about x, y, z of the parent.
  const double cr = std::cos(0.3), sr = std::sin(0.3), cp = std::cos(-0.4), sp = std::sin(-0.4), cy = std::cos(0.5),
               sy = std::sin(0.5);
  Vec3<double> v = {{0.1, 0.2, 0.3}}, w = v;
  w = {{w[0], cr * w[1] - sr * w[2], sr * w[1] + cr * w[2]}};
  w = {{cp * w[0] + sp * w[2], w[1], -sp * w[0] + cp * w[2]}};
  w = {{cy * w[0] - sy * w[1], sy * w[0] + cy * w[1], w[2]}};
  const Vec3<double> have = tool.R * v + tool.p;
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(have[i], w[i] + i + 1, kRounding);
}

/// b -fixed- m -j1- l1 -fixed- x -fixed- y -j2- l2 -fixed- t, with a weight w fixed to x: lumped by hand.
TEST(Urdf, MergesFixedJointsAndLumpsTheirBodies) {
  const std::string point =
      "<inertial><origin xyz='0 0 0.5'/><mass value='2'/><inertia ixx='1' ixy='0' ixz='0' iyy='2' iyz='0' "
      "izz='2.5'/></inertial>";
  const Robot r = urdf(
      link_xml("b") + link_xml("m") + link_xml("l1") + link_xml("x", "") + link_xml("y", "") + link_xml("w", point) +
          link_xml("l2") +
          link_xml("t",
                   "<inertial><mass value='0'/><inertia ixx='0' ixy='0' ixz='0' iyy='0' iyz='0' izz='0'/></inertial>") +
          joint_xml("f0", "fixed", "b m", "<origin xyz='0 0 1'/>") +
          joint_xml("j1", "continuous", "m l1", "<axis xyz='0 0 1'/>") +
          joint_xml("f1", "fixed", "l1 x", "<origin xyz='1 0 0'/>") +
          joint_xml("fw", "fixed", "x w", "<origin xyz='0 1 0' rpy='0 0 1.5707963267948966'/>") +
          joint_xml("f2", "fixed", "x y", "<origin xyz='0 0 0.25'/>") +
          joint_xml("j2", "continuous", "y l2", "<axis xyz='0 0 1'/>") +
          joint_xml("f3", "fixed", "l2 t", "<origin xyz='0.5 0 0'/>"),
      "", "t");
  ASSERT_EQ(r.joints, 2);
  // 2 kg at 0 and 2 kg at (1, 1, 0.5), whose x and y moments are exchanged by the quarter turn.
  EXPECT_EQ(r.body[0].mass, 4);
  EXPECT_NEAR(r.body[0].com[0], 0.5, kRounding);
  EXPECT_NEAR(r.body[0].com[1], 0.5, kRounding);
  EXPECT_NEAR(r.body[0].com[2], 0.25, kRounding);
  const Mat3<double>& I = r.body[0].inertia;  // reduced mass 1 at distance (1, 1, 0.5)
  EXPECT_NEAR(I(0, 0), 1 + 2 + 1.25, kRounding);
  EXPECT_NEAR(I(1, 1), 1 + 1 + 1.25, kRounding);
  EXPECT_NEAR(I(2, 2), 1 + 2.5 + 2, kRounding);
  EXPECT_NEAR(I(0, 1), -1, kRounding);
  EXPECT_NEAR(I(1, 2), -0.5, kRounding);
  EXPECT_EQ(r.body[1].mass, 2);
  const double q[2] = {M_PI / 2, 0};
  EXPECT_LT(gap(tool_at(r, q),
                [](int i, int j) {
                  const double T[3][4] = {{0, -1, 0, 0}, {1, 0, 0, 1.5}, {0, 0, 1, 1.25}};
                  return T[i][j];
                }),
            kRounding);
}

/// 3 kg at (0, 0.2, 0) of the tip, which is l2: lumped with its 2 kg at the origin.
TEST(Urdf, GravityAndPayloadAreKeys) {
  const Robot r =
      io::parse_urdf("<robot name='r'>\n" + two_links() + "</robot>\n", "r.urdf",
                     {.base = "",
                      .tip = "",
                      .overrides = {"gravity=[0, 0, -1.62]", "payload.mass=\"3 kg\"", "payload.com=[0, 0.2, 0]"}});
  EXPECT_EQ(r.gravity[2], -1.62);
  EXPECT_EQ(r.body[1].mass, 5);
  EXPECT_NEAR(r.body[1].com[1], 0.12, kRounding);
  EXPECT_NEAR(r.body[1].inertia(0, 0), 1 + 2 * 0.12 * 0.12 + 3 * 0.08 * 0.08, kRounding);
  EXPECT_NEAR(r.body[1].inertia(1, 1), 1, kRounding);
  const Failure failure = failure_of([] {
    static_cast<void>(io::parse_urdf("<robot name='r'>\n" + two_links() + "</robot>\n", "r.urdf",
                                     {.base = "", .tip = "", .overrides = {"payload.mas=3"}}));
  });
  EXPECT_NE(failure.message.find("payload.mas: unknown key\n  Did you mean \"mass\"?"), std::string::npos)
      << failure.message;
}

TEST(Urdf, LimitsWithoutEffortOrVelocityAreNone) {
  const Robot r = urdf(two_links("revolute", "<limit lower='-1' upper='1'/>"));
  EXPECT_EQ(r.joint[1].upper, 1);
  EXPECT_EQ(r.joint[1].effort_limit, chain::kNoLimit);
  EXPECT_EQ(r.joint[1].velocity_limit, chain::kNoLimit);
  ASSERT_EQ(r.warnings.size(), 2u);
  EXPECT_EQ(r.warnings[0], "r.urdf:6: joint \"j2\": <limit> without effort: taken as without limit");
}

/// A follower whose leader moves with the chain is refused, on the chain and off it, unless it is told where it stands.
TEST(Urdf, FollowersOfAMovingLeaderAreRefused) {
  const std::string on_it = two_links("continuous", "<mimic joint='j1' multiplier='1.1' offset='0.05'/>");
  const std::string off_it =
      two_links() + link_xml("finger") + joint_xml("grip", "continuous", "l2 finger", "<mimic joint='j1'/>");
  const auto refusal = [](const std::string& inside, const std::string& tip, const std::vector<io::JointLock>& locks) {
    return failure_of([&] { static_cast<void>(urdf(inside, "", tip, locks)); }).message;
  };
  EXPECT_NE(refusal(on_it, "", {}).find("r.urdf:6: joint \"j2\": it follows \"j1\", a joint of the chain (mimic)"),
            std::string::npos);
  EXPECT_NE(refusal(on_it, "", {}).find("--lock j2=VALUE"), std::string::npos);
  EXPECT_NE(refusal(off_it, "l2", {}).find("joint \"grip\": it follows \"j1\""), std::string::npos);
  EXPECT_EQ(urdf(on_it, "", "", {{"j2", "0.3"}}).locked[0].q, 0.3);
  EXPECT_EQ(urdf(off_it, "", "l2", {{"grip", "0.3"}}).locked[0].q, 0.3);
  const std::string longer = on_it + link_xml("l3") + joint_xml("j3", "revolute", "l2 l3");
  const Robot follows = urdf(longer, "", "", {{"j1", "0.2"}});  // the leader is told: the follower stands, too
  EXPECT_EQ(follows.joints, 1);
  EXPECT_NEAR(follows.locked[1].q, 0.27, 1e-15);
}

TEST(Urdf, BranchesAreLockedAndTold) {
  const std::string forked = two_links() + link_xml("hand") + link_xml("finger", "") +
                             joint_xml("grip", "continuous", "l2 hand", "<mimic joint='j9'/>") +
                             joint_xml("more", "floating", "hand finger", "");
  const Failure unclear = failure_of(
      [&] { static_cast<void>(urdf(forked + link_xml("eye", "") + joint_xml("see", "fixed", "l1 eye", ""))); });
  EXPECT_NE(unclear.message.find("ends in 2 links: \"finger\", \"eye\""), std::string::npos) << unclear.message;
  EXPECT_NE(unclear.message.find("The longest chain: --tip finger (2 joints)."), std::string::npos) << unclear.message;
  const Robot r = urdf(forked, "", "l2");
  EXPECT_EQ(r.joints, 2);
  EXPECT_EQ(r.body[1].mass, 4);
  ASSERT_EQ(r.locked.size(), 2u);
  EXPECT_EQ(r.locked[0].name, "grip");
  EXPECT_EQ(r.locked[0].mass, 2);
  EXPECT_EQ(r.locked[1].name, "more");
  EXPECT_NE(io::describe_robot(r).find("locked          grip at 0 deg, 2 kg behind it"), std::string::npos);
  const Robot part = urdf(two_links(), "l1", "l2");
  EXPECT_EQ(part.joints, 1);
  EXPECT_EQ(part.joint[0].name, "j2");
  const Robot still = urdf(two_links() + link_xml("leg") + joint_xml("hip", "continuous", "b leg", ""), "", "l2");
  EXPECT_TRUE(still.locked.empty());
  ASSERT_EQ(still.notes.size(), 1u);
  EXPECT_NE(still.notes[0].find("branch off the base: 1"), std::string::npos) << still.notes[0];
}

/// Relative to the largest number of the array, as Pinocchio's are rounded, too.
double gap(const std::vector<double>& have, const nlohmann::json& want) {
  double most = 0, size = 1e-300;
  EXPECT_EQ(have.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i) {
    most = std::max(most, std::abs(have[i] - want[i].get<double>()));
    size = std::max(size, std::abs(want[i].get<double>()));
  }
  return most / size;
}

TEST(Urdf, FilesOfEveryKindOfTroubleAgreeWithPinocchio) {
  const nlohmann::json all = test::read_reference_json("chain/urdf_cases.json");
  ASSERT_GE(all.at("cases").size(), 6u);
  for (const nlohmann::json& one : all.at("cases")) {
    SCOPED_TRACE(one.at("name").get<std::string>());
    io::RobotOptions options{.base = "", .tip = one.at("tip"), .overrides = {}};
    for (const auto& [joint, value] : one.at("locks").items()) options.locks.push_back({joint, value});
    const Robot robot = io::parse_urdf(one.at("urdf"), "case.urdf", options);
    for (const chain::LockedJoint& joint : robot.locked)
      EXPECT_NEAR(joint.q, one.at("at").at(joint.name).get<double>(), kRounding) << joint.name;
    const Robot again = io::parse_robot_toml(io::robot_toml(robot), "again.toml");
    for (const nlohmann::json& state : one.at("states")) {
      const chain::States at{.count = 1, .q = state.at("q"), .qd = state.at("qd"), .qdd = state.at("qdd")};
      const chain::Outputs outputs = {
          chain::Output::kPose,    chain::Output::kJacobian,        chain::Output::kMassMatrix,
          chain::Output::kGravity, chain::Output::kInverseDynamics, chain::Output::kDamping};
      chain::Results have = chain::evaluate(robot, at, outputs, {}, {});
      for (std::size_t j = 0; j < have.tau.size(); ++j) have.tau[j] -= have.damping[j];  // rnea has none
      EXPECT_LT(gap(have.pose, state.at("pose")), kPose);
      EXPECT_LT(gap(have.jacobian, state.at("jacobian")), kPose);
      EXPECT_LT(gap(have.mass_matrix, state.at("mass_matrix")), kPose);
      EXPECT_LT(gap(have.gravity, state.at("gravity")), kPose);
      EXPECT_LT(gap(have.tau, state.at("tau")), kPose);
      // The file that `check --format toml` prints is the same robot to the last bit.
      EXPECT_EQ(chain::evaluate(again, at, outputs, {}, {}).mass_matrix, have.mass_matrix);
    }
  }
}

TEST(Urdf, UnknownKeysAreWarningsToldOnce) {
  const Robot r = urdf(two_links("continuous",
                                 "<origin xyz='0 0 0' rpz='0 0 0'/><dynamics D='1' K='2'/><limt lower='0'/>"
                                 "<limit effort='1' velocity='1' gear='3'/>") +
                       link_xml("l3", kBody) +
                       joint_xml("j3", "continuous", "l2 l3", "<dynamics D='1'/><my:axle/><safety_controller k='1'/>"));
  const std::vector<std::string> want = {
      "r.urdf:6: <dynamics>: the unknown attribute \"D\" is not read (2 times)",
      "r.urdf:6: <dynamics>: the unknown attribute \"K\" is not read",
      "r.urdf:6: <limit>: the unknown attribute \"gear\" is not read",
      "r.urdf:6: <origin>: the unknown attribute \"rpz\" is not read; did you mean \"rpy\"?",
      "r.urdf:6: in <joint>: the unknown element \"limt\" is not read; did you mean \"limit\"?"};
  EXPECT_EQ(r.warnings, want);
  EXPECT_TRUE(urdf(two_links()).warnings.empty());
}

TEST(Urdf, LocksAreCheckedAndTakeUnits) {
  const std::string branch =
      two_links() + link_xml("f") + joint_xml("grip", "prismatic", "l2 f", "<axis xyz='0 0 1'/>");
  const auto locked = [&](const std::string& joint, const std::string& value) {
    return io::parse_urdf("<robot name='r'>\n" + branch + "</robot>\n", "r.urdf",
                          {.base = "", .tip = "l2", .overrides = {}, .locks = {{joint, value}}});
  };
  EXPECT_EQ(locked("grip", "20 mm").locked[0].q, 0.02);
  EXPECT_EQ(locked("grip", "20 mm").body[1].com[2], 0.01);
  EXPECT_EQ(locked("j1", "30 deg").joints, 1);  // a joint on the way is locked, too
  EXPECT_NEAR(locked("j1", "30 deg").locked[0].q, M_PI / 6, kRounding);
  for (const auto& [joint, value, message] :
       std::vector<std::array<std::string, 3>>{{"grp", "0", "there is no joint \"grp\"\n  Did you mean \"grip\"?"},
                                               {"grip", "20 deg", "lock of joint \"grip\": expected a length"},
                                               {"grip", "nan", "lock of joint \"grip\""}}) {
    // Named once more: clang 14 takes no structured binding into a lambda.
    const Failure failure =
        failure_of([&, &joint = joint, &value = value] { static_cast<void>(locked(joint, value)); });
    EXPECT_EQ(failure.code, ExitCode::kUsage);
    EXPECT_NE(failure.message.find(message), std::string::npos) << failure.message;
  }
}

TEST(Urdf, RefusesJointsThatAreNoPartOfAChain) {
  expect_urdf_refused(two_links("floating", ""), "r.urdf:6: joint \"j2\": floating joints are not supported");
  expect_urdf_refused(two_links("planar", ""), "joint \"j2\": planar joints are not supported");
  expect_urdf_refused(two_links("revolute", ""), "joint \"j2\": a revolute joint without <limit>");
  expect_urdf_refused(two_links("revolut", ""), "unknown type \"revolut\"\n  Did you mean \"revolute\"?");
  expect_urdf_refused(two_links("continuous", "<axis xyz='0 0 0'/>"), "joint \"j2\": the axis is zero");
  expect_urdf_refused(two_links("continuous", "<axis xyz='0 0'/>"), "a number is missing");
  expect_urdf_refused(two_links("continuous", "<axis xyz='0 0 nan'/>"), "NaN and infinity are no values");
  expect_urdf_refused(two_links("continuous", "<axis xyz='0 0 1 0'/>"), "more than 3 numbers");
  expect_urdf_refused(two_links("continuous", "<axis xyz='0 0 1m'/>"), "not a number");
  expect_urdf_refused(two_links("continuous", "<axis xyz='0 0 ${pi}'/>"), "not a number");
  expect_urdf_refused(two_links("revolute", "<limit lower='2' upper='1' effort='1' velocity='1'/>"),
                      "lower is above upper\n  Write [1, 2] if the two are exchanged, [2, 7.283185] rad if the range");
  expect_urdf_refused(two_links("prismatic", "<limit lower='2' upper='1' effort='1' velocity='1'/>"),
                      "lower is above upper\n  Write [1, 2] if the two are exchanged: the lower limit comes first.");
  expect_urdf_refused(two_links("continuous", "<axis xyz='0 0 1e200'/>"),
                      "r.urdf:6: joint \"j2\": <axis>: xyz=\"0 0 1e200\": too large to compute with");
  expect_urdf_refused(two_links("continuous", "<origin xyz='0 0 1e308'/>"), "too large to compute with");
  expect_urdf_refused(two_links("continuous", "<origin xyz='0 0 0'/><origin xyz='0 0 0'/>"), "is given twice");
  expect_urdf_refused(two_links("fixed", "") + link_xml("z") + joint_xml("j3", "continuous", "l2 nowhere", ""),
                      "there is no link \"nowhere\"");
  expect_urdf_refused(link_xml("a") + link_xml("c") + joint_xml("j", "fixed", "a c", ""), "no joint moves");
  std::string chain = link_xml("n0");
  for (int i = 1; i <= 17; ++i)
    chain += link_xml("n" + std::to_string(i)) + joint_xml("k" + std::to_string(i), "continuous",
                                                           "n" + std::to_string(i - 1) + " n" + std::to_string(i), "");
  expect_urdf_refused(chain, "a chain of 17 joints");
}

TEST(Urdf, RefusesBodiesThatCannotBe) {
  const auto with = [](const std::string& mass, const std::string& moments) {
    return two_links("continuous", "", "<inertial><mass value='" + mass + "'/><inertia " + moments + "/></inertial>");
  };
  const std::string good = "ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'";
  EXPECT_EQ(urdf(with("1", good)).body[1].mass, 1);
  expect_urdf_refused(with("-1", good), "link \"l2\": <inertial>: the mass is negative");
  expect_urdf_refused(with("0", good), "an inertia without mass");
  expect_urdf_refused(with("nan", good), "NaN and infinity");
  expect_urdf_refused(with("1", "ixx='nan' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'"), "NaN and infinity");
  EXPECT_NE(urdf(with("1", "ixx='0' ixy='0' ixz='0' iyy='0' iyz='0' izz='0'")).warnings.at(0).find("a point mass"),
            std::string::npos);
  expect_urdf_refused(
      with("1", "ixx='1000' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'"),
      "link \"l2\": <inertial>: a principal moment of inertia is more than 10 times the sum of the other two");
  expect_urdf_refused(with("1", "ixx='1e308' ixy='0' ixz='0' iyy='1e308' iyz='0' izz='1e308'"), "too large to compute");
  expect_urdf_refused(with("1", "ixx='1' ixy='0' ixz='0' iyy='-1' iyz='0' izz='1'"), "not positive definite");
  expect_urdf_refused(with("1", "ixx='1' ixy='2' ixz='0' iyy='1' iyz='0' izz='1'"), "not positive definite");
  expect_urdf_refused(with("1", "ixx='1' ixy='0' ixz='0' iyy='1' iyz='0'"), "the attribute \"izz\" is missing");
  expect_urdf_refused(two_links("continuous", "", "<inertial><mass value='1'/></inertial>"), "no <inertia>");
  EXPECT_NE(urdf(with("1", "ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='3'")).notes.size(),
            0u);  // as of no solid body
}

/// Flanges without mass, and whole robots drawn for their kinematics, are common; to move under torques they need some.
TEST(Urdf, WarnsOfALastLinkWithoutMassAndRefusesItWhereItIsNeeded) {
  const char* zero = "<inertial><mass value='0'/><inertia ixx='0' ixy='0' ixz='0' iyy='0' iyz='0' izz='0'/></inertial>";
  for (const char* inertial : {"", "<inertail/>", zero}) {
    const std::string text = "<robot name='r'>" + two_links("continuous", "", inertial) + "</robot>";
    const Robot robot = io::parse_urdf(text, "r.urdf", {});
    EXPECT_TRUE(std::any_of(robot.warnings.begin(), robot.warnings.end(), [](const std::string& said) {
      return said.find("link \"l2\": it moves but has no mass") != std::string::npos;
    }));
    EXPECT_EQ(robot.body.back().mass, 0);
    try {
      static_cast<void>(io::parse_urdf(text, "r.urdf", {.base = "", .tip = "", .overrides = {}, .needs_mass = true}));
      FAIL() << inertial;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kInvalidFile);
      EXPECT_NE(std::string(error.what()).find("link \"l2\": it moves but has no mass"), std::string::npos);
    }
  }
}

/// ROS-Industrial hangs a frame "base" on the first link, beside the chain that ends in "tool0".
TEST(Urdf, AFrameThatDoesNotMoveIsNoEndOfTheChain) {
  const std::string text = two_links() + link_xml("base") + joint_xml("still", "fixed", "b base", "");
  EXPECT_EQ(urdf(text).joints, 2);
  const std::string fork = text + link_xml("tool") + joint_xml("jt", "fixed", "l2 tool", "") + link_xml("camera") +
                           joint_xml("jc", "fixed", "l2 camera", "");
  expect_urdf_refused(fork, "not one chain: it ends in 2 links: \"tool\", \"camera\"");
}

/// A tool frame may have any inertia: what moves is its link together with what is fixed to it.
TEST(Urdf, ChecksInertiasAfterLumping) {
  const auto tool = [](const std::string& mass, const std::string& ixx) {
    return two_links() +
           link_xml("t", "<inertial><mass value='" + mass + "'/><inertia ixx='" + ixx +
                             "' ixy='0' ixz='0' iyy='1e-9' iyz='0' izz='1e-9'/></inertial>") +
           joint_xml("f", "fixed", "l2 t", "");
  };
  EXPECT_EQ(urdf(tool("1e-9", "0")).body[1].mass, 2 + 1e-9);
  EXPECT_EQ(urdf(tool("0", "1e-6")).body[1].inertia(0, 0), 1 + 1e-6);
  EXPECT_EQ(urdf(tool("0.5", "-0.1")).body[1].inertia(0, 0), 0.9);  // a body together
  expect_urdf_refused(tool("0.5", "-3"), "link \"t\": <inertial>: the inertia is not positive definite");
  expect_urdf_refused(tool("0.5", "900"), "link \"t\": <inertial>: a principal moment");
  expect_urdf_refused(tool("-0.1", "1"), "link \"t\": <inertial>: the mass is negative");
}

TEST(Urdf, RefusesWhatIsNoTree) {
  expect_urdf_refused(two_links() + link_xml("c") + link_xml("d") + joint_xml("x", "fixed", "c d", "") +
                          joint_xml("y", "fixed", "d c", ""),
                      "on a loop");
  expect_urdf_refused(two_links() + joint_xml("x", "fixed", "b l2", ""), "is the child of another joint already");
  expect_urdf_refused(two_links() + link_xml("alone"), "2 links without a parent");
  expect_urdf_refused(two_links() + link_xml("l1"), "a second link of this name");
  expect_urdf_refused(two_links() + link_xml("c") + joint_xml("j1", "fixed", "l2 c", ""),
                      "a second joint of this name");
  const Failure reversed = failure_of([] { static_cast<void>(urdf(two_links(), "l2", "b")); });
  EXPECT_EQ(reversed.code, ExitCode::kUsage);
  EXPECT_NE(reversed.message.find("is not below"), std::string::npos) << reversed.message;
  const Failure missing = failure_of([] { static_cast<void>(urdf(two_links(), "", "l3")); });
  EXPECT_NE(missing.message.find("there is no link \"l3\""), std::string::npos);
}

Failure parse_failure(const std::string& text) {
  return failure_of([&] { static_cast<void>(io::parse_urdf(text, "r.urdf")); });
}

TEST(Urdf, RefusesWhatIsNoSoundXml) {
  EXPECT_EQ(parse_failure("<robot name='r'>\n<link name='a'>\n</robot>").message.find("r.urdf:2: not XML"), 0u)
      << parse_failure("<robot name='r'>\n<link name='a'>\n</robot>").message;
  EXPECT_NE(parse_failure("").message.find("r.urdf:1"), std::string::npos);
  EXPECT_NE(parse_failure("<a/>").message.find("the root is <a>"), std::string::npos);
  EXPECT_NE(parse_failure("<robot name='r'/><robot name='s'/>").message.find("second root"), std::string::npos);
  EXPECT_NE(parse_failure("<!DOCTYPE x [<!ENTITY e 'eeee'>]>\n<robot name='r'/>").message.find("DOCTYPE"),
            std::string::npos);
  EXPECT_NE(parse_failure("<robot name='r' name='s'/>").message.find("given twice"), std::string::npos);
  EXPECT_NE(parse_failure(std::string("<robot name='r'>\0</robot>", 25)).message.find("zero byte"), std::string::npos);
  EXPECT_NE(parse_failure("<robot name='r'><xacro:arm/></robot>").message.find("xacro"), std::string::npos);
  std::string deep = "<robot name='r'>";
  for (int i = 0; i < 100000; ++i) deep += "<a>";
  EXPECT_EQ(parse_failure(deep).code, ExitCode::kInvalidFile);
  // The XML library compares every attribute with all before it: 2e5 of them took minutes.
  std::string crowd = "<robot name='r'>\n<!-- <a b='1 -->\n<link name='a'";
  for (int i = 0; i < 200'000; ++i) crowd += " a" + std::to_string(i) + "='>'";
  EXPECT_EQ(parse_failure(crowd + "/></robot>").message.find("r.urdf:3: an element with more than 100 attributes"), 0u);
  EXPECT_EQ(parse_failure(std::string(10'000'001, ' ')).code, ExitCode::kInvalidFile);
}

/// Any byte of the examples changed, left out or doubled: an Error or a robot, never a crash or a number that is not
/// finite.
TEST(RobotFiles, NoBytesCrashTheReaders) {
  std::mt19937_64 random(7);
  for (const char* name : {"iiwa14.urdf", "exoskeleton.toml", "scara.toml"}) {
    const std::string whole = read_file(robot_path(name));
    const bool xml = std::string(name).ends_with("urdf");
    for (int trial = 0; trial < 1500; ++trial) {
      std::string text = whole;
      const std::size_t at = random() % text.size();
      if (trial % 4 == 0) text[at] = static_cast<char>(random());
      if (trial % 4 == 1) text.erase(at, 1 + random() % 20);
      if (trial % 4 == 2) text.insert(at, text.substr(random() % text.size(), random() % 200));
      if (trial % 4 == 3) text.resize(at);
      try {
        const Robot robot = xml ? io::parse_urdf(text, name) : io::parse_robot_toml(text, name);
        for (const auto& f : robot.form) ASSERT_TRUE(std::isfinite(f.a + f.d + f.theta + f.xx + f.mass));
      } catch (const Error& e) {
        ASSERT_EQ(e.code(), ExitCode::kInvalidFile) << e.what();
      }
    }
  }
}

TEST(RobotFiles, AreKnownByTheirEnding) {
  EXPECT_TRUE(io::is_robot_toml(robot_path("scara.toml")));
  EXPECT_FALSE(io::is_robot_toml(test::source_folder() + "/data/scenarios/three_puma_sphere.toml"));
  EXPECT_EQ(failure_of([] { static_cast<void>(io::read_robot("nowhere.urdf")); }).code, ExitCode::kInputOutput);
  EXPECT_EQ(failure_of([] { static_cast<void>(io::read_robot("robot.xacro")); }).code, ExitCode::kInvalidFile);
}

}  // namespace
}  // namespace garra
