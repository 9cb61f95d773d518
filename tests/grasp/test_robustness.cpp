// The public call for "how likely does it hold", seen from outside.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>

#include "garra/grasp.hpp"
#include "garra/io/scenario.hpp"
#include "grasp/time/time_study.hpp"
#include "places.hpp"

namespace garra::grasp {
namespace {

const std::string kFile = test::source_folder() + "/data/scenarios/three_puma_sphere.toml";

Scenario small(const std::vector<std::string>& overrides = {"sampling.samples=3000"}) {
  return io::read_scenario(kFile, overrides);
}

TEST(Robustness, OutcomesAddUpToTheSamplesAndGiveTheProbability) {
  const Robustness r = robustness(small());
  EXPECT_EQ(r.samples, 3000);
  EXPECT_EQ(std::accumulate(r.outcomes.begin(), r.outcomes.end(), std::int64_t{0}), r.samples);
  const auto held = static_cast<double>(r.outcomes[0]);
  const auto decided = static_cast<double>(r.samples - r.outcomes[static_cast<int>(Outcome::kUnsolved)]);
  EXPECT_DOUBLE_EQ(r.probability, held / decided);
  EXPECT_GT(r.probability, 0.5);
  EXPECT_LT(r.interval.low, r.probability);
  EXPECT_GT(r.interval.high, r.probability);
}

TEST(Robustness, IsTheSameForAnyNumberOfThreadsAndAnyChunk) {
  const Device one{.executor = Executor::kLanes, .threads = 1, .index = 0};
  const Device three{.executor = Executor::kLanes, .threads = 3, .index = 0};
  const std::string expected = robustness(small(), one).summary_json;
  EXPECT_EQ(robustness(small(), three).summary_json, expected);
  Scenario chunked = small();
  chunked.plan.chunk = study::kBlock;
  EXPECT_EQ(robustness(chunked, three).summary_json, expected);
}

TEST(Robustness, StopsWhenTheIntervalIsNarrowEnough) {
  Scenario scenario = small({"sampling.samples=100000", "sampling.stop={ half_width = 0.02 }"});
  scenario.plan.chunk = study::kBlock;
  const Robustness r = robustness(scenario);
  EXPECT_LT(r.samples, 100000);
  EXPECT_LE(r.interval.high - r.interval.low, 0.04);
}

TEST(Robustness, IsWhatTheProgramWrites) {
  const std::string folder = ::testing::TempDir() + "garra_robustness_" + std::to_string(::getpid());
  std::filesystem::remove_all(folder);
  const std::string command =
      test::program() + " run " + kFile + " --samples 3000 --device cpu --quiet" + " --no-report -o " + folder;
  ASSERT_EQ(WEXITSTATUS(std::system(command.c_str())), 0);
  std::ifstream in(folder + "/summary.json");
  const std::string written{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(robustness(small()).summary_json, written);
  std::filesystem::remove_all(folder);
}

/// A sphere that is pulled out of the hand for a tenth of a second, at two levels of friction.
Scenario pulled() {
  return io::read_scenario(test::source_folder() + "/data/scenarios/three_puma_pull.toml",
                           {"sampling.samples=64", "simulation.duration=0.02 s", "simulation.instants=3",
                            "simulation.slip=0.01 mm", "simulation.drop=0.2 mm", "simulation.friction=[0.1, 0.65]"});
}

TEST(Robustness, GoesOnInTimeWhereTheScenarioDoes) {
  const Robustness r = robustness(pulled());
  EXPECT_EQ(r.samples, 64);
  const TimeStudy study(pulled());
  study::Total total{};
  total.add(study.run(0, 64, {}), study.shape());
  EXPECT_EQ(r.summary_json, study.summary(total, "samples"));
  const auto summary = nlohmann::json::parse(r.summary_json);
  EXPECT_EQ(r.probability, summary["held"]["probability"]);
  EXPECT_EQ(r.interval.low, summary["held"]["low"]);
  for (int k = 0; k < kMotionEnds; ++k)
    EXPECT_EQ(r.outcomes[static_cast<std::size_t>(k)], summary["outcomes"][to_string(static_cast<MotionEnd>(k))]);
  EXPECT_GT(r.outcomes[static_cast<int>(MotionEnd::kHeld)], 0);
  EXPECT_GT(r.outcomes[static_cast<int>(MotionEnd::kDropped)], 0) << "a scenario worth a test";
}

TEST(Robustness, OfNoSampleIsNotKnown) {
  for (Scenario scenario : {small(), pulled()}) {
    scenario.plan.samples = 0;
    const Robustness r = robustness(scenario);
    EXPECT_TRUE(std::isnan(r.probability));
    EXPECT_EQ(r.interval.high, 1);
    EXPECT_EQ(std::accumulate(r.outcomes.begin(), r.outcomes.end(), std::int64_t{0}), 0);
  }
}

}  // namespace
}  // namespace garra::grasp
