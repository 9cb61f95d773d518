// The exact singularity analysis against the reference cases (data/reference/singularity).
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "garra/singularity.hpp"
#include "singularity_cases.hpp"

namespace garra::singularity {
namespace {

using namespace reference;

void expect_rank(const Json& c, const Analysis& a) {
  EXPECT_EQ(a.joints, c["n"]);
  EXPECT_EQ(a.rank, c["rank"]);
  EXPECT_EQ(a.generic_rank, c["generic_rank"]);
  EXPECT_EQ(a.lost_freedoms, c["lost_dof"]);
  EXPECT_EQ(a.arm_singular, c["lost_dof"] > 0);
  EXPECT_EQ(static_cast<int>(a.null_space.size()), c["nullity"]);
  EXPECT_EQ(a.dependent_joints, from_zero(c["responsible"]));
  EXPECT_EQ(a.subchain_singular, !c["sosm"].empty());
}

void expect_singular_values(const Json& c, const Analysis& a) {
  const Json& scaling = c["scaling"];
  EXPECT_NEAR(a.scaling.length, scaling["L"], kSigma * a.scaling.length);
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(a.scaling.origin[i], scaling["origin"][i], kSigma * a.scaling.length);
  const std::vector<double> expected = scaling["singular_values"];
  ASSERT_EQ(a.singular_values.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(a.singular_values[i], expected[i], kSigma * expected[0]) << i;
}

void expect_actuator(const Json& expected, const Actuator& a) {
  EXPECT_EQ(a.joint + 1, expected["actuator"]);
  EXPECT_EQ(a.weighted_outside, expected["weighted_product_outside_span"]) << "actuator " << a.joint + 1;
  EXPECT_EQ(a.restores, expected["finite_restores"]) << "actuator " << a.joint + 1;
  ASSERT_EQ(a.products.size(), expected["products_outside_span"].size());
  for (std::size_t k = 0; k < a.products.size(); ++k) {
    EXPECT_EQ(a.products[k].receptor + 1, expected["products_outside_span"][k][0]);
    EXPECT_EQ(a.products[k].outside, expected["products_outside_span"][k][1]) << a.joint + 1 << " " << k;
  }
}

void expect_interval(const Json& expected, const Interval& i) {
  EXPECT_EQ(i.first + 1, expected["interval"][0]);
  EXPECT_EQ(i.last + 1, expected["interval"][1]);
  EXPECT_EQ(i.dim, expected["dim"]);
  EXPECT_EQ(i.dependent_joints, from_zero(expected["ssm"]));
  const std::vector<double> v = expected["null_vector"];
  ASSERT_EQ(i.null_vector.size(), v.size());
  double along = 0;
  for (std::size_t k = 0; k < v.size(); ++k) along += v[k] * i.null_vector[k];
  for (std::size_t k = 0; k < v.size(); ++k) EXPECT_NEAR(std::copysign(1.0, along) * i.null_vector[k], v[k], kSigma);
  if (!expected.contains("actuators")) return;
  ASSERT_EQ(i.actuators.size(), expected["actuators"].size());
  for (std::size_t k = 0; k < i.actuators.size(); ++k) expect_actuator(expected["actuators"][k], i.actuators[k]);
}

void expect_intervals(const Json& c, const Analysis& a) {
  ASSERT_EQ(a.dims.size(), c["sos"].size());
  for (std::size_t k = 0; k < a.dims.size(); ++k) {
    const Json& row = c["sos"][k];
    EXPECT_EQ((std::array<int, 3>{a.dims[k][0] + 1, a.dims[k][1] + 1, a.dims[k][2]}),
              (std::array<int, 3>{row[0], row[1], row[2]}));
  }
  ASSERT_EQ(a.intervals.size(), c["sosm"].size());
  for (std::size_t k = 0; k < a.intervals.size(); ++k) expect_interval(c["sosm"][k], a.intervals[k]);
}

void expect_joint(const Json& expected, const JointEscape& e, double sigma_1) {
  SCOPED_TRACE("joint " + std::to_string(e.joint + 1));
  EXPECT_EQ(e.joint + 1, expected["joint"]);
  EXPECT_EQ(e.order, expected["order"]);
  EXPECT_NEAR(e.rate, expected["rate"], kSigma * sigma_1);
  EXPECT_EQ(e.rank_plus, expected["finite_rank_plus"]);
  EXPECT_EQ(e.rank_minus, expected["finite_rank_minus"]);
  EXPECT_NEAR(e.sigma_plus, expected["sigma_plus"], kFinite);
  EXPECT_NEAR(e.sigma_minus, expected["sigma_minus"], kFinite);
  EXPECT_EQ(e.sign, expected["better_sign"]);
}

void expect_escape(const Json& c, const Analysis& a) {
  if (!c.contains("joints")) {
    EXPECT_TRUE(a.escape.empty());
    EXPECT_TRUE(a.escape_sets.empty());
    return;
  }
  ASSERT_EQ(a.escape.size(), c["joints"].size());
  Joints alone, first_order;
  for (std::size_t j = 0; j < a.escape.size(); ++j) {
    expect_joint(c["joints"][j], a.escape[j], a.singular_values[0]);
    if (a.escape[j].order > 0) alone.push_back(static_cast<int>(j));
    if (a.escape[j].order == 1) first_order.push_back(static_cast<int>(j));
  }
  EXPECT_EQ(alone, from_zero(c["escape_single"]));
  EXPECT_EQ(first_order, from_zero(c["escape_single_first_order"]));
  ASSERT_EQ(a.escape_sets.size(), c["min_escape_sets"].size());
  for (std::size_t k = 0; k < a.escape_sets.size(); ++k) {
    EXPECT_EQ(a.escape_sets[k].joints, from_zero(c["min_escape_sets"][k]["joints"]));
    EXPECT_EQ(a.escape_sets[k].order, c["min_escape_sets"][k]["order"]);
  }
  EXPECT_EQ(a.recovery.rank, c["generic_rank"]);
}

void expect_best_direction(const Json& c, const Analysis& a) {
  if (!c.contains("best_direction_first_order")) return;
  const double rate = c["best_direction_first_order"]["rate"];
  EXPECT_NEAR(a.best_rate, rate, kSigma * a.singular_values[0]);
  if (rate < kSigma) {
    EXPECT_TRUE(a.best_direction.empty());
    return;
  }
  const std::vector<double> dq = c["best_direction_first_order"]["dq"];
  ASSERT_EQ(a.best_direction.size(), dq.size());
  double along = 0;
  for (std::size_t j = 0; j < dq.size(); ++j) along += dq[j] * a.best_direction[j];
  EXPECT_NEAR(std::abs(along), 1, kSigma);
}

/// Wrenches that no joint feels and rates that move nothing, both in the units and axes of the given screws.
void expect_null_spaces(const ScrewSet& set, const Analysis& a) {
  for (const Wrench<double>& u : a.lost_wrenches)
    for (const Screw<double>& s : set.screw) EXPECT_NEAR(dot(u, s), 0, 1e-9);
  for (const Interval& i : a.intervals)
    for (const Wrench<double>& u : i.reciprocal)
      for (int k = i.first; k <= i.last; ++k) EXPECT_NEAR(dot(u, set.screw[static_cast<std::size_t>(k)]), 0, 1e-9);
  for (const std::vector<double>& v : a.null_space) {
    Screw<double> sum{Vec3<double>::zero(), Vec3<double>::zero()};
    for (std::size_t j = 0; j < v.size(); ++j) sum = sum + v[j] * set.screw[j];
    expect_near(sum, {Vec3<double>::zero(), Vec3<double>::zero()}, 1e-9);
  }
}

TEST(Singularity, EveryReferenceCaseIsReproduced) {
  for (const Json& c : cases()) {
    SCOPED_TRACE(c["id"].get<std::string>());
    const ScrewSet set = screws_in(c["screws"]);
    const Analysis a = analyze(set, paper_rule());
    expect_rank(c, a);
    expect_singular_values(c, a);
    expect_intervals(c, a);
    expect_escape(c, a);
    expect_best_direction(c, a);
    expect_null_spaces(set, a);
    EXPECT_EQ(sorted(circuits(set)), sets_from_zero(c["circuits"]));
  }
}

TEST(Singularity, RobotsGiveTheScrewsAndStatesOfTheReference) {
  for (const Json& c : arms()) {
    SCOPED_TRACE(c["id"].get<std::string>());
    const chain::Robot robot = robot_of(c);
    const std::vector<double> q = c["q"];
    const ScrewSet set = make_screws(robot, q);
    for (std::size_t i = 0; i < q.size(); ++i) expect_near(set.screw[i], screw_of(c["screws"][i]), kScrew);
    const Analysis a = analyze(robot, q);
    expect_rank(c, a);
    expect_singular_values(c, a);
    expect_escape(c, a);
    // No interval of these chains is always dependent without a smaller one: both rules say the same.
    ASSERT_EQ(a.intervals.size(), c["sosm"].size());
    for (std::size_t k = 0; k < a.intervals.size(); ++k) expect_interval(c["sosm"][k], a.intervals[k]);
  }
}

TEST(Singularity, LieProductsOfTheExamplesAndTheirPlaceInTheSpan) {
  for (const Json& c : examples()) {
    SCOPED_TRACE(c["id"].get<std::string>());
    const ScrewSet set = screws_in(c["screws"]);
    const Analysis a = analyze(set);
    for (const Json& p : c["lie_products"]) {
      const Screw<double> product =
          cross(set.screw[p["f"].get<std::size_t>() - 1], set.screw[p["h"].get<std::size_t>() - 1]);
      expect_near(product, screw_of(p["value"]), kScrew);
      double power = 0;  // of the lost wrench: none if and only if the product is in the span of all screws
      for (const Wrench<double>& u : a.lost_wrenches) power = std::max(power, std::abs(dot(u, product)));
      EXPECT_EQ(power > 1e-9, p["outside_span_S"]) << p["f"] << " " << p["h"];
    }
  }
}

TEST(Singularity, FiniteMotionsOfTheExamples) {
  for (const Json& c : examples()) {
    SCOPED_TRACE(c["id"].get<std::string>());
    const ScrewSet set = screws_in(c["screws"]);
    const Scaling scaling = natural_scaling(set);
    for (const Json& f : c["finite"]) {
      std::vector<double> dq(set.screw.size(), 0.0);
      dq[f["joint"].get<std::size_t>() - 1] = f["theta"];
      const ScrewSet after = displaced(set, dq);
      for (std::size_t k = 0; k < dq.size(); ++k) expect_near(after.screw[k], screw_of(f["screws"][k]), 1e-12);
      const std::vector<double> sigma = singular_values(after, scaling);
      const auto rank = std::count_if(sigma.begin(), sigma.end(), [&](double s) { return s > 1e-10 * sigma[0]; });
      EXPECT_EQ(rank, f["rank"]) << f["joint"];
    }
  }
}

TEST(Singularity, SetsThatClearEverySingularIntervalOfTheExamples) {
  for (const Json& c : examples()) {
    SCOPED_TRACE(c["id"].get<std::string>());
    const Analysis a = analyze(screws_in(c["screws"]));
    EXPECT_EQ(sorted(a.clearing_sets), sets_from_zero(c["min_sets_clearing_all_SSOS"]));
  }
}

TEST(Singularity, PrintedExamplesHaveTheReferenceRankAtTheirFourDigits) {
  AnalyzeOptions options;
  options.tolerance = 1e-3;
  for (const Json& c : examples())
    EXPECT_EQ(analyze(screws_in(c["printed_screws"]), options).rank, c["printed_rank_tol1e-3"]) << c["id"];
}

TEST(Singularity, TheFirstExampleAsPrintedHasTheSameStates) {
  const Json c = case_of("ex1");
  AnalyzeOptions options = paper_rule();
  options.tolerance = 1e-3;
  const Analysis a = analyze(screws_in(c["printed_screws"]), options);
  expect_rank(c, a);
  ASSERT_EQ(a.intervals.size(), c["sosm"].size());
  for (std::size_t k = 0; k < a.intervals.size(); ++k) {
    EXPECT_EQ(a.intervals[k].dependent_joints, from_zero(c["sosm"][k]["ssm"]));
    for (std::size_t f = 0; f < a.intervals[k].actuators.size(); ++f)
      expect_actuator(c["sosm"][k]["actuators"][f], a.intervals[k].actuators[f]);
  }
  for (std::size_t j = 0; j < a.escape.size(); ++j) EXPECT_EQ(a.escape[j].order, c["joints"][j]["order"]) << j + 1;
}

TEST(Singularity, SelfMotionLeavesTheWristOfSevenJointsButNeitherExample) {
  const Analysis one = analyze(screws_in(case_of("ex1")["screws"])),
                 three = analyze(screws_in(case_of("ex3")["screws"]));
  EXPECT_EQ(one.self_motion, SelfMotion::kNone);
  // Two digits of an independent computation; the sign of the lost wrench, and so of the form, is free.
  EXPECT_NEAR(std::abs(one.self_motion_form[0]), 0.014, 5e-4);
  EXPECT_NEAR(std::abs(one.self_motion_form[1]), 0.49, 5e-3);
  EXPECT_NEAR(std::abs(three.self_motion_form[0]), 0.05, 5e-3);
  EXPECT_NEAR(std::abs(three.self_motion_form[1]), 0.22, 5e-3);
  EXPECT_EQ(three.self_motion, SelfMotion::kNone);
  EXPECT_EQ(analyze(screws_in(case_of("srs_wrist")["screws"])).self_motion, SelfMotion::kEscapes);
  // Aligned wrist axes of a PUMA turn against each other forever.
  EXPECT_EQ(analyze(screws_in(case_of("puma_wrist")["screws"])).self_motion, SelfMotion::kUndecided);
}

}  // namespace
}  // namespace garra::singularity
