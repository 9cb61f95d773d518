// [simulation] of a grasp scenario: what is read, what is filled in, and what is refused where.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "garra/core/error.hpp"
#include "garra/io/scenario.hpp"

namespace garra::io {
namespace {

using grasp::Drive;
using grasp::InTime;
using grasp::Scenario;
using grasp::TimeLoad;
using Overrides = std::vector<std::string>;

/// A hand of two PUMA arms at a box, and these tables.
std::string scenario_text(const std::string& tables) {
  return "schema = 1\njob = \"grasp\"\n[hand]\nmodel = \"fingers\"\n"
         "[[hand.finger]]\nmodel = \"puma560\"\n[[hand.finger]]\nmodel = \"puma560\"\n"
         "[object]\nshape = \"box\"\nsize = [0.2, 0.2, 0.2]\nmass = 1\n"
         "[[contact]]\nfriction = 0.5\nface = \"+x\"\n"
         "[[contact]]\nfriction = 0.5\nface = \"-x\"\n"
         "[load]\nsqueeze = 15\n" +
         tables;
}

Scenario parse(const std::string& tables, const Overrides& overrides = {}, const std::string& name = "s.toml") {
  return parse_scenario(scenario_text(tables), name, overrides);
}
InTime measure_time(const std::string& tables, const Overrides& overrides = {}) {
  return *parse(tables, overrides).time;
}

/// What is said of these tables; "" where nothing is.
std::string complaint(const std::string& tables, const Overrides& overrides = {}, const std::string& name = "s.toml") {
  try {
    static_cast<void>(parse(tables, overrides, name));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(TimeScenario, FillsInWhatIsLeftOut) {
  const Scenario s = parse("[simulation]\nuntil = \"2 s\"\n");
  ASSERT_TRUE(s.time.has_value());
  EXPECT_EQ(s.time->duration, 2);
  EXPECT_EQ(s.time->step, 1e-3);
  EXPECT_EQ(s.time->scheme, grasp::Scheme::kMoreauJean);
  EXPECT_EQ(s.time->drive, Drive::kController);
  EXPECT_EQ(s.time->controller.stiffness, 0);
  EXPECT_EQ(s.time->instants, 101);
  EXPECT_EQ(s.time->slip, 1e-3);
  EXPECT_EQ(s.time->drop, 0.05);
  EXPECT_TRUE(s.time->friction.empty() && s.time->loads.empty() && s.time->torque_limit.empty());
  EXPECT_EQ(s.plan.samples, 10'000);
  EXPECT_EQ(s.plan.chunk, study::kBlock) << "a tenth of the samples, in whole blocks";
}

TEST(TimeScenario, WithoutTheTableNothingChanges) {
  const Scenario s = parse("");
  EXPECT_FALSE(s.time.has_value());
  EXPECT_EQ(s.plan.samples, 100'000);
  EXPECT_EQ(s.plan.chunk, 64 * study::kBlock);
  EXPECT_EQ(resolved_toml(s).find("[time"), std::string::npos);
  EXPECT_NE(resolved_toml(s).find("check_uniqueness"), std::string::npos);
}

TEST(TimeScenario, ChunksAreATenthOfTheSamplesAndAQuarterOfManyUnlessTheyAreGiven) {
  const auto chunk = [](const std::string& sampling) {
    return parse("[simulation]\nuntil = 1\n[sampling]\n" + sampling).plan.chunk;
  };
  EXPECT_EQ(chunk("samples = 100\n"), 1024);
  EXPECT_EQ(chunk("samples = 60_000\n"), 5 * 1024);
  EXPECT_EQ(chunk("samples = 100_000\n"), 24 * 1024);
  EXPECT_EQ(chunk("samples = 200_000\n"), 32 * 1024);
  EXPECT_EQ(chunk("samples = 1e8\n"), 64 * 1024);
  EXPECT_EQ(chunk("samples = 1e9\n"), 256 * 1024) << "at most 4000 files";
  EXPECT_EQ(chunk("samples = 100\nchunk = 4096\n"), 4096);
}

TEST(TimeScenario, ReadsTheControllerAndTheLimitsOfTheJoints) {
  const InTime t = measure_time(
      "[simulation]\nuntil = \"500 ms\"\nstep = \"2 ms\"\nrestitution = 0.5\ndrift_correction = 0.1\n"
      "friction = [0.2, 0.3]\nslip = \"2 mm\"\ndrop = \"3 cm\"\ninstants = 11\n"
      "[simulation.drive]\nstiffness = \"200 N/m\"\ndamping = \"20 N*s/m\"\nturn_stiffness = \"3 N*m/rad\"\n"
      "turn_damping = \"0.3 N*m*s/rad\"\njoint_stiffness = \"5 N*m/rad\"\njoint_damping = 0.5\n"
      "torque_limit = [1, 2, 3, 4, 5, \"6 N*m\"]\n"
      "lower = [[0, 0, 0, 0, 0, 0], [-1, -1, -1, -1, -1, \"-180 deg\"]]\nupper = [9, 9, 9, 9, 9, 9]\n");
  EXPECT_EQ(t.duration, 0.5);
  EXPECT_EQ(t.step, 0.002);
  EXPECT_EQ(t.restitution, 0.5);
  EXPECT_EQ(t.baumgarte, 0.1);
  EXPECT_EQ(t.friction, (std::vector<double>{0.2, 0.3}));
  EXPECT_EQ(t.slip, 0.002);
  EXPECT_EQ(t.drop, 0.03);
  EXPECT_EQ(t.instants, 11);
  EXPECT_EQ(t.controller.stiffness, 200);
  EXPECT_EQ(t.controller.damping, 20);
  EXPECT_EQ(t.controller.turn_stiffness, 3);
  EXPECT_EQ(t.controller.turn_damping, 0.3);
  EXPECT_EQ(t.controller.joint_stiffness, 5);
  EXPECT_EQ(t.controller.joint_damping, 0.5);
  ASSERT_EQ(t.torque_limit.size(), 2u) << "one list holds for all fingers";
  EXPECT_EQ(t.torque_limit[1], (std::vector<double>{1, 2, 3, 4, 5, 6}));
  ASSERT_EQ(t.lower.size(), 2u);
  EXPECT_EQ(t.lower[1][5], -M_PI);
  EXPECT_EQ(t.upper[0][3], 9);
}

TEST(TimeScenario, ReadsLoadsOfEveryKind) {
  const InTime t = measure_time(
      "[simulation]\nuntil = 2\n"
      "[[simulation.load]]\nkind = \"ramp\"\nforce = [0, 0, \"-20 N\"]\nto = \"0.4 s\"\n"
      "[[simulation.load]]\nkind = \"impulse\"\nforce = [\"0.3 N*s\", 0, 0]\ntorque = [0, 0, \"10 mN*m*s\"]\n"
      "from = \"100 ms\"\nto = \"110 ms\"\n"
      "[[simulation.load]]\nkind = \"tilt\"\naxis = [1, 0, 0]\nangle = \"90 deg\"\nfrom = 1\nto = 1.5\n"
      "[[simulation.load]]\nkind = \"shake\"\nrms = [0, 0, \"3 m/s^2\"]\nlow = \"2 Hz\"\nhigh = 20\nfrom = 0.5\n");
  ASSERT_EQ(t.loads.size(), 4u);
  EXPECT_EQ(t.loads[0].kind, TimeLoad::Kind::kRamp);
  EXPECT_EQ(t.loads[0].force[2], -20);
  EXPECT_EQ(t.loads[0].from, 0);
  EXPECT_EQ(t.loads[0].to, 0.4);
  EXPECT_EQ(t.loads[1].kind, TimeLoad::Kind::kImpulse);
  EXPECT_EQ(t.loads[1].force[0], 0.3);
  EXPECT_EQ(t.loads[1].torque[2], 0.01);
  EXPECT_EQ(t.loads[2].kind, TimeLoad::Kind::kTilt);
  EXPECT_EQ(t.loads[2].angle, M_PI / 2);
  EXPECT_EQ(t.loads[3].kind, TimeLoad::Kind::kShake);
  EXPECT_EQ(t.loads[3].rms[2], 3);
  EXPECT_EQ(t.loads[3].low, 2);
  EXPECT_EQ(t.loads[3].from, 0.5);
  EXPECT_EQ(t.loads[3].to, 2) << "to the end";
}

const char* const kSampled =
    "[simulation]\nuntil = 1\n[simulation.drive]\nkind = \"sampled\"\ntimes = [0, \"500 ms\"]\n"
    "torques = [[[1, 2, 3, 4, 5, 6], [2, 2, 3, 4, 5, 6]], [[7, 8, 9, 10, 11, 12], [8, 8, 9, 10, 11, \"12 N*m\"]]]\n";

TEST(TimeScenario, ReadsTorquesFingerByFinger) {
  const InTime t = measure_time(kSampled);
  EXPECT_EQ(t.drive, Drive::kSampled);
  EXPECT_EQ(t.sample_times, (std::vector<double>{0, 0.5}));
  EXPECT_EQ(t.sample_torques[0], (std::vector<double>{1, 2, 3, 4, 5, 6, 2, 2, 3, 4, 5, 6}));
  EXPECT_EQ(t.sample_torques[1][6], 8);
}

/// A folder that goes with the test.
struct Folder {
  std::filesystem::path path = std::filesystem::temp_directory_path() / ("garra_time_" + std::to_string(getpid()));
  Folder() { std::filesystem::create_directories(path / "models"); }
  ~Folder() { std::filesystem::remove_all(path); }
  void write(const std::string& name, const std::string& text) const { std::ofstream(path / name) << text; }
};

const char* const kFromFile = "[simulation]\nuntil = 1\n[simulation.drive]\nkind = \"sampled\"\nfile = \"t.csv\"\n";

TEST(TimeScenario, ReadsTorquesFromAFileBesideIt) {
  const Folder folder;
  const std::string scenario = (folder.path / "s.toml").string();
  folder.write("t.csv", "time, q1\n# by hand\n0,1,2,3,4,5,6,7,8,9,10,11,12\n\n0.5,2,2,3,4,5,6,8,8,9,10,11,12\r\n");
  const InTime from_file = *parse(kFromFile, {}, scenario).time, in_place = measure_time(kSampled);
  EXPECT_EQ(from_file.sample_times, in_place.sample_times);
  EXPECT_EQ(from_file.sample_torques, in_place.sample_torques);
  folder.write("s.toml", scenario_text(kFromFile));
  EXPECT_EQ(read_scenario(scenario).time->sample_file, (folder.path / "t.csv").string());
  folder.write("models/t.csv", "0 1 2 3 4 5 6 7 8 9 10 11 12\n");
  EXPECT_EQ(parse(kFromFile, {}, scenario).time->sample_times.size(), 1u) << "the copy of a run folder comes first";
}

TEST(TimeScenario, SaysWhereATableOfTorquesIsWrong) {
  const Folder folder;
  const std::string scenario = (folder.path / "s.toml").string(), row = ",1,2,3,4,5,6,7,8,9,10,11,12\n";
  const auto said = [&](const std::string& text) {
    folder.write("t.csv", text);
    return complaint(kFromFile, {}, scenario);
  };
  EXPECT_NE(said("0" + row + "0" + row).find("t.csv:2:1: time: is not later"), std::string::npos);
  EXPECT_NE(said("0" + row + "1,2\n").find("t.csv:2:1: 2 columns"), std::string::npos);
  EXPECT_NE(said("0" + row + "1,x" + row).find("t.csv:2:1: expected numbers"), std::string::npos);
  EXPECT_NE(said("0" + row + "nan" + row).find("t.csv:2:1: expected numbers"), std::string::npos);
  EXPECT_NE(said("time\n").find("t.csv:1:1: no torques"), std::string::npos);
  std::filesystem::remove(folder.path / "t.csv");
  EXPECT_NE(complaint(kFromFile, {}, scenario).find("simulation.drive.file"), std::string::npos);
}

TEST(TimeScenario, OverridesReachIntoIt) {
  EXPECT_EQ(measure_time("[simulation]\nuntil = 1\n", {"simulation.scheme=explicit"}).scheme, grasp::Scheme::kExplicit);
  EXPECT_EQ(measure_time("[simulation]\nuntil = 1\n", {"simulation.step=2 ms"}).step, 0.002);
  EXPECT_EQ(measure_time("[simulation]\nuntil = 1\n", {"simulation.drive.stiffness=50"}).controller.stiffness, 50);
  EXPECT_EQ(measure_time("", {"simulation.duration=3 s"}).duration, 3);
  EXPECT_NE(complaint("[simulation]\nuntil = 1\n", {"simulation.step=-1"}).find("simulation.step"), std::string::npos);
}

TEST(TimeScenario, ReadsBackWhatItPrints) {
  const std::string texts[] = {
      "[simulation]\nuntil = 2\n",
      "[simulation]\nuntil = \"500 ms\"\nstep = \"2 ms\"\nscheme = \"explicit\"\nfriction = [0.2, 0.3]\n"
      "[simulation.drive]\nstiffness = 200\nturn_stiffness = 3\ntorque_limit = [1, 2, 3, 4, 5, 6]\n"
      "lower = [[0, 0, 0, 0, 0, 0], [-1, -1, -1, -1, -1, -1]]\nupper = [9, 9, 9, 9, 9, 9]\n"
      "[[simulation.load]]\nkind = \"ramp\"\nforce = [0, 0, -20]\nto = 0.4\n"
      "[[simulation.load]]\nkind = \"impulse\"\ntorque = [0.1, 0, 0]\nto = 0.4\n"
      "[[simulation.load]]\nkind = \"tilt\"\naxis = [1, 0, 0]\nangle = \"33 deg\"\nto = 0.3\n"
      "[[simulation.load]]\nkind = \"shake\"\nrms = [1, 2, 3]\n",
      kSampled, "[simulation]\nuntil = 1\n[simulation.drive]\nkind = \"constant\"\n"};
  for (const std::string& text : texts) {
    const std::string printed = resolved_toml(parse(text));
    EXPECT_EQ(resolved_toml(parse_scenario(printed, "printed.toml")), printed);
  }
}

TEST(TimeScenario, SaysWhereItIsWrongAndHowToMendIt) {
  const std::string begin = "[simulation]\nuntil = 1\n", drive = "[simulation.drive]\n", load = "[[simulation.load]]\n";
  const std::pair<std::string, const char*> refusals[] = {
      {"[simulation]\n", "simulation.duration: missing"},
      {"[simulation]\nuntil = 0\n", "s.toml:22:1: simulation.duration: must be"},
      {begin + "step = 0\n", "s.toml:23:1: simulation.step: must be"},
      {begin + "step = 0.3\n", "s.toml:23:1: simulation.step: 0.3 s does not divide simulation.duration = 1 s"},
      {begin + "step = 0.3\n", "which makes 3 steps"},
      {begin + "step = 1e-9\n", "more than 1e+07 steps"},
      {begin + "stp = 1\n", "Did you mean \"step\"?"},
      {begin + "scheme = \"euler\"\n", "simulation.scheme: unknown value"},
      {begin + "restitution = 1.1\n", "simulation.restitution: must be"},
      {begin + "scheme = \"explicit\"\nrestitution = 0.5\n",
       "simulation.restitution: the explicit scheme knows no impacts"},
      {begin + "drift_correction = -1\n", "simulation.drift_correction: must be"},
      {begin + "friction = []\n", "simulation.friction: expected 1 to 32 levels"},
      {begin + "friction = [0.3, 0.3]\n", "s.toml:23:18: simulation.friction[1]: is not above"},
      {begin + "friction = [-0.1]\n", "simulation.friction[0]: must be"},
      {begin + "slip = 0\n", "simulation.slip: must be"},
      {begin + "drop = \"1 s\"\n", "simulation.drop: expected a length"},
      {begin + "instants = 1\n", "simulation.instants: must be 2 to 1001"},
      {begin + "step = 0.1\ninstants = 12\n", "simulation.instants: must be 2 to 11"},
      {begin + drive + "kind = \"sample\"\n", "Did you mean \"sampled\"?"},
      {begin + drive + "stifness = 1\n", "Did you mean \"stiffness\"?"},
      {begin + drive + "stiffness = -1\n", "simulation.drive.stiffness: must be"},
      {begin + drive + "stiffness = \"1 N\"\n", "expected a stiffness (N/m)"},
      {begin + drive + "kind = \"constant\"\nstiffness = 1\n", "simulation.drive.stiffness: unknown key"},
      {begin + drive + "kind = \"sampled\"\n", "simulation.drive.times: missing"},
      {begin + drive + "kind = \"sampled\"\ntimes = [0, 0]\n", "simulation.drive.times[1]: is not later"},
      {begin + drive + "kind = \"sampled\"\ntimes = [0]\ntorques = [[[1]]]\n",
       "simulation.drive.torques: expected an array"},
      {begin + drive + "kind = \"sampled\"\ntimes = [0]\nfile = \"x\"\n", "both times and file"},
      {begin + drive + "torque_limit = [1, 2]\n", "simulation.drive.torque_limit: expected an array of 6"},
      {begin + drive + "torque_limit = [0, 1, 1, 1, 1, 1]\n", "simulation.drive.torque_limit[0]: must be"},
      {begin + drive + "lower = [0, 0, 0, 0, 0, 0]\n", "simulation.drive.upper: missing"},
      {begin + drive + "lower = [0, 0, 0, 0, 0, 0]\nupper = [1, 1, 1, 1, 1, 0]\n", "upper[0][5]: is not above"},
      {begin + "load = 3\n", "simulation.load: expected an array of tables"},
      {begin + load, "simulation.load[0].kind: missing"},
      {begin + load + "kind = \"ramp\"\n", "simulation.load[0].to: missing"},
      {begin + load + "kind = \"ramp\"\nto = 1\n", "simulation.load[0].force: missing"},
      {begin + load + "kind = \"ramp\"\nforce = [1, 0, 0]\nfrom = 0.5\nto = 0.4\n",
       "simulation.load[0].to: is not after"},
      {begin + load + "kind = \"ramp\"\nforce = [1, 0, 0]\nfrom = 1\nto = 2\n", "begins when all is over"},
      {begin + load + "kind = \"impulse\"\nforce = [\"1 N\", 0, 0]\nto = 1\n",
       "expected an impulse (N*s), found a force"},
      {begin + load + "kind = \"tilt\"\naxis = [0, 0, 0]\nto = 1\n", "simulation.load[0].axis: the axis is zero"},
      {begin + load + "kind = \"tilt\"\naxis = [1, 0, 0]\nto = 1\n", "simulation.load[0].angle: missing"},
      {begin + load + "kind = \"shake\"\n", "simulation.load[0].rms: missing"},
      {begin + load + "kind = \"shake\"\nrms = [0, 0, -1]\n",
       "s.toml:25:14: simulation.load[0].rms[2]: must not be negative"},
      {begin + load + "kind = \"shake\"\nrms = [0, 0, 1]\nhigh = \"0.5 Hz\"\n", "high: lies below low = 1 Hz"},
      {begin + load + "kind = \"shake\"\nrms = [0, 0, 1]\nhigh = 600\n", "too fast for a step of 0.001 s"},
      {begin + load + "kind = \"shake\"\nrms = [0, 0, 1]\n" + load + "kind = \"shake\"\nrms = [0, 0, 1]\n",
       "simulation.load[1]: a second shake"},
      {"[solver]\ncheck_uniqueness = false\n" + begin,
       "s.toml:22:1: solver.check_uniqueness: is not used with [simulation]"},
  };
  for (const auto& [tables, says] : refusals)
    EXPECT_NE(complaint(tables).find(says), std::string::npos) << tables << complaint(tables);
}

}  // namespace
}  // namespace garra::io
