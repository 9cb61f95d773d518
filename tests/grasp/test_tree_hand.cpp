// A hand from one URDF is the same hand as its fingers one by one.
#include <gtest/gtest.h>

#include <string>

#include "folder.hpp"
#include "garra/core/error.hpp"
#include "garra/io/scenario.hpp"
#include "grasp/study/grasp_study.hpp"

namespace garra {
namespace {

/// A wrist, a palm on it, and two planar fingers of three joints that close on each other along x.
std::string hand_urdf() {
  const std::string body =
      "<inertial><origin xyz='0.02 0 0'/><mass value='0.05'/><inertia ixx='2e-6' ixy='0' ixz='0' iyy='1.1e-5' iyz='0' "
      "izz='1.2e-5'/></inertial>";
  std::string out = "<robot name='two fingers'><link name='arm'/><link name='palm'>" + body +
                    "</link><joint name='wrist' type='revolute'><parent link='arm'/><child link='palm'/>"
                    "<axis xyz='0 0 1'/><limit lower='-1' upper='1' effort='9' velocity='1'/></joint>";
  for (const std::string side : {"l", "r"}) {
    const std::string x = side == "l" ? "-0.04" : "0.04", turn = side == "l" ? "0" : "3.141592653589793";
    std::string from = "palm", place = "xyz='" + x + " 0 0' rpy='0 -1.5707963267948966 " + turn + "'";
    for (int i = 1; i <= 3; ++i) {
      const std::string link = side + std::to_string(i);
      out += "<link name='" + link + "'>" + body + "</link><joint name='j" + link + "' type='revolute'><parent link='" +
             from + "'/><child link='" + link + "'/><origin " + place +
             "/><axis xyz='0 1 0'/><limit lower='-2' upper='2' effort='" + std::to_string(i) +
             "' velocity='1'/></joint>";
      from = link;
      place = "xyz='0.04 0 0'";
    }
    out += "<link name='" + side + "tip'/><joint name='t" + side + "' type='fixed'><parent link='" + from +
           "'/><child link='" + side + "tip'/><origin xyz='0.03 0 0'/></joint>";
  }
  return out + "</robot>";
}

/// The fingertips press on a ball above the palm.
std::string scenario(const std::string& hand) {
  return "schema = 1\njob = \"grasp\"\n[hand]\n" + hand +
         "[object]\nshape = \"sphere\"\nradius = 0.02\nmass = { normal = [0.1, 0.01], min = 0.05 }\n"
         "position = [0, 0, 0.09]\n[contacts]\nfriction = { uniform = [0.4, 0.9] }\n"
         "[[contact]]\nazimuth = \"180 deg\"\n[[contact]]\nazimuth = 0\n[load]\nsqueeze = 4\n[sampling]\nsamples = "
         "64\n";
}

const std::string kStart = "[0.3, 0.2, -0.4]";
const std::string kTree =
    "urdf = \"hand.urdf\"\nroot_link = \"palm\"\ntips = [\"ltip\", \"rtip\"]\n"
    "q = { jl1 = 0.3, jl2 = 0.2, jl3 = \"-0.4 rad\", jr1 = 0.3, jr2 = 0.2, jr3 = -0.4 }\n";

std::string finger(const std::string& side) {
  return "[[hand.finger]]\nfile = \"hand.urdf\"\nroot_link = \"palm\"\ntip = \"" + side + "tip\"\nstart = " + kStart +
         "\ntorque_limit = \"file\"\n";
}

TEST(TreeHand, IsTheHandOfItsFingers) {
  const test::Folder folder;
  static_cast<void>(folder.write("hand.urdf", hand_urdf()));
  const std::string tree = folder.write("tree.toml", scenario(kTree + "torque_limit = \"file\"\n"));
  const std::string fingers =
      folder.write("fingers.toml", scenario("model = \"fingers\"\n" + finger("l") + finger("r")));
  const grasp::Scenario one = io::read_scenario(tree), many = io::read_scenario(fingers);
  ASSERT_EQ(one.fingers.size(), 2u);
  EXPECT_EQ(one.fingers[1].torque_limit, (std::vector<double>{1, 2, 3}));
  // What is resolved says the same of both, and is a scenario itself.
  EXPECT_EQ(io::resolved_toml(one), io::resolved_toml(many));
  const std::string again = folder.write("again.toml", io::resolved_toml(one));
  EXPECT_EQ(io::resolved_toml(io::read_scenario(again)), io::resolved_toml(one));
  const grasp::Study a(one), b(many);
  for (int i : {0, 17}) EXPECT_EQ(a.replay(i).A, b.replay(i).A);
}

TEST(TreeHand, JointsThatNobodyNamesStandAtZero) {
  const test::Folder folder;
  static_cast<void>(folder.write("hand.urdf", hand_urdf()));
  const grasp::Scenario s = io::read_scenario(folder.write(
      "a.toml", scenario("urdf = \"hand.urdf\"\nroot_link = \"palm\"\ntips = [\"rtip\", \"ltip\"]\nq = { jl2 = 0.2 }\n"
                         "base = { position = [0, 0, 0.01] }\n")));
  EXPECT_EQ(s.fingers[0].start[1], 0);
  EXPECT_EQ(s.fingers[1].start[1], 0.2);
  for (const grasp::Finger& f : s.fingers) EXPECT_EQ(f.base.p[2], 0.01);
}

TEST(TreeHand, MistakesAreNamed) {
  const test::Folder folder;
  static_cast<void>(folder.write("hand.urdf", hand_urdf()));
  const auto expect = [&](const std::string& hand, const std::string& message) {
    std::string said = "accepted";
    try {
      static_cast<void>(io::read_scenario(folder.write("bad.toml", scenario(hand))));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kInvalidFile) << error.what();
      said = error.what();
    }
    EXPECT_NE(said.find(message), std::string::npos) << said;
  };
  const std::string urdf = "urdf = \"hand.urdf\"\n", palm = "root_link = \"palm\"\n",
                    tips = "tips = [\"ltip\", \"rtip\"]\n";
  expect(kTree, "accepted");
  expect(urdf + tips, "hand.tips[1]: joint \"wrist\" carries this finger and that of \"ltip\"");
  expect(urdf + palm, "hand.tips: missing");
  expect(urdf + palm + "tips = []\n", "hand.tips: expected 1 to");
  expect(urdf + palm + "tips = [\"ltip\", \"rtp\"]\n", "hand.tips[1]: ");
  expect(urdf + palm + "tips = [\"ltip\", \"ltip\"]\n", "joint \"jl1\" carries this finger and that of \"ltip\"");
  expect("urdf = \"none.urdf\"\n" + tips, "hand.urdf: ");
  expect(urdf + palm + tips + "q = { jl9 = 1 }\n", "there is no joint \"jl9\"");
  expect(urdf + palm + tips + "q = { jl9 = 1 }\n", ": hand.q: ");
  expect(urdf + palm + tips + "arm_root = \"palm\"\n",
         "joint moves between base and tip\n  Name a link with joints that move");
  expect(urdf + palm + tips + "q = { jl1 = \"3 kg\" }\n", "hand.q.jl1");
  expect(urdf + palm + tips + "model = \"fingers\"\n", "both model and urdf");
  expect(urdf + palm + "tips = [\"ltip\"]\n", "2 contacts for 1 fingers");
}

}  // namespace
}  // namespace garra
