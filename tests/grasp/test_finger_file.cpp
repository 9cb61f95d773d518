// Fingers from robot files: the same grasp as with rows of Denavit-Hartenberg, and Pinocchio's mobility at the
// fingertip.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "folder.hpp"
#include "garra/io/robot.hpp"
#include "garra/io/scenario.hpp"
#include "grasp/study/grasp_study.hpp"
#include "reference.hpp"

namespace garra {
namespace {

using Json = nlohmann::json;

std::string vector(const Json& v) { return v.dump(); }

/// One fingertip at `tip` on an object so heavy that only the finger gives way; no gravity.
std::string scenario(const std::string& finger, const Json& tip) {
  return "schema = 1\njob = \"grasp\"\n[hand]\nmodel = \"fingers\"\n[[hand.finger]]\n" + finger +
         "[object]\nshape = \"points\"\ngyration = [1e6, 1e6, 1e6]\nmass = 1e15\nposition = [0, 0, 0]\n"
         "[contacts]\nfriction = 0.5\n[[contact]]\npoint = " +
         vector(tip) +
         "\nnormal = [0.6, 0, 0.8]\ntangent = [0, 1, 0]\n"
         "[load]\nsqueeze = 1\ngravity = [0, 0, 0]\n[sampling]\nsamples = 1\n";
}

grasp::Replay replay(const std::string& file) { return grasp::Study(io::read_scenario(file)).replay(0); }

/// A = E' (J H^-1 J') E for a contact frame E = (n, t, o).
std::array<double, 9> in_contact_frame(const Json& mobility) {
  const double E[3][3] = {{0.6, 0, 0.8}, {0, 1, 0}, {-0.8, 0, 0.6}};  // rows: n, t, o = n x t
  std::array<double, 9> out{};
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c)
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
          out[static_cast<std::size_t>(3 * r + c)] +=
              E[r][i] * mobility.at(static_cast<std::size_t>(3 * i + j)).get<double>() * E[c][j];
  return out;
}

/// The last digits of the stored tip, and the object's 1e-15 per kilogram.
constexpr double kSame = 1e-8;

TEST(FingerFile, HasPinocchiosMobilityAtTheContact) {
  const test::Folder folder;
  const Json all = test::read_reference_json("grasp/urdf_finger.json");
  static_cast<void>(folder.write("hand.urdf", all.at("urdf")));
  for (const Json& state : all.at("states")) {
    const std::string finger =
        "file = \"hand.urdf\"\ntip = \"tip\"\nlock = { jn = \"2 mm\" }\nq = " + vector(state.at("q")) + "\n";
    const std::string file = folder.write("grasp.toml", scenario(finger, state.at("tip")));
    const grasp::Replay r = replay(file);
    const std::string resolved = io::resolved_toml(io::read_scenario(file));
    EXPECT_NE(resolved.find("lock = { \"jn\" = 0.002 }"), std::string::npos) << resolved;
    EXPECT_EQ(replay(folder.write("again.toml", resolved)).A, r.A);
    const std::array<double, 9> want = in_contact_frame(state.at("mobility"));
    ASSERT_EQ(r.A.size(), 9u);
    for (std::size_t i = 0; i < 9; ++i) EXPECT_NEAR(r.A[i], want[i], kSame * std::abs(want[0])) << i;
  }
}

TEST(FingerFile, IsTheSameAsItsDenavitHartenbergRows) {
  const test::Folder folder;
  const std::string body =
      "<inertial><origin xyz='0.02 0.001 0.003'/><mass value='0.05'/><inertia ixx='2e-6' ixy='2e-7' ixz='1e-7' "
      "iyy='1.1e-5' iyz='-3e-7' izz='1.2e-5'/></inertial>";
  std::string urdf = "<robot name='f'>\n<link name='l0'/>\n";
  const char* origin[4] = {"xyz='0 0 0' rpy='0 0 0'", "xyz='0.01 0 0' rpy='1.5707963267948966 0 0'",
                           "xyz='0.05 0 0' rpy='0 0 0'", "xyz='0.04 0 0' rpy='0 0 0'"};
  for (int i = 1; i <= 4; ++i) {
    const std::string n = std::to_string(i), from = std::to_string(i - 1);
    urdf += "<link name='l" + n + "'>" + body + "</link>\n<joint name='j" + n + "' type='revolute'><parent link='l" +
            from + "'/><child link='l" + n + "'/><origin " + origin[i - 1] +
            "/><axis xyz='0 0 1'/><limit lower='-2' upper='2' effort='1' velocity='1'/></joint>\n";
  }
  urdf +=
      "<link name='tip'/>\n<joint name='jt' type='fixed'><parent link='l4'/><child link='tip'/><origin xyz='0.03 0 "
      "0'/></joint>\n</robot>\n";
  static_cast<void>(folder.write("finger.urdf", urdf));
  const std::string base =
      "base = { position = [0.03, 0.01, 0.02], rpy = [0.1, -0.2, 0.3] }\nik = \"numeric\"\n"
      "start = [0.1, 0.6, 0.5, 0.4]\n";
  std::string rows =
      "dh = [[0, 0, 0, 0], [0.01, 0, \"90 deg\", 0], [0.05, 0, 0, 0], [0.04, 0, 0, 0]]\nmodified = true\n"
      "tool = { position = [0.03, 0, 0] }\nmass = [0.05, 0.05, 0.05, 0.05]\n";
  const auto four = [](const std::string& key, const std::string& one) {
    return key + " = [" + one + ", " + one + ", " + one + ", " + one + "]\n";
  };
  rows += four("com", "[0.02, 0.001, 0.003]") +
          four("inertia", "{ ixx = 2e-6, iyy = 1.1e-5, izz = 1.2e-5, ixy = 2e-7, ixz = 1e-7, iyz = -3e-7 }");
  const Json tip = {0.1, 0.03, 0.08};
  const grasp::Replay a = replay(folder.write("a.toml", scenario("file = \"finger.urdf\"\n" + base, tip)));
  const grasp::Replay b = replay(folder.write("b.toml", scenario(rows + base, tip)));
  for (std::size_t i = 0; i < 9; ++i) EXPECT_NEAR(a.A[i], b.A[i], 1e-9 * std::abs(b.A[0])) << i;
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(a.b[i], b.b[i], 1e-9) << i;
  // Its effort limits count where they are asked for, and torques can be given to it.
  const auto finger = [&](const std::string& more) {
    const std::string text = scenario("file = \"finger.urdf\"\n" + base + more, tip);
    return io::read_scenario(folder.write("limits.toml", text)).fingers[0];
  };
  EXPECT_TRUE(finger("").torque_limit.empty());
  EXPECT_EQ(finger("torque_limit = \"file\"\n").torque_limit, (std::vector<double>{1, 1, 1, 1}));
  EXPECT_EQ(finger("torque_limit = [1, 2, 3, 4]\n").torque_limit[3], 4);
  EXPECT_EQ(finger("tau = [1, 2, 3, 4]\n").tau[3], 4);
  // A robot in TOML is a finger, too; `check` prints all that reads back to the same bits.
  static_cast<void>(folder.write("finger.toml", io::robot_toml(io::parse_urdf(urdf, "finger.urdf"))));
  const std::string same = folder.write("c.toml", scenario("file = \"finger.toml\"\n" + base, tip));
  EXPECT_EQ(replay(same).A, a.A);
  const std::string resolved = io::resolved_toml(io::read_scenario(same));
  EXPECT_NE(resolved.find("file = \"finger.toml\""), std::string::npos) << resolved;
  EXPECT_EQ(replay(folder.write("d.toml", resolved)).A, a.A);
  EXPECT_EQ(io::resolved_toml(io::read_scenario(folder.write("d.toml", resolved))), resolved);
  // A copy in models/ comes first: run folders are self-contained.
  static_cast<void>(folder.write("models/finger.toml", "schema = 1\n"));
  EXPECT_THROW(static_cast<void>(io::read_scenario(same)), Error);
}

TEST(FingerFile, MistakesAreNamed) {
  const test::Folder folder;
  const Json all = test::read_reference_json("grasp/urdf_finger.json");
  static_cast<void>(folder.write("hand.urdf", all.at("urdf")));
  static_cast<void>(folder.write("other/hand.urdf", all.at("urdf")));
  const auto refusal = [&](const std::string& finger) -> std::string {
    try {
      static_cast<void>(io::read_scenario(folder.write("grasp.toml", scenario(finger, {0.1, 0, 0}))));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kInvalidFile);
      return error.what();
    }
    return "accepted";
  };
  const auto expect = [&](const std::string& finger, const std::string& message) {
    EXPECT_NE(refusal(finger).find(message), std::string::npos) << refusal(finger);
  };
  const std::string start = "start = [0.1, 0.6, 0.5, 0.4]\n", tip = "tip = \"tip\"\n";
  EXPECT_EQ(refusal("file = \"hand.urdf\"\n" + tip + start), "accepted");
  expect("file = \"hand.urdf\"\n" + start, "ends in 2 links: \"tip\", \"nail\"");
  expect("file = \"hand.urdf\"\ntip = \"tp\"\n" + start, "grasp.toml:6:1: hand.finger[0].file: ");
  expect("file = \"nowhere.urdf\"\n" + tip + start, "nowhere.urdf: cannot be read");
  expect("file = \"hand.urdf\"\n" + tip + "start = [0, 0]\n", "hand.finger[0].start: expected an array of 4");
  expect("file = \"hand.urdf\"\n" + tip + "q = [0, 0, 0, 0]\n" + start, "both q and start");
  expect("file = \"hand.urdf\"\n" + tip, "hand.finger[0].start: missing");
  expect("file = \"hand.urdf\"\n" + tip + start + "ik = \"puma\"\n", "the closed form fits model = \"puma560\" only");
  expect("file = \"hand.urdf\"\n" + tip + start + "lock = { j9 = 1 }\n", "there is no joint \"j9\"");
  expect("file = \"hand.urdf\"\n" + tip + start + "[[hand.finger]]\nfile = \"other/hand.urdf\"\n" + tip + start +
             "[[contact]]\npoint = [0, 0, 0]\nnormal = [1, 0, 0]\n",
         "two robot files of one name");
}

}  // namespace
}  // namespace garra
