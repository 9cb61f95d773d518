// Numbers that a grasp study measures of every sample, by closed forms. A row of the table is all that a number needs
// to be counted.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "garra/io/scenario.hpp"
#include "grasp/study/study.hpp"

namespace garra::grasp {
namespace {

Scenario three_puma(const std::vector<std::string>& overrides) {
  return io::read_scenario(std::string(GARRA_SOURCE_DIR) + "/data/scenarios/three_puma_sphere.toml", overrides);
}

const std::vector<std::string> kNominal = {
    "object.mass=1",    "object.position=[0,0,0.3]", "contacts.angle=60 deg",    "contacts.friction=0.4",
    "contacts.slide=0", "contacts.tilt=0",           "contacts.squeeze_error=0", "load.wrench={ force_ball = 0 }"};

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

/// A study that keeps all of its 1,024 samples, and their rows.
struct Kept {
  Study study{three_puma({"sampling.samples=1024", "output.keep=all"})};
  std::vector<double> rows;
  study::RunResult run = study::run(study, {.on_chunk = [this](const study::Tally& chunk) {
                                      rows.insert(rows.end(), chunk.kept.begin(), chunk.kept.end());
                                    }});
  [[nodiscard]] std::size_t first(const std::string& name) const {
    for (const study::RowColumn& c : study.columns())
      if (c.name == name) return c.first;
    ADD_FAILURE() << "no column " << name;
    return 0;
  }
};

TEST(GraspColumns, EveryRowIsInSummaryAndInKeptRowsUnderOneName) {
  const Kept kept;
  const std::size_t width = kept.study.shape().row;
  ASSERT_EQ(kept.rows.size(), 1024 * width);
  const auto summary = nlohmann::json::parse(kept.study.summary(kept.run.total, "samples"));
  study::for_each_row(kColumns, [&](const auto& row, int) {
    const auto& metric = summary["metrics"][row.words.name];
    EXPECT_EQ(metric["unit"], row.words.unit);
    EXPECT_EQ(metric["label"], row.words.label);
    const std::string name = std::string(row.words.name) == "friction_margin" ? "margin" : row.words.name;
    // The mean of the rows is that of the summary, where all that are defined lie within the bins.
    double sum = 0, defined = 0;
    for (std::size_t at = kept.first(name); at < kept.rows.size(); at += width) {
      if (std::isnan(kept.rows[at])) continue;
      sum += kept.rows[at];
      ++defined;
    }
    EXPECT_EQ(1024 - defined, metric["undefined"].template get<double>()) << name;
    if (!metric["mean"].is_null()) {
      EXPECT_NEAR(sum / defined, metric["mean"].template get<double>(), 1e-12 * std::abs(sum)) << name;
    }
  });
}

TEST(GraspColumns, TheLargestNormalForceIsThatOfTheRowsForces) {
  const Kept kept;
  for (std::size_t at = 0; at < kept.rows.size(); at += kept.study.shape().row) {
    const double* c = kept.rows.data() + at + kept.first("c");
    EXPECT_EQ(kept.rows[at + kept.first("largest_normal_force")], std::max({c[0], c[3], c[6]}));
  }
}

}  // namespace
}  // namespace garra::grasp
