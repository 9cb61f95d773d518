// Maps of every size of arm on every executor, in both precisions and with every source of joint values: each is an
// instance, and a kernel, of its own. Few samples of each, since a simulated GPU takes its time.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>

#include "answers.hpp"
#include "garra/singularity_map.hpp"
#include "places.hpp"
#include "singularity_map_cases.hpp"
#include "study_answer.hpp"

namespace garra::singularity {
namespace {

using Json = nlohmann::json;

/// One of each size that kernels have: six joints, seven, and all others, padded to sixteen.
std::vector<chain::Robot> arms() {
  return {map_test::reference_arm("puma_wrist"), map_test::robot_file("iiwa14.urdf"), map_test::nine_joint_arm()};
}

MapScenario few_samples(const chain::Robot& robot, std::int64_t samples) {
  MapScenario s = map_test::read_scenario_document(robot);
  s.voxels = 4;
  s.measure.near = 0.05;
  s.plan.samples = samples;
  return s;
}

/// Its summary on the scalar executor, the same on every other one.
Json same_on_every_executor(const MapScenario& scenario) {
  const std::unique_ptr<study::Study> study = make_study(scenario);
  test::expect_study_same_on_every_executor(*study, {1024});
  return Json::parse(study->summary(test::total_of(*study, test::kReference, 1024), "samples"));
}

void expect_some(const Json& summary, const std::vector<const char*>& outcomes) {
  for (const char* name : outcomes) EXPECT_GT(summary["outcomes"][name], 0) << name;
  EXPECT_GT(summary["nearest"]["converged"], 0);
  EXPECT_EQ(summary["outcomes"]["invalid"], 0);
}

TEST(MapOfAnySize, OfMoreThanSevenJointsIsTheSameOnEveryExecutor) {
  const Json s = same_on_every_executor(few_samples(map_test::nine_joint_arm(), 100));
  EXPECT_EQ(s["robot"]["generic_rank"], 6);
  expect_some(s, {"regular", "near"});
}

TEST(MapOfAnySize, InSinglePrecisionIsTheSameOnEveryExecutor) {
  for (const chain::Robot& robot : arms()) {
    SCOPED_TRACE(robot.name);
    MapScenario scenario = few_samples(robot, 70);
    scenario.measure.precision = Precision::kSingle;
    const Json s = same_on_every_executor(scenario);
    expect_some(s, {"regular", "near"});
    EXPECT_EQ(s["single_precision"]["rechecked"], 70) << "the first block always is";
    EXPECT_GT(s["single_precision"]["largest_error"], 0) << "what ran was not in double precision";
  }
}

TEST(MapOfAnySize, OfTaskTargetsIsTheSameOnEveryExecutor) {
  for (const chain::Robot& robot : arms()) {
    SCOPED_TRACE(robot.name);
    MapScenario scenario = few_samples(robot, 6 * 2 * 12);
    scenario.measure.near = 0.2;
    TaskGrid task;
    task.low = {{0.3, 0, 0.2}};
    task.high = {{1.2, 0, 0.9}};  // the farthest are out of reach
    task.points = {6, 1, 2};
    task.starts = 12;
    scenario.task = task;
    const Json s = same_on_every_executor(scenario);
    expect_some(s, {"regular", "near", "unreached"});
  }
}

TEST(MapOfAnySize, OfGivenConfigurationsIsTheSameOnEveryExecutor) {
  for (const chain::Robot& robot : arms()) {
    SCOPED_TRACE(robot.name);
    const std::vector<double> good = map_test::random_configurations(robot, 40);
    std::vector<double> spoilt = good;
    spoilt[static_cast<std::size_t>(3 * robot.joints)] = std::nan("");
    MeasureOptions exact, single;
    single.precision = Precision::kSingle;
    // Far from any singularity some searches are lost; with such a `near` they are made again, for two at once.
    exact.near = 0.9;
    const std::vector<SearchStatus> search_status =
        nearest_singularities(robot, spoilt, exact, test::kReference).search_status;
    EXPECT_GE(std::count(search_status.begin(), search_status.end(), SearchStatus::kConverged), 20);
    EXPECT_GE(std::count(search_status.begin(), search_status.end(), SearchStatus::kDiverged), 1);
    EXPECT_EQ(search_status[3], SearchStatus::kNonFinite);
    test::expect_same_on_every_executor([&](const Device& device) {
      return test::Answer()
          .add("measures", test::make_answer(measure(robot, spoilt, exact, device)))
          // A NaN has another sign in lanes of single precision, which is no part of the contract
          // (docs/theory/numerics.md).
          .add("in single precision", test::make_answer(measure(robot, good, single, device)))
          .add("nearest", test::make_answer(nearest_singularities(robot, spoilt, exact, device)));
    });
  }
}

// One of these went on from what a search left behind that had ended, and in lanes its neighbors had added to that.
TEST(Executors, SearchesThatEndedDoNotChangeWhileTheirNeighborsGoOn) {
  const chain::Robot robot = io::read_robot(test::source_folder() + "/data/robots/puma560.toml");
  std::mt19937_64 generator(8192 * 6);
  std::uniform_real_distribution<double> angle(-3, 3);
  std::vector<double> q(8192 * 6);
  for (double& x : q) x = angle(generator);
  test::expect_same_on_every_host_executor(
      [&](const Device& device) { return test::make_answer(nearest_singularities(robot, q, {}, device)); });
}

}  // namespace
}  // namespace garra::singularity
