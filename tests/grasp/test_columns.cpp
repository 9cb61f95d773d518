// Numbers that a grasp study measures of every sample, by closed forms. A row of the table is all that a number needs
// to be counted.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <random>

#include "garra/io/scenario.hpp"
#include "grasp/sample/problem.hpp"
#include "grasp/study/grasp_study.hpp"
#include "places.hpp"

namespace garra::grasp {
namespace {

Scenario three_puma(const std::vector<std::string>& overrides) {
  return io::read_scenario(test::source_folder() + "/data/scenarios/three_puma_sphere.toml", overrides);
}

const std::vector<std::string> kNominal = {
    "object.mass=1",    "object.position=[0,0,0.3]", "contacts.angle=60 deg",       "contacts.friction=0.4",
    "contacts.slide=0", "contacts.tilt=0",           "contacts.grip_force_error=0", "load.wrench={ force_radius = 0 }"};

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
  EXPECT_NEAR(nominal("largest_normal_force", "load.grip_force=22"), 22, 1e-9);
}

// Three contacts on the equator of a solid sphere, at -t, t and 180 degrees; moments are over sqrt(2/5) r. Pushes along
// an axis mix with the turns about one other axis, at most.
double singular_value_of_ring(double t) {
  const double c = std::cos(t), s = std::sin(t), square = 2.5, mixed = std::sqrt(square) * (2 * c - 1);
  const auto smaller = [&](double turn) { return 0.5 * (3 + turn - std::hypot(3 - turn, 2 * mixed)); };
  return std::sqrt(std::min({3.0, smaller(3 * square), smaller(square * (2 * c * c + 1)), 2 * square * s * s}));
}

TEST(GraspColumns, TheSmallestSingularValueOfARingOnASphereIsThatOfTheFormula) {
  for (const double degrees : {90.0, 60.0, 40.0}) {
    const std::string angle = "contacts.angle=" + std::to_string(degrees) + " deg";
    EXPECT_NEAR(nominal("smallest_singular_value", angle), singular_value_of_ring(degrees * M_PI / 180), 1e-6) << angle;
  }
}

template <int N>
void expect_singular_values_of_eigen() {
  std::mt19937_64 draws(N);
  std::normal_distribution<double> normal;
  const auto vector = [&] { return vec3(normal(draws), normal(draws), normal(draws)); };
  for (int i = 0; i < 200; ++i) {
    Body<double> body{};
    body.mass = 0.7;
    body.inertia = Mat3<double>::zero();
    for (int k = 0; k < 3; ++k) body.inertia(k, k) = 0.1 * (k + 1);
    body.p_cm = vector();
    ContactTerms<double> contacts[N] = {};
    Eigen::Matrix<double, 6, 3 * N> scaled;
    for (int j = 0; j < N; ++j) {
      ContactPlace<double>& place = contacts[j].place;
      place.p = vector();
      place.E = Mat3<double>::identity();
      const Mat<double, 6, 3> w = wrench_matrix(place, body.p_cm);
      for (int r = 0; r < 6; ++r)
        for (int k = 0; k < 3; ++k) scaled(r, 3 * j + k) = r < 3 ? w(r, k) : w(r, k) / std::sqrt(0.6 / (3 * 0.7));
    }
    const Eigen::VectorXd sigma = Eigen::JacobiSVD<Eigen::MatrixXd>(scaled).singularValues();
    EXPECT_NEAR((least_singular_value<double, N>(body, contacts)), sigma[5], 1e-6 * sigma[5] + 1e-8 * sigma[0])
        << N << " contacts";
  }
}

TEST(GraspColumns, TheSmallestSingularValueIsThatOfEigen) {
  expect_singular_values_of_eigen<3>();
  expect_singular_values_of_eigen<4>();
  expect_singular_values_of_eigen<5>();
  expect_singular_values_of_eigen<8>();
  // No moment about their line, whatever they do.
  expect_singular_values_of_eigen<2>();
}

TEST(GraspColumns, TheSmallestSingularValueIsZeroWhereContactsLieInOnePlace) {
  Body<double> body{};
  body.mass = 1;
  body.inertia = Mat3<double>::identity();
  const ContactTerms<double> contacts[4] = {};
  EXPECT_EQ((least_singular_value<double, 4>(body, contacts)), 0);
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
