// Lists of fields: all mistakes of a file at once, and names of enumerators.
#include <gtest/gtest.h>

#include <set>

#include "garra/core/error.hpp"
#include "garra/core/names.hpp"
#include "garra/io/chain_scenario.hpp"
#include "garra/io/platform_experiment_scenario.hpp"
#include "garra/io/platform_scenario.hpp"
#include "garra/io/scenario.hpp"
#include "garra/io/singularity_scenario.hpp"
#include "places.hpp"

namespace garra::io {
namespace {

const std::string kData = test::source_folder() + "/data/";

struct Said {
  ExitCode code = ExitCode::kDone;
  std::string text;
  std::vector<std::string> lines = {};  ///< without remedies, which are indented
};

template <class Parse>
Said said(const Parse& parse, const std::string& text, const std::vector<std::string>& overrides = {}) {
  Said out;
  try {
    static_cast<void>(parse(text, "s.toml", overrides));
    return out;
  } catch (const Error& error) {
    out.code = error.code();
    out.text = error.what();
  }
  for (std::size_t at = 0; at < out.text.size();) {
    const std::size_t end = std::min(out.text.find('\n', at), out.text.size());
    if (out.text[at] != ' ') out.lines.push_back(out.text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

/// Each line begins with its part, in this order, and there are no others.
void expect_lines(const Said& s, const std::vector<std::string>& begins) {
  ASSERT_EQ(s.lines.size(), begins.size()) << s.text;
  for (std::size_t i = 0; i < begins.size(); ++i) EXPECT_TRUE(s.lines[i].starts_with(begins[i])) << s.text;
}

std::string platform_text(const std::string& tables) {
  return "schema = 1\njob = \"platform\"\n[platform]\nfile = \"" + kData + "platforms/trepa_like.toml\"\n" + tables;
}

TEST(ScenarioFields, AllMistakesOfAPlatformStudyAreSaidAtOnce) {
  const Said s = said(parse_platform_scenario,
                      platform_text("[payload]\nmass = -1\n[friction]\ncolomb = 3\n[path]\nkind = \"spine\"\n"
                                    "instants = 1\nposes = [{ position = [0, 0, 1.2] }, { position = [0, 0, 1.5] }]\n"
                                    "[sampling]\nchunk = 1000\n"));
  EXPECT_EQ(s.code, ExitCode::kInvalidFile);
  expect_lines(s, {"s.toml:8:1: friction.colomb: unknown key", "s.toml:6:1: payload.mass: must be at least 0 kg",
                   "s.toml:10:1: path.kind: unknown value \"spine\"", "s.toml:11:1: path.instants: must be at least 2",
                   "s.toml:14:1: sampling.chunk: 1000 is not a multiple of 1024"});
  EXPECT_NE(s.text.find("\n  Did you mean \"coulomb\"?\n"), std::string::npos) << "each with its remedy: " << s.text;
}

TEST(ScenarioFields, AllMistakesOfAGraspAreSaidAtOnce) {
  const Said s = said(
      parse_scenario,
      "schema = 1\njob = \"grasp\"\n[hand]\nmodel = \"three_puma\"\n[object]\nshape = \"sphere\"\n"
      "radius = \"100 mm\"\nmass = 0\n[contacts]\nfriction = -0.4\ntilt = \"3 m\"\n[load]\nsqueeze = true\n"
      "[motion]\nvelocity = [1, 2]\n[simulation]\nuntil = 1\nstep = 0.3\n[solver]\ntoll = 1\n[output]\nkeep = 3\n");
  EXPECT_EQ(s.code, ExitCode::kInvalidFile);
  expect_lines(
      s, {"s.toml:20:1: solver.toll: unknown key", "s.toml:8:1: object.mass: must be above 0 kg",
          "s.toml:10:1: contacts.friction: must be at least 0", "s.toml:11:1: contacts.tilt: expected an angle",
          "s.toml:13:1: load.grip_force: expected a force", "s.toml:15:1: motion.velocity: expected an array of 3",
          "s.toml:18:1: simulation.step: 0.3 s does not divide", "s.toml:22:1: output.keep: expected a string"});
}

TEST(ScenarioFields, AllMistakesOfTheOtherJobsAreSaidAtOnce) {
  expect_lines(said(parse_chain_scenario, "schema = 1\njob = \"chain\"\n[robot]\nfile = \"" + kData +
                                              "robots/exoskeleton.toml\"\n[vary]\ndamping = -1\n[torque]\n"
                                              "kind = \"pid\"\nkp = 1\n[simulation]\nstep = 0\n[settle]\nspeed = 1\n"),
               {"s.toml:6:1: vary.damping", "s.toml:8:1: torque.kind", "s.toml:11:1: simulation.step",
                "s.toml:12:1: settle.within: missing"});
  expect_lines(said(parse_singularity_scenario,
                    "schema = 1\njob = \"singularity\"\n[robot]\nfile = \"" + kData +
                        "robots/puma560.toml\"\n[measure]\nnear = 2\nprecision = \"fp16\"\n[[slice]]\n"
                        "x = { joint = 1, from = 0, to = 1 }\n[output]\nvoxels = 65\n"),
               {"s.toml:6:1: measure.near", "s.toml:7:1: measure.precision", "s.toml:11:1: output.voxels"});
  expect_lines(said(parse_platform_experiment,
                    "schema = 1\njob = \"platform_experiment\"\ntitle = 3\n[platform]\nfile = \"" + kData +
                        "platforms/trepa_like.toml\"\n[experiment]\nkind = \"stroke\"\ntolerance = 0\nsegments = 0\n"
                        "max_unsolved = 2\n"),
               {"s.toml:3:1: title", "s.toml:9:1: experiment.segments", "s.toml:8:1: experiment.tolerance",
                "s.toml:10:1: experiment.max_unsolved"});
}

std::string grasp_text(const std::string& finger, const std::string& contact) {
  return "schema = 1\njob = \"grasp\"\n[object]\nshape = \"box\"\nsize = [1, 1, 1]\nmass = 1\n[load]\nsqueeze = 1\n"
         "[hand]\nmodel = \"fingers\"\n[[hand.finger]]\n" +
         finger + "[[contact]]\nfriction = 0.5\n" + contact;
}

TEST(ScenarioFields, AllMistakesOfAFingerAreSaidAtOnce) {
  expect_lines(
      said(parse_scenario, grasp_text("model = \"puma560\"\ntool = \"3 s\"\nbranch = \"x\"\ntau = [1]\n"
                                      "base = { rpy = 3, positon = [0, 0, 0] }\nstart = [0]\n",
                                      "face = \"+x\"\n")),
      {"s.toml:16:19: hand.finger[0].base.positon: unknown key", "s.toml:13:1: hand.finger[0].tool: expected a length",
       "s.toml:16:10: hand.finger[0].base.rpy: expected", "s.toml:14:1: hand.finger[0].branch: not a branch",
       "s.toml:15:1: hand.finger[0].tau: expected an array"});
  expect_lines(said(parse_scenario, grasp_text("dh = [[0, 0, 0, 0], [1, 0, 0, 0]]\nmass = [1]\nmodified = 1\n"
                                               "inertia = [[1, 1, 1], { ixx = 1, iyy = \"1 m\", izy = 1 }]\n",
                                               "face = \"+x\"\n")),
               {"s.toml:15:47: hand.finger[0].inertia[1].izy: unknown key",
                "s.toml:14:1: hand.finger[0].modified: expected true or false",
                "s.toml:13:1: hand.finger[0].mass: expected an array of 2",
                "s.toml:15:34: hand.finger[0].inertia[1].iyy: expected", "s.toml:11:1: hand.finger[0].start: missing"});
}

TEST(ScenarioFields, AllMistakesOfAContactsPlaceAreSaidAtOnce) {
  const std::string puma = "model = \"puma560\"\n";
  expect_lines(said(parse_scenario, grasp_text(puma, "face = \"+w\"\nat = [0, \"1 N\"]\nroll = true\n")),
               {"s.toml:15:1: contact[0].face: unknown value", "s.toml:16:10: contact[0].at[1]: expected a length",
                "s.toml:17:1: contact[0].roll: expected an angle"});
  expect_lines(said(parse_scenario, grasp_text(puma, "face = \"-y\"\nat = [0.6, \"-51 cm\"]\n")),
               {"s.toml:16:7: contact[0].at[0]: off the surface", "s.toml:16:12: contact[0].at[1]: off the surface"});
  expect_lines(said(parse_scenario, grasp_text(puma, "point = [0, 0]\nnormal = [1, 0, 0]\ncurvature = 1\n")),
               {"s.toml:15:1: contact[0].point: expected an array of 3",
                "s.toml:17:1: contact[0].curvature: expected an array of 2"});
}

TEST(ScenarioFields, AllMistakesOfJointsAndOfASweepAreSaidAtOnce) {
  expect_lines(
      said(parse_singularity_scenario,
           "schema = 1\njob = \"singularity\"\n[robot]\nfile = \"" + kData +
               "robots/puma560.toml\"\n[joints]\n\"1\" = { uniform = [1, 0] }\nelbo = 0\n"
               "\"4\" = { grid = [0, 1], points = 1, point = 2 }\n\"5\" = true\n[[slice]]\n"
               "x = { joint = 1, from = \"1 m\", to = true }\ny = { joint = 9, from = 0, to = 1 }\n"),
      {"s.toml:8:", "s.toml:6:9: joints.1.uniform: the range is reversed",
       "s.toml:7:1: joints.elbo: the robot has no joint", "s.toml:8:", "s.toml:9:1: joints.5: expected an angle"});
  expect_lines(
      said(parse_chain_scenario,
           "schema = 1\njob = \"chain\"\n[robot]\nfile = \"" + kData +
               "robots/exoskeleton.toml\"\n[settle]\nwithin = 0.01\n[sweep]\n\"vary.damping\" = []\n"
               "\"sampling.samples\" = [1]\n\"simulation.step\" = { log = [0, 1], points = 2 }\n"),
      {"s.toml:8:1: sweep.\"vary.damping\": no values", "s.toml:9:1: sweep.\"sampling.samples\": cannot be swept",
       "s.toml:10:23: sweep.\"simulation.step\".log: a logarithmic range"});
}

TEST(ScenarioFields, TwentyAreSaidOfMoreAndHowManyTheOthersAre) {
  std::string text =
      platform_text("[path]\nposes = [{ position = [0, 0, 1.2] }, { position = [0, 0, 1.5] }]\n[payload]\n");
  for (int i = 0; i < 27; ++i) text += "key_" + std::to_string(i) + " = 1\n";
  const Said s = said(parse_platform_scenario, text);
  ASSERT_EQ(s.lines.size(), 21u) << s.text;
  EXPECT_TRUE(s.lines[19].starts_with("s.toml:27:1: payload.key_19: unknown key")) << s.lines[19];
  EXPECT_EQ(s.lines[20], "and 7 more");
}

// What follows from a mistake is no mistake of its own.
TEST(ScenarioFields, NothingIsSaidThatFollowsFromAnotherMistake) {
  expect_lines(
      said(parse_platform_scenario,
           platform_text("[path]\nkind = \"sampeld\"\ntimes = [0, 1]\nposes = [{}, { position = [0, 0, 1.5] }]\n")),
      {"s.toml:6:1: path.kind"});
  expect_lines(
      said(parse_scenario,
           "schema = 1\njob = \"grasp\"\n[hand]\nmodel = \"three_puma\"\n[object]\nshape = \"spere\"\nradius = 1\n"
           "mass = 1\n[contacts]\nfriction = 0.4\n[load]\nsqueeze = 1\n"),
      {"s.toml:6:1: object.shape: unknown value \"spere\""});
  expect_lines(said(parse_platform_scenario,
                    "schema = 1\njob = \"platform\"\n[platform]\nmodle = \"trepa_like\"\n[path]\n"
                    "poses = [{}, { position = [0, 0, 1.5] }]\n"),
               {"s.toml:4:1: platform.modle: unknown key"});
}

// The exit code is that of what is said first.
TEST(ScenarioFields, AMistakeOfTheCommandLineIsOneAmongOthers) {
  const std::string text =
      platform_text("[path]\nposes = [{ position = [0, 0, 1.2] }, { position = [0, 0, 1.5] }]\n[output]\nkeep = 3\n");
  const Said s = said(parse_platform_scenario, text, {"payload.mass=-1"});
  EXPECT_EQ(s.code, ExitCode::kUsage);
  expect_lines(s, {"--set payload.mass=-1: payload.mass: must be", "s.toml:8:1: output.keep"});
}

template <class Enum>
void expect_names_round_trip() {
  const auto all = names_of(Enum{});
  std::set<std::string> different(all.begin(), all.end());
  EXPECT_EQ(different.size(), all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto value = static_cast<Enum>(i);
    EXPECT_EQ(value_named<Enum>(name_of(value)), value) << all[i];
  }
  EXPECT_FALSE(value_named<Enum>("no such name").has_value());
}

TEST(ScenarioFields, NamesOfEnumeratorsRoundTrip) {
  expect_names_round_trip<platform::Path::Kind>();
  expect_names_round_trip<platform::Path::Law>();
  expect_names_round_trip<platform::Experiment::Kind>();
  expect_names_round_trip<platform::Experiment::Parts>();
  expect_names_round_trip<chain::TorqueKind>();
  expect_names_round_trip<chain::Integrator>();
  expect_names_round_trip<chain::LimitRule>();
  expect_names_round_trip<singularity::Precision>();
  expect_names_round_trip<singularity::Sequence>();
  expect_names_round_trip<grasp::Shape>();
  expect_names_round_trip<grasp::Ik>();
  expect_names_round_trip<grasp::Scheme>();
  expect_names_round_trip<grasp::Drive>();
  expect_names_round_trip<grasp::TimeLoad::Kind>();
  EXPECT_STREQ(name_of(platform::Path::Kind::kSampled), "sampled");
  EXPECT_STREQ(name_of(chain::Integrator::kImplicit2), "implicit");
  EXPECT_STREQ(name_of(grasp::TimeLoad::Kind::kShake), "shake");
  EXPECT_STREQ(name_of(singularity::Sequence::kLowDiscrepancy), "even");
}

}  // namespace
}  // namespace garra::io
