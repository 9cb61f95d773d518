// Numbers that a grasp study measures of every sample, by closed forms. A row of the table is all that a number needs to be counted.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "garra/io/scenario.hpp"
#include "systems/grasp_study.hpp"

namespace garra::grasp {
namespace {

Scenario three_puma(const std::vector<std::string>& overrides) {
  return io::read_scenario(std::string(GARRA_SOURCE_DIR) + "/data/scenarios/three_puma_sphere.toml", overrides);
}

const std::vector<std::string> kNominal = {"object.mass=1", "object.position=[0,0,0.3]", "contacts.angle=60 deg",
                                           "contacts.friction=0.4", "contacts.slide=0", "contacts.tilt=0",
                                           "contacts.squeeze_error=0", "load.wrench={ force_ball = 0 }"};

double nominal(const std::string& name, const std::string& override) {
  auto overrides = kNominal;
  if (!override.empty()) overrides.push_back(override);
  const Study study(three_puma(overrides));
  const Replay r = study.replay(0);
  double found = NAN;
  study::for_each_row(kColumns, [&](const auto& row, int k) {
    if (name == row.words.name) found = r.metric[k];
  });
  return found;
}

TEST(GraspColumns, TheLargestNormalForceIsTheSqueezeOfASymmetricHand) {
  EXPECT_NEAR(nominal("largest_normal_force", ""), 15, 1e-9);
  EXPECT_NEAR(nominal("largest_normal_force", "load.squeeze=22"), 22, 1e-9);
}

TEST(GraspColumns, EveryRowIsInSummaryAndInKeptRowsUnderOneName) {
  const Study study(three_puma({"sampling.samples=1024", "output.keep=all"}));
  const study::RunResult run = study::run(study);
  const auto summary = nlohmann::json::parse(study.summary(run.total, "samples"));
  const auto columns = study.columns();
  const std::size_t width = study.shape().row;
  study::for_each_row(kColumns, [&](const auto& row, int) {
    const auto& metric = summary["metrics"][row.words.name];
    EXPECT_EQ(metric["unit"], row.words.unit);
    EXPECT_EQ(metric["label"], row.words.label);
    const std::string name = std::string(row.words.name) == "friction_margin" ? "margin" : row.words.name;
    const auto column = std::find_if(columns.begin(), columns.end(), [&](const auto& c) { return c.name == name; });
    ASSERT_NE(column, columns.end()) << name;
    // The mean of the rows is that of the summary, where all of them are within the bins.
    double sum = 0;
    for (std::size_t at = column->first; at < run.total.kept.size(); at += width) sum += run.total.kept[at];
    if (!metric["mean"].is_null()) {
      EXPECT_NEAR(sum / 1024, metric["mean"].template get<double>(), 1e-12 * std::abs(sum)) << name;
    }
  });
}

TEST(GraspColumns, TheLargestNormalForceIsThatOfTheRowsForces) {
  const Study study(three_puma({"sampling.samples=1024", "output.keep=all"}));
  const study::RunResult run = study::run(study);
  const auto columns = study.columns();
  const auto first = [&](const char* name) {
    return std::find_if(columns.begin(), columns.end(), [&](const auto& c) { return c.name == name; })->first;
  };
  for (std::size_t at = 0; at < run.total.kept.size(); at += study.shape().row) {
    const double* c = run.total.kept.data() + at + first("c");
    EXPECT_EQ(run.total.kept[at + first("largest_normal_force")], std::max({c[0], c[3], c[6]}));
  }
}

}  // namespace
}  // namespace garra::grasp
