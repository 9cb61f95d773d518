// Scenarios with job = "platform_experiment": what is read, what is filled in, and what is refused where.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>

#include "garra/core/error.hpp"
#include "garra/io/platform_experiment_scenario.hpp"
#include "places.hpp"

namespace garra::io {
namespace {

using platform::Experiment;
using platform::ExperimentScenario;

const std::string kData = test::source_folder() + "/data/";
const char* const kMove = "kind = \"move\"\ntranslation = [0, 0, \"400 mm\"]\n";

std::string scenario_text(const std::string& experiment, const std::string& above = "") {
  return "schema = 1\njob = \"platform_experiment\"\n" + above + "[platform]\nfile = \"" + kData +
         "platforms/trepa_like.toml\"\n[experiment]\n" + experiment;
}

Experiment read(const std::string& experiment) {
  return parse_platform_experiment(scenario_text(experiment), "s.toml").experiment;
}

TEST(PlatformExperimentScenario, FillsInWhatIsLeftOut) {
  const Experiment move = read(kMove);
  EXPECT_EQ(move.start.r[2], 1.15);  // home
  EXPECT_EQ(move.angle, 0);
  EXPECT_EQ(move.parts, Experiment::Parts::kBoth);
  EXPECT_EQ(move.segments, (std::vector<int>{1, 2, 5, 10, 20, 40}));
  EXPECT_EQ(move.tolerance, 1e-10);
  const Experiment stroke = read("kind = \"stroke\"\n");
  EXPECT_NEAR(stroke.travel, 0.8, 1e-15);
  EXPECT_EQ(stroke.segments, std::vector<int>{11});
  const Experiment free = read("kind = \"free_motion\"\n");
  EXPECT_TRUE(free.force.empty());
  EXPECT_EQ(free.force_factor, 1.2);
  EXPECT_EQ(free.duration, 0.5);
  EXPECT_EQ(free.steps, std::vector<double>{1e-3});
  EXPECT_EQ(free.instants, 51);
}

TEST(PlatformExperimentScenario, ReadsWhatIsSaid) {
  const Experiment move = read(
      "kind = \"move\"\nstart = { position = [0, 0.1, 1.3], rpy = [0, 0, \"90 deg\"] }\nrotation = { axis = [0, 0, 2], "
      "angle = \"45 deg\" }\nparts = \"lengths\"\nsegments = 7\ntolerance = \"1 um\"\n");
  EXPECT_EQ(move.start.r[1], 0.1);
  EXPECT_NEAR(move.start.p[3], std::sqrt(0.5), 1e-15);
  EXPECT_EQ(move.axis[2], 1);
  EXPECT_NEAR(move.angle, M_PI / 4, 1e-15);
  EXPECT_EQ(move.parts, Experiment::Parts::kLengths);
  EXPECT_EQ(move.segments, std::vector<int>{7});
  EXPECT_EQ(move.tolerance, 1e-6);
  const Experiment free = read("kind = \"free_motion\"\nforces = [1, 2, 3, 4, 5, \"6 kN\"]\nduration = \"20 ms\"\n");
  EXPECT_EQ(free.force, (std::vector<double>{1, 2, 3, 4, 5, 6000}));
  EXPECT_EQ(free.duration, 0.02);
}

TEST(PlatformExperimentScenario, ReadsBackWhatItPrints) {
  const std::string texts[] = {
      scenario_text(std::string(kMove) + "rotation = { axis = [1, 1, 1], angle = 0.3 }\n"),
      scenario_text("kind = \"stroke\"\nsegments = [3, 11]\ntravel = 0.3\n"),
      scenario_text("kind = \"free_motion\"\nforces = [1, 2, 3, 4, 5, 6]\n"),
      scenario_text("kind = \"free_motion\"\nmax_unsolved = 0.5\n", "title = \"of \\\"it\\\"\"\n")};
  for (const std::string& text : texts) {
    const std::string printed = resolved_toml(parse_platform_experiment(text, "s.toml"));
    EXPECT_EQ(resolved_toml(parse_platform_experiment(printed, "s.toml")), printed);
  }
}

// With the model as a file: its name is looked up beside the program.
TEST(PlatformExperimentScenario, ShipsThePapersThree) {
  const std::string named = "model = \"trepa_like\"";
  for (const char* name : {"platform_move", "platform_stroke", "platform_free_motion"}) {
    std::ifstream file(kData + "scenarios/" + name + ".toml");
    std::string text(std::istreambuf_iterator<char>(file), {});
    ASSERT_NE(text.find(named), std::string::npos) << name;
    text.replace(text.find(named), named.size(), "file = \"" + kData + "platforms/trepa_like.toml\"");
    EXPECT_NO_THROW(static_cast<void>(parse_platform_experiment(text, name))) << name;
  }
}

struct Refusal {
  const char *experiment, *says;
};

TEST(PlatformExperimentScenario, SaysWhereItIsWrongAndHowToMendIt) {
  const Refusal refusals[] = {
      {"", "experiment.kind"},
      {"kind = \"moove\"\n", "s.toml:6:1: experiment.kind"},
      {"kind = \"move\"\n", "experiment: nothing moves"},
      {"kind = \"stroke\"\ntranslation = [0, 0, 1]\n", "s.toml:7:1: experiment.translation: says nothing about kind"},
      {"kind = \"stroke\"\nstart = {}\n", "it belongs to kind = \"move\" or kind = \"free_motion\""},
      {"kind = \"move\"\ntranslation = [0, 0, 1]\nrotation = { axis = [0, 0, 0], angle = 1 }\n",
       "rotation.axis: the axis"},
      {"kind = \"move\"\ntranslation = [0, 0, 1]\nparts = \"halves\"\n", "experiment.parts"},
      {"kind = \"stroke\"\nsegments = 0\n", "s.toml:7:1: experiment.segments: must be 1 to 1000"},
      {"kind = \"stroke\"\nsegments = [1, 1001]\n", "experiment.segments[1]: must be 1 to 1000"},
      {"kind = \"stroke\"\nsegments = []\n", "experiment.segments: must hold 1 to 32 numbers"},
      {"kind = \"stroke\"\ntolerance = 0\n", "experiment.tolerance: must be above 0 m"},
      {"kind = \"stroke\"\ntravel = \"900 mm\"\n", "experiment.travel: leg 0 has a stroke of 0.8"},
      {"kind = \"stroke\"\ntravel = 0\n", "experiment.travel"},
      {"kind = \"stroke\"\nmax_unsolved = 2\n", "experiment.max_unsolved"},
      {"kind = \"free_motion\"\nforces = [1, 2]\n", "experiment.forces: expected an array of 6"},
      {"kind = \"free_motion\"\nforces = [1, 2, 3, 4, 5, 6]\nforce_factor = 2\n", "both forces and force_factor"},
      {"kind = \"free_motion\"\nforce_factor = \"2 N\"\n", "experiment.force_factor"},
      {"kind = \"free_motion\"\nduration = 0\n", "experiment.duration"},
      {"kind = \"free_motion\"\nstep = 1e-9\n", "experiment.step: more than a million steps"},
      {"kind = \"free_motion\"\ninstants = 1\n", "experiment.instants: must be at least 2"},
      {"kind = \"free_motion\"\ndurations = 1\n", "Did you mean \"duration\"?"},
      {"kind = \"stroke\"\n[sampling]\nsamples = 10\n", "s.toml:7:1: sampling: nothing in an experiment is drawn"},
      {"kind = \"stroke\"\n[path]\n", "path: unknown key"},
  };
  for (const Refusal& r : refusals) {
    std::string said;
    try {
      static_cast<void>(read(r.experiment));
    } catch (const Error& error) {
      said = error.what();
    }
    EXPECT_NE(said.find(r.says), std::string::npos) << r.experiment << "\nsaid: " << said;
  }
}

}  // namespace
}  // namespace garra::io
