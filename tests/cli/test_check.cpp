// `garra check` seen from outside.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "places.hpp"

namespace {

struct Outcome {
  int code = -1;
  std::string output;  ///< stdout and stderr
};

Outcome check(const std::string& arguments) {
  const std::string command = garra::test::program() + " check " + arguments + " 2>&1";
  std::FILE* pipe = ::popen(command.c_str(), "r");
  Outcome out;
  char block[4096];
  while (std::size_t n = std::fread(block, 1, sizeof block, pipe)) out.output.append(block, n);
  const int status = ::pclose(pipe);
  if (WIFEXITED(status)) out.code = WEXITSTATUS(status);
  return out;
}

std::string data(const std::string& name) { return garra::test::source_folder() + "/data/" + name; }
const std::string kGood = data("scenarios/three_puma_sphere.toml");
const std::string kProblems = data("reference/contact/random_n3.h5");

/// A scenario with a misspelt key, removed at the end.
class Check : public ::testing::Test {
 protected:
  Check() { std::ofstream(bad_) << "schema = 1\njob = \"grasp\"\nhnad = 1\n"; }
  ~Check() override { std::filesystem::remove(bad_); }
  std::string bad_ =
      ::testing::TempDir() + "garra_check_" + std::to_string(::getpid()) + ".toml";  // tests run side by side
};

TEST_F(Check, PrintsTheResolvedScenario) {
  const Outcome r = check(kGood + " --set load.grip_force=\"12 N\"");
  EXPECT_EQ(r.code, 0) << r.output;
  EXPECT_NE(r.output.find("grip_force = 12  # N"), std::string::npos) << r.output;
  EXPECT_NE(r.output.find("chunk = 65536"), std::string::npos);
}

TEST_F(Check, DescribesProblemFiles) {
  const Outcome r = check(kProblems);
  EXPECT_EQ(r.code, 0) << r.output;
  EXPECT_NE(r.output.find("problems        500\ncontacts        3 each"), std::string::npos) << r.output;
}

TEST_F(Check, PrintsTheResolvedChainOfARobot) {
  const Outcome puma = check(data("robots/puma560.toml") + " --set joint.1.mass=20");
  EXPECT_EQ(puma.code, 0) << puma.output;
  EXPECT_NE(puma.output.find("joint 1: shoulder, revolute"), std::string::npos) << puma.output;
  EXPECT_NE(puma.output.find("a 0.4318 m, alpha 0 deg, d 0.15005 m, theta 0 deg + q"), std::string::npos)
      << puma.output;
  EXPECT_NE(puma.output.find("mass          20 kg, center of mass (-0.3638, 0.006, 0.2275) m"), std::string::npos)
      << puma.output;
  EXPECT_NE(puma.output.find("ixx 0.13, iyy 0.524, izz 0.539, ixy 0"), std::string::npos) << puma.output;
  EXPECT_NE(puma.output.find("limits        -45 to 225 deg"), std::string::npos) << puma.output;
  const Outcome iiwa = check(data("robots/iiwa14.urdf") + " --base link_1 --tip link_7");
  EXPECT_EQ(iiwa.code, 0) << iiwa.output;
  EXPECT_NE(iiwa.output.find("joints          6"), std::string::npos) << iiwa.output;
  EXPECT_NE(iiwa.output.find("joint 0: joint_2, revolute"), std::string::npos) << iiwa.output;
}

TEST_F(Check, RefusesARobotWithoutTheLinkAskedFor) {
  const Outcome r = check(data("robots/iiwa14.urdf") + " --tip link_8");
  EXPECT_EQ(r.code, 2) << r.output;
  EXPECT_NE(r.output.find("there is no link \"link_8\""), std::string::npos) << r.output;
}

TEST_F(Check, OneInvalidFileIsItsOwnError) {
  const Outcome r = check(bad_);
  EXPECT_EQ(r.code, 3);
  EXPECT_NE(r.output.find(bad_ + ":3:1: hnad: unknown key"), std::string::npos) << r.output;
  EXPECT_NE(r.output.find("Did you mean \"hand\"?"), std::string::npos);
}

TEST_F(Check, EveryFileIsCheckedWhateverTheOthersAre) {
  const Outcome r = check(bad_ + " " + kGood + " /no/such.toml " + kProblems);
  EXPECT_EQ(r.code, 3);
  EXPECT_NE(r.output.find("problems        500"), std::string::npos);
  EXPECT_NE(r.output.find("2 of 4 files are not valid"), std::string::npos) << r.output;
}

TEST_F(Check, JsonIsOneLinePerFile) {
  const Outcome r = check(kGood + " " + bad_ + " --format json 2>/dev/null");
  EXPECT_EQ(r.code, 3);
  std::istringstream lines(r.output);
  std::string line;
  ASSERT_TRUE(std::getline(lines, line));
  const auto good = nlohmann::json::parse(line);
  EXPECT_EQ(good["file"], kGood);
  EXPECT_EQ(good["ok"], true);
  EXPECT_TRUE(good["error"].is_null());
  ASSERT_TRUE(std::getline(lines, line));
  const auto bad = nlohmann::json::parse(line);
  EXPECT_EQ(bad["ok"], false);
  EXPECT_NE(bad["error"].get<std::string>().find("hnad"), std::string::npos);
  EXPECT_EQ(good["errors"].size(), 0u);
  ASSERT_GE(bad["errors"].size(), 2u) << "the object is missing as well";
  EXPECT_NE(bad["errors"][0].get<std::string>().find(bad_ + ":3:1: hnad: unknown key"), std::string::npos);
}

nlohmann::json only_line(const std::string& arguments) {
  const Outcome r = check(arguments + " --format json 2>/dev/null");
  EXPECT_EQ(r.code, 0) << r.output;
  return nlohmann::json::parse(r.output);
}

TEST_F(Check, JsonHasTheWholeModel) {
  const nlohmann::json robot = only_line(data("robots/puma560.toml"));
  EXPECT_EQ(robot["kind"], "robot");
  EXPECT_EQ(robot["warnings"].size(), 0u);
  const nlohmann::json& joint = robot["model"]["joint"][1];
  EXPECT_EQ(joint["name"], "shoulder");
  EXPECT_EQ(joint["inertia"]["iyy"], 0.524);
  EXPECT_EQ(joint["com"][2], 0.2275);
  EXPECT_DOUBLE_EQ(joint["limits"][0].get<double>(), -M_PI / 4);  // angles in rad
  const nlohmann::json scenario = only_line(kGood);
  EXPECT_EQ(scenario["kind"], "scenario");
  EXPECT_EQ(scenario["model"]["sampling"]["chunk"], 65536);  // a default filled in
  EXPECT_EQ(scenario["model"]["hand"]["finger"].size(), 3u);
  EXPECT_EQ(only_line(data("platforms/trepa_like.toml"))["model"]["leg"].size(), 6u);
  EXPECT_EQ(only_line(kProblems)["count"], 500);
}

TEST_F(Check, TomlReadsBackToItself) {
  const std::string copy = ::testing::TempDir() + "garra_check_toml_" + std::to_string(::getpid()) + ".toml";
  for (const std::string file : {"robots/puma560.toml", "robots/iiwa14.urdf", "platforms/trepa_like.toml",
                                 "scenarios/three_puma_sphere.toml", "scenarios/four_finger_box.toml"}) {
    const Outcome once = check(data(file) + " --format toml");
    EXPECT_EQ(once.code, 0) << once.output;
    std::ofstream(copy) << once.output;
    EXPECT_EQ(check(copy + " --format toml").output, once.output) << file;
  }
  std::filesystem::remove(copy);
  EXPECT_EQ(check(kProblems + " --format toml").code, 2);
}

TEST_F(Check, SaysHowAListOfAnInertiaIsRead) {
  const std::string scenario = data("scenarios/two_finger_cylinder.toml");
  EXPECT_EQ(check(scenario).output.find("six numbers"), std::string::npos);
  const Outcome r = check(scenario + " --set hand.finger.0.inertia.0=[3e-6,3e-6,3e-6,1e-7,0,0]");
  EXPECT_EQ(r.code, 0);
  EXPECT_NE(r.output.find("six numbers are read as [ixx, iyy, izz, ixy, iyz, ixz]"), std::string::npos) << r.output;
  EXPECT_NE(r.output.find("{ ixx = 3e-06, iyy = 3e-06, izz = 3e-06, ixy = 1e-07, ixz = 0, iyz = 0 }"),
            std::string::npos)
      << r.output;
}

TEST_F(Check, AMissingFileAndAnUnknownKindHaveTheirCodes) {
  EXPECT_EQ(check("/no/such.toml").code, 5);
  EXPECT_EQ(check("/no/such.h5").code, 5);
  EXPECT_EQ(check(kGood + ".txt").code, 3);
  EXPECT_EQ(check(kGood + " --set nothing").code, 2);
}

}  // namespace
