// The public call for "how likely does it hold", seen from outside.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>

#include "garra/grasp.hpp"
#include "garra/io/scenario.hpp"

namespace garra::grasp {
namespace {

const std::string kFile = std::string(GARRA_SOURCE_DIR) + "/data/scenarios/three_puma_sphere.toml";

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
  const std::string command = std::string(GARRA_PROGRAM) + " run " + kFile + " --samples 3000 --device cpu --quiet" +
                              " --no-report -o " + folder;
  ASSERT_EQ(WEXITSTATUS(std::system(command.c_str())), 0);
  std::ifstream in(folder + "/summary.json");
  const std::string written{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(robustness(small()).summary_json, written);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace garra::grasp
