// What fingers are commanded and friction that contacts share: what is read, what is printed back, and what is refused
// where.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "garra/core/error.hpp"
#include "garra/io/scenario.hpp"
#include "places.hpp"

namespace garra::io {
namespace {

using grasp::Scenario;
using study::Distribution;
using Overrides = std::vector<std::string>;

/// A hand of two PUMA arms at a box; lines of the first finger, of both contacts, and tables.
struct Parts {
  std::string finger = {}, first = {}, second = "friction = 0.5\n", contacts = {}, load = "grip_force = 15\n",
              tables = {};
};
std::string scenario_text(const Parts& p) {
  return "schema = 1\njob = \"grasp\"\n[hand]\nmodel = \"fingers\"\n"
         "[[hand.finger]]\nmodel = \"puma560\"\n" +
         p.finger +
         "[[hand.finger]]\nmodel = \"puma560\"\n"
         "[object]\nshape = \"box\"\nsize = [0.2, 0.2, 0.2]\nmass = 1\n"
         "[contacts]\n" +
         p.contacts + "[[contact]]\nface = \"+x\"\n" + (p.first.empty() ? "friction = 0.5\n" : p.first) +
         "[[contact]]\nface = \"-x\"\n" + p.second + "[load]\n" + p.load + p.tables;
}
Scenario parse(const Parts& p, const std::string& name = "s.toml") { return parse_scenario(scenario_text(p), name); }

template <class Read>
std::string complaint(const Read& read) {
  try {
    static_cast<void>(read());
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}
std::string complaint(const Parts& p, const std::string& name = "s.toml") {
  return complaint([&] { return parse(p, name); });
}
void expect_said(const std::string& said, const std::string& part) {
  EXPECT_NE(said.find(part), std::string::npos) << "said: " << said << "\nnot: " << part;
}
Scenario three_puma(const Overrides& overrides) {
  return read_scenario(test::source_folder() + "/data/scenarios/three_puma_sphere.toml", overrides);
}
void expect_round_trip(const Scenario& s) {
  const std::string printed = resolved_toml(s);
  const Scenario again = parse_scenario(printed, "printed.toml");
  EXPECT_EQ(resolved_toml(again), printed);
  for (std::size_t j = 0; j < s.contacts.size(); ++j) {
    EXPECT_EQ(again.contacts[j].force.has_value(), s.contacts[j].force.has_value());
    EXPECT_EQ(again.contacts[j].grip_force.has_value(), s.contacts[j].grip_force.has_value());
    EXPECT_EQ(again.contacts[j].common_friction, s.contacts[j].common_friction);
    EXPECT_EQ(again.contacts[j].friction.a, s.contacts[j].friction.a);
    EXPECT_EQ(again.fingers[j].tau, s.fingers[j].tau);
    EXPECT_EQ(again.fingers[j].gravity_compensation, s.fingers[j].gravity_compensation);
  }
  EXPECT_EQ(again.common_friction.a, s.common_friction.a);
}

TEST(Command, ReadsSqueezeForceAndTorques) {
  const Scenario squeezes = parse({.first = "friction = 0.5\nsqueeze = { uniform = [\"2 N\", 3] }\n"});
  ASSERT_TRUE(squeezes.contacts[0].grip_force.has_value());
  EXPECT_EQ(squeezes.contacts[0].grip_force->b, 3);
  EXPECT_FALSE(squeezes.contacts[1].grip_force.has_value());
  const Scenario forces = parse({.first = "friction = 0.5\nforce = [4, \"-1 N\", 0.5]\n"});
  EXPECT_EQ((*forces.contacts[0].force)[1], -1);
  const Scenario off = parse({.finger = "gravity_compensation = false\n"});
  EXPECT_FALSE(off.fingers[0].gravity_compensation);
  EXPECT_TRUE(off.fingers[1].gravity_compensation);
  const std::string tau = "tau = [1, \"2 N*m\", 3, 4, 5, 6]\n";
  const Scenario torques = parse({.finger = tau, .second = "friction = 0.5\nforce = [1, 0, 0]\n", .load = ""});
  EXPECT_EQ(torques.fingers[0].tau, (std::vector<double>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(torques.grip_force.a, 0) << "load.grip_force is needed by nobody";
  for (const Scenario& s : {squeezes, forces, off, torques}) expect_round_trip(s);
}

TEST(Command, OfThreePumaStandsInTheHand) {
  const Scenario s =
      three_puma({"hand.tau=[[1,2,3,4,5,6],[2,2,3,4,5,6],[3,2,3,4,5,6]]", "contacts.grip_force_error=0"});
  EXPECT_EQ(s.fingers[2].tau[0], 3);
  expect_round_trip(s);
  EXPECT_EQ(three_puma({"hand.tau=[1,2,3,4,5,6]", "contacts.grip_force_error=0"}).fingers[1].tau[5], 6);
  const Scenario off = three_puma({"hand.gravity_compensation=[true,false,true]"});
  EXPECT_FALSE(off.fingers[1].gravity_compensation);
  EXPECT_TRUE(off.fingers[2].gravity_compensation);
  EXPECT_FALSE(three_puma({"hand.gravity_compensation=false"}).fingers[2].gravity_compensation);
}

TEST(TorqueLimit, IsReadAndPrintedForOneFingerOrTheWholeHand) {
  const std::string limit = "torque_limit = [97.6, \"186 N*m\", 89, 24, 20, 21]\n";
  const Scenario one = parse({.finger = limit});
  EXPECT_EQ(one.fingers[0].torque_limit, (std::vector<double>{97.6, 186, 89, 24, 20, 21}));
  EXPECT_TRUE(one.fingers[1].torque_limit.empty());
  const Scenario all = three_puma({"hand.torque_limit=[1,2,3,4,5,6]"});
  for (const grasp::Finger& f : all.fingers) EXPECT_EQ(f.torque_limit, (std::vector<double>{1, 2, 3, 4, 5, 6}));
  const Scenario each = three_puma({"hand.torque_limit=[[1,2,3,4,5,6],[2,2,3,4,5,6],[3,2,3,4,5,6]]"});
  EXPECT_EQ(each.fingers[2].torque_limit[0], 3);
  for (const Scenario& s : {one, all, each}) {
    expect_round_trip(s);
    const Scenario again = parse_scenario(resolved_toml(s), "printed.toml");
    for (std::size_t j = 0; j < s.fingers.size(); ++j)
      EXPECT_EQ(again.fingers[j].torque_limit, s.fingers[j].torque_limit);
  }
}

TEST(TorqueLimit, SaysWhatIsWrongWithIt) {
  expect_said(complaint(Parts{.finger = "torque_limit = [1, 2]\n"}),
              "s.toml:7:1: hand.finger[0].torque_limit: expected an array of 6");
  expect_said(complaint(Parts{.finger = "torque_limit = [1, 2, 3, 4, 5, 0]\n"}),
              "hand.finger[0].torque_limit[5]: must be");
  expect_said(complaint(Parts{.finger = "torque_limit = [1, 2, 3, 4, 5, \"6 N\"]\n"}),
              "hand.finger[0].torque_limit[5]");
  expect_said(complaint(Parts{.finger = "torque_limit = \"file\"\n"}),
              "hand.finger[0].torque_limit: this finger comes from no file");
  expect_said(complaint(Parts{.finger = "torque_limits = [1, 2, 3, 4, 5, 6]\n"}), "torque_limit");
  expect_said(
      complaint(Parts{.finger = "torque_limit = [1, 2, 3, 4, 5, 6]\n",
                      .tables = "[simulation]\nuntil = 1\n[simulation.drive]\ntorque_limit = [1, 2, 3, 4, 5, 6]\n"}),
      "simulation.drive.torque_limit: stands beside the torque_limit of finger 0");
}

TEST(Command, SaysWhereItContradictsItself) {
  const std::string tau = "tau = [1, 2, 3, 4, 5, 6]\n", force = "friction = 0.5\nforce = [1, 0, 0]\n";
  expect_said(complaint(Parts{.finger = "tau = [1, 2]\n"}), "s.toml:7:1: hand.finger[0].tau: expected an array of 6");
  expect_said(complaint(Parts{.finger = tau}), "s.toml:7:1: hand.finger[0].tau: other fingers balance the load");
  expect_said(complaint(Parts{.finger = tau, .first = force, .second = force}), "contact[0].force: stands beside tau");
  expect_said(complaint(Parts{.finger = tau, .second = force, .contacts = "grip_force_error = { normal = [0, 1] }\n"}),
              "s.toml:15:20: contacts.grip_force_error: stands beside tau");
  expect_said(complaint(Parts{.finger = tau + "gravity_compensation = false\n", .second = force}),
              "hand.finger[0].gravity_compensation: stands beside tau");
  expect_said(complaint(Parts{.first = force + "grip_force = 3\n"}), "contact[0].grip_force: stands beside force");
  expect_said(complaint(Parts{.first = "friction = 0.5\nforce = [-1, 0, 0]\n"}), "contact[0].force[0]: pulls");
  expect_said(complaint(Parts{.load = ""}), "load.grip_force: missing");
  expect_said(complaint(Parts{.contacts = "force = [1, 0, 0]\n"}), "contacts.force: unknown key");
  expect_said(
      complaint(Parts{
          .finger = tau, .second = force, .tables = "[simulation]\nuntil = 1\n[simulation.drive]\nstiffness = 5\n"}),
      "simulation.drive.stiffness: acts through contact forces");
  expect_said(complaint([] { return three_puma({"hand.tau=[1,2,3,4,5,6]"}); }), "grip_force_error: stands beside tau");
}

TEST(CommonFriction, IsReadAndPrinted) {
  const Scenario s =
      parse({.first = "# as all\n",
             .second = "friction = { each = 0.9 }\n",
             .contacts = "friction = { common = { normal = [0.5, 0.1], min = 0.1 }, each = { lognormal = [1, "
                         "0.05] } }\n"});
  EXPECT_EQ(s.common_friction.a, 0.5);
  EXPECT_TRUE(s.contacts[0].common_friction && s.contacts[1].common_friction);
  EXPECT_EQ(s.contacts[0].friction.kind, Distribution::Kind::kLognormal);
  EXPECT_EQ(s.contacts[1].friction.a, 0.9);
  expect_round_trip(s);
  const Scenario own = parse({.first = "# as all\n", .contacts = "friction = { common = 0.4 }\n"});
  EXPECT_FALSE(own.contacts[1].common_friction) << "a friction of its own";
  EXPECT_EQ(nominal_friction(own, 0), 0.4);
  expect_round_trip(own);
  expect_round_trip(three_puma({"contacts.friction={ common = { uniform = [0.3, 0.5] } }"}));
}

TEST(CommonFriction, SaysWhereItIsWrong) {
  expect_said(complaint(Parts{.first = "friction = { common = 0.5 }\n"}),
              "contact[0].friction.common: is one draw for all");
  expect_said(complaint(Parts{.first = "friction = { each = 0.5 }\n"}), "contact[0].friction.each: is a factor");
  expect_said(complaint(Parts{.contacts = "friction = { common = { normal = [0.5, 0.1] } }\n"}),
              "contacts.friction.common: must be at least 0");
  expect_said(complaint(Parts{.contacts = "friction = { common = 0.5, eech = 1 }\n"}),
              "contacts.friction.eech: unknown key");
}

struct Folder {
  std::filesystem::path path = std::filesystem::temp_directory_path() / ("garra_palm_" + std::to_string(getpid()));
  Folder() { std::filesystem::create_directories(path / "other"); }
  ~Folder() { std::filesystem::remove_all(path); }
  [[nodiscard]] std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path / name) << text;
    return (path / name).string();
  }
};

const std::string kTime = "[simulation]\nuntil = 1\n", kLoad = "[[simulation.load]]\nkind = \"sampled\"\n";

TEST(SampledPalm, IsReadFromListsAndFromAFile) {
  const Scenario lists =
      parse({.tables = kTime + kLoad + "times = [0, \"500 ms\"]\naccelerations = [[0, 0, 1], [\"2 m/s^2\", 3, 4]]\n"});
  const grasp::TimeLoad& load = lists.time->loads[0];
  EXPECT_EQ(load.times, (std::vector<double>{0, 0.5}));
  EXPECT_EQ(load.accelerations[1][0], 2);
  expect_round_trip(lists);
  const Folder folder;
  const std::string file = folder.write("palm.csv", "time, ax, ay, az\n0, 0, 0, 1\n0.5, 2, 3, 4\n");
  const Scenario from_file = parse({.tables = kTime + kLoad + "file = \"palm.csv\"\n"}, folder.write("s.toml", ""));
  EXPECT_EQ(from_file.time->loads[0].file, file);
  EXPECT_EQ(resolved_toml(from_file), resolved_toml(lists));
}

TEST(SampledPalm, SaysWhereItIsWrong) {
  const Folder folder;
  const std::string scenario = folder.write("s.toml", "");
  const auto said = [&](const std::string& keys) { return complaint(Parts{.tables = kTime + kLoad + keys}, scenario); };
  expect_said(said(""), "simulation.load[0].times: missing");
  expect_said(said("times = [0, 1]\naccelerations = [[0, 0, 0]]\n"),
              "simulation.load[0].accelerations: expected an array of 2");
  expect_said(said("times = [0, 0]\naccelerations = [[0, 0, 0], [0, 0, 0]]\n"),
              "simulation.load[0].times[1]: is not later");
  expect_said(said("file = \"none.csv\"\n"), "no such file");
  static_cast<void>(folder.write("palm.csv", "0,1,2\n"));
  expect_said(said("file = \"palm.csv\"\n"), "palm.csv:1:1: 3 columns");
  expect_said(said("file = \"palm.csv\"\nrms = 1\n"), "palm.csv:1:1");
  static_cast<void>(folder.write("palm.csv", "0, 1, 2.O, 3\n1, 1, 2, 3\n"));
  expect_said(said("file = \"palm.csv\"\n"), "palm.csv:1:1: expected numbers between commas");
  static_cast<void>(folder.write("palm.csv", "0,1,2,3\n"));
  static_cast<void>(folder.write("other/palm.csv", "0,1,2,3\n"));
  expect_said(said("file = \"palm.csv\"\n" + kLoad + "file = \"other/palm.csv\"\n"),
              "simulation.load[1].file: " + folder.path.string() + "/other/palm.csv: another file of this scenario");
}

// ---- an unknown key is named before a missing one

TEST(UnknownKey, IsNamedBeforeAMissingOne) {
  const std::string finger =
      "schema = 1\njob = \"grasp\"\n[hand]\nmodel = \"fingers\"\n[[hand.finger]]\nfiel = \"a.urdf\"\n";
  const auto said = [](const std::string& text) { return complaint([&] { return parse_scenario(text, "bad.toml"); }); };
  expect_said(said(finger), "bad.toml:6:1: hand.finger[0].fiel: unknown key");
  expect_said(said("schema = 1\njob = \"grasp\"\n"), "object: missing");
  // In the same table as the missing key, and in a table behind it.
  expect_said(complaint(Parts{.load = "gravty = [0, 0, 0]\n"}), "load.gravty: unknown key");
  expect_said(complaint(Parts{.load = "", .tables = "[solver]\nprecision = 1\n"}), "solver.precision: unknown key");
  // What is missing decides which keys there are: nothing is called unknown then.
  expect_said(
      said("schema = 1\njob = \"grasp\"\n[hand]\nfinger = []\n[object]\nshape = \"sphere\"\nradius = 1\nmass = 1\n"),
      "hand.model: missing");
}

}  // namespace
}  // namespace garra::io
