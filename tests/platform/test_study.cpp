// The platform study against a plain loop: each sample's platform built with the public functions, its path taken
// through inverse kinematics and inverse dynamics, its outcome decided by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "garra/io/platform_scenario.hpp"
#include "garra/platform_dynamics.hpp"
#include "garra/platform_kinematics.hpp"
#include "places.hpp"
#include "platform/study/platform_study.hpp"
#include "study_answer.hpp"

namespace {

using garra::Device;
using garra::Executor;
using garra::Mat3;
using garra::Vec3;
using namespace garra::platform;

constexpr double kRounding = 1e-9;  ///< of forces of some 1000 N and margins of some 0.1 m: solved 6 x 6 systems

const Device kOne{Executor::kScalar, 1};

const char* const kText = R"(
schema = 1
job = "platform"
seed = 5
[platform]
file = "../platforms/trepa_like.toml"  # beside the scenario's folder: a test runs anywhere
gravity = [-9.81, 0, 0]
[payload]
mass = { normal = [20, 2], min = 10 }
com = [0.01, { uniform = [-0.02, 0.02] }, { uniform = [0, 0.06] }]
radius_of_gyration = 0.1
[geometry]
base_error = { normal = [0, 5e-3] }
anchor_error = { normal = [0, 5e-3] }
leg_mass_factor = { normal = [1, 0.03], min = 0.5 }
[friction]
coulomb = { uniform = [5, 25] }
viscous = { uniform = [20, 60] }
[disturbance]
force = 60
moment = 10
tilt = "5 deg"
[path]
instants = 7
duration = 1
poses = [{ position = [0, 0, 1.2] }, { position = [0.4, 0.1, 1.35], rpy = ["5 deg", "10 deg", "20 deg"] }]
[allowed]
force = 960
[sampling]
samples = 3000
chunk = 1024
)";

Scenario scenario(const std::vector<std::string>& overrides = {}) {
  return garra::io::parse_platform_scenario(kText, garra::test::source_folder() + "/data/scenarios/test.toml",
                                            overrides);
}

/// Drawn numbers of a sample by the names of their inputs.
std::map<std::string, std::vector<double>> drawn(const PlatformStudy& study, const StudyReplay& r) {
  std::map<std::string, std::vector<double>> x;
  std::size_t next = 0;
  for (const StudyUncertain& input : study.inputs())
    for (int k = 0; k < input.slots; ++k) x[input.name].push_back(r.inputs[next++]);
  return x;
}

Vec3<double> pointing(double size, const std::vector<double>& way) {
  const double across = std::sqrt(1 - way[0] * way[0]);
  return {{size * across * std::cos(way[1]), size * across * std::sin(way[1]), size * way[0]}};
}

/// The sample's platform.
Platform built(const Scenario& s, std::map<std::string, std::vector<double>>& x) {
  Platform p = s.platform;
  for (std::size_t i = 0; i < kLegs; ++i) {
    Leg& leg = p.leg[i];
    for (int c = 0; c < 3; ++c) {
      leg.base[c] += x["geometry.base_error"][3 * i + static_cast<std::size_t>(c)];
      leg.anchor[c] += x["geometry.anchor_error"][3 * i + static_cast<std::size_t>(c)];
    }
    for (Link* link : {&leg.lower, &leg.upper}) {
      link->mass *= x["geometry.leg_mass_factor"][0];
      link->inertia = x["geometry.leg_mass_factor"][0] * link->inertia;
    }
  }
  const double mass = x["payload.mass"][0], own = mass * 0.1 * 0.1;
  p = with_payload(p, mass, {{0.01, x["payload.com y"][0], x["payload.com z"][0]}},
                   {{own, 0, 0, 0, own, 0, 0, 0, own}});
  return p;
}

struct Checked {
  Outcome outcome = Outcome::kFeasible;
  int instant = -1, leg = 0;
  double peak = 0, stroke = 1e300, clearance = 1e300, sigma = 1e300, universal = 1e300, spherical = 1e300;
};

double least(const std::vector<double>& rows, std::size_t k) {
  return *std::min_element(rows.data() + 6 * k, rows.data() + 6 * k + 6);
}

/// What the public functions say of a sample.
Checked by_hand(const Scenario& s, std::map<std::string, std::vector<double>> x, const Vec3<double>& gravity) {
  Platform p = built(s, x);
  const Vec3<double> shift =
      s.platform.leg[0].anchor +
      Vec3<double>{{x["geometry.anchor_error"][0], x["geometry.anchor_error"][1], x["geometry.anchor_error"][2]}} -
      p.leg[0].anchor;
  p.gravity = gravity;
  PathPoints path = sample_path(s.path);
  Motion motion{path.velocity, path.acceleration};
  std::vector<double> wrench;
  const Vec3<double> force = pointing(x["disturbance.force"][0], x["disturbance.force direction"]);
  const Vec3<double> moment = pointing(x["disturbance.moment"][0], x["disturbance.moment direction"]);
  for (std::size_t k = 0; k < path.time.size(); ++k) {
    const double* q = path.pose.quaternion.data() + 4 * k;
    const Vec3<double> arm = rotation_matrix<double>({{q[0], q[1], q[2], q[3]}}) * shift;
    double *v = motion.velocity.data() + 6 * k, *a = motion.acceleration.data() + 6 * k;
    const Vec3<double> w{{v[3], v[4], v[5]}}, dw{{a[3], a[4], a[5]}};
    const Vec3<double> turning = cross(w, arm), bending = cross(dw, arm) + cross(w, turning),
                       there = moment - cross(arm, force);
    for (int c = 0; c < 3; ++c) {
      path.pose.position[3 * k + static_cast<std::size_t>(c)] += arm[c];
      v[c] += turning[c];
      a[c] += bending[c];
    }
    wrench.insert(wrench.end(), {force[0], force[1], force[2], there[0], there[1], there[2]});
  }
  InverseOptions options;
  options.limits = options.conditioning = true;
  options.characteristic_length = characteristic_length(s.platform);  // of the nominal one, for all samples
  const InverseKinematics ik = inverse_kinematics({p}, path.pose, motion, options, kOne);
  const InverseDynamics id = inverse_dynamics({p}, path.pose, motion, wrench, Form::kMinimal, kOne);
  Checked c;
  for (std::size_t k = 0; k < path.time.size(); ++k) {
    double peak = 0;
    int strongest = 0;
    for (std::size_t i = 0; i < kLegs; ++i) {
      const double rate = ik.rates[6 * k + i];
      const double f =
          id.force[6 * k + i] + x["friction.viscous"][0] * rate + x["friction.coulomb"][0] * std::tanh(rate / 1e-3);
      if (std::abs(f) > peak) peak = std::abs(f), strongest = static_cast<int>(i) + 1;
    }
    const double cone = std::min(least(ik.universal_margin, k), least(ik.spherical_margin, k));
    Outcome now = Outcome::kFeasible;
    if (peak > s.allowed.force) now = Outcome::kForce;
    if (ik.sigma_min[k] < s.allowed.near_singular) now = Outcome::kSingular;
    if (ik.clearance[k] < 0) now = Outcome::kCollision;
    if (cone < 0) now = Outcome::kCone;
    if (least(ik.stroke_margin, k) < 0) now = Outcome::kStroke;
    if (c.outcome == Outcome::kFeasible && now != Outcome::kFeasible) {
      c.outcome = now, c.instant = static_cast<int>(k);
      c.leg = now == Outcome::kForce ? strongest : c.leg;
    }
    c.peak = std::max(c.peak, peak);
    c.stroke = std::min(c.stroke, least(ik.stroke_margin, k));
    c.universal = std::min(c.universal, least(ik.universal_margin, k));
    c.spherical = std::min(c.spherical, least(ik.spherical_margin, k));
    c.clearance = std::min(c.clearance, ik.clearance[k]);
    c.sigma = std::min(c.sigma, ik.sigma_min[k]);
  }
  return c;
}

/// Gravity of (-g, 0, 0) leans by the drawn angle; the direction's origin is the study's own.
Vec3<double> leaned(const PlatformStudy& study, std::map<std::string, std::vector<double>>& x) {
  const double tilt = x["disturbance.tilt"][0], way = x["disturbance.tilt direction"][0];
  const Vec3<double>*across = study.rules().gravity_across, down = study.scenario().platform.gravity;
  Vec3<double> g;
  for (int c = 0; c < 3; ++c)
    g[c] = std::cos(tilt) * down[c] + std::sin(tilt) * (std::cos(way) * across[0][c] + std::sin(way) * across[1][c]);
  EXPECT_NEAR(norm(g), 9.81, 1e-12);
  EXPECT_NEAR(dot(g, down) / (9.81 * 9.81), std::cos(tilt), 1e-12);
  return g;
}

TEST(PlatformStudy, DecidesEverySampleAsThePublicFunctionsDo) {
  const PlatformStudy study(scenario());
  int outcomes[kOutcomes] = {};
  for (std::int64_t i = 0; i < 150; ++i) {
    const StudyReplay r = study.replay(i);
    auto x = drawn(study, r);
    const Checked c = by_hand(study.scenario(), x, leaned(study, x));
    ++outcomes[static_cast<int>(c.outcome)];
    ASSERT_EQ(static_cast<int>(r.measured.outcome), static_cast<int>(c.outcome)) << "sample " << i;
    EXPECT_EQ(static_cast<int>(r.measured.instant), c.instant);
    if (c.outcome == Outcome::kForce) {
      EXPECT_EQ(static_cast<int>(r.measured.leg), c.leg);
    }
    EXPECT_NEAR(r.measured.peak_force, c.peak, kRounding);
    EXPECT_NEAR(r.measured.stroke, c.stroke, kRounding);
    EXPECT_NEAR(r.measured.universal, c.universal, kRounding);
    EXPECT_NEAR(r.measured.spherical, c.spherical, kRounding);
    EXPECT_NEAR(r.measured.clearance, c.clearance, kRounding);
    EXPECT_NEAR(r.measured.sigma, c.sigma, kRounding);
  }
  EXPECT_GT(outcomes[static_cast<int>(Outcome::kFeasible)], 20);
  EXPECT_GT(outcomes[static_cast<int>(Outcome::kForce)], 20);
}

TEST(PlatformStudy, TellsStrokeConeAndSingularityApart) {
  const auto only = [](const std::vector<std::string>& overrides) {
    const PlatformStudy study(scenario(overrides));
    return static_cast<Outcome>(static_cast<int>(study.replay(0).measured.outcome));
  };
  EXPECT_EQ(only({"allowed.force=1e9"}), Outcome::kFeasible);
  EXPECT_EQ(only({"allowed.force=1e9", "path.poses.1.position=[0.4, 0.1, 2.2]"}), Outcome::kStroke);
  EXPECT_EQ(only({"allowed.near_singular=0.9", "allowed.force=1"}), Outcome::kSingular);
  EXPECT_EQ(only({"allowed.force=1"}), Outcome::kForce);
  Scenario narrow = scenario({"allowed.force=1e9"});
  narrow.platform.leg[3].spherical_cone = 0.05;
  const StudyReplay r = PlatformStudy(narrow).replay(0);
  EXPECT_EQ(static_cast<Outcome>(static_cast<int>(r.measured.outcome)), Outcome::kCone);
  EXPECT_EQ(static_cast<int>(r.measured.leg), 4);
}

garra::study::Total total_of(const PlatformStudy& study, std::int64_t chunk, const Device& device) {
  garra::study::Total total;
  const auto shape = study.shape();
  for (std::int64_t at = 0; at < study.plan().samples; at += chunk)
    total.add(study.run(at, std::min(chunk, study.plan().samples - at), device), shape);
  return total;
}

TEST(PlatformStudy, HasTheSameSummaryHoweverItIsComputed) {
  const PlatformStudy study(scenario());
  EXPECT_FALSE(study.run(0, 1024, {Executor::kLanes, 2}).kept.empty());
  garra::test::expect_study_same_on_every_executor(study, {4096, 1024, 2048});
}

TEST(PlatformStudy, CountsWhatItsSamplesAre) {
  const PlatformStudy study(scenario({"sampling.samples=257", "output.keep=\"all\""}));
  const auto total = total_of(study, 1024, {Executor::kLanes, 1});
  const auto j = nlohmann::json::parse(study.summary(total, "samples"));
  std::int64_t feasible = 0;
  double low = 1e300, high = -1e300;
  for (std::int64_t i = 0; i < 257; ++i) {
    const StudyReplay r = study.replay(i);
    feasible += r.measured.outcome == 0;
    low = std::min(low, r.series.force[6 * 3 + 1]);
    high = std::max(high, r.series.force[6 * 3 + 1]);
  }
  EXPECT_EQ(j["outcomes"]["feasible"], feasible);
  EXPECT_EQ(257 * study.shape().row, study.run(0, 257, {Executor::kLanes, 1}).kept.size());
  EXPECT_EQ(j["force_envelope"]["low"][3][1].get<double>(), low);
  EXPECT_EQ(j["force_envelope"]["high"][3][1].get<double>(), high);
  EXPECT_EQ(j["p_feasible"]["probability"].get<double>(), static_cast<double>(feasible) / 257);
}

TEST(PlatformStudy, SharesItsDrawsBetweenDesigns) {
  const PlatformStudy with(scenario()), without(scenario({"friction.coulomb=10", "disturbance.force=0"}));
  auto x = drawn(with, with.replay(11)), y = drawn(without, without.replay(11));
  for (const char* name : {"payload.mass", "geometry.base_error", "geometry.anchor_error", "disturbance.moment"})
    EXPECT_EQ(x[name], y[name]) << name;
}

TEST(PlatformStudy, CountsNumbersThatAreNotFiniteAsUnsolved) {
  Scenario s = scenario({"sampling.samples=20"});
  s.platform.leg[2].lower.mass = NAN;
  const PlatformStudy study(s);
  const auto total = total_of(study, 1024, {Executor::kLanes, 1});
  EXPECT_EQ(garra::study::unsolved_share(study.decisions(total)), 1);
  EXPECT_TRUE(std::isnan(study.estimate(total).probability));
}

TEST(PlatformStudy, HasNoIntervalWhereAllNodesWereComputedAndNothingIsDrawn) {
  Scenario s = scenario();
  s.kind = garra::platform::Study::kMap;
  s.uncertain = {};
  for (auto& d : s.uncertain.payload_com) d = garra::study::Distribution::constant(0);
  s.map = {{{-0.4, 0, 0.9}}, {{0.4, 0, 1.6}}, {5, 1, 5}, 1, 0, 0};
  s.plan.keep = "none";
  for (const double turn : {0.0, 0.3}) {
    s.map.turn = turn;
    const PlatformStudy study(s);
    const auto total = total_of(study, 1024, {Executor::kLanes, 1});
    const garra::study::Estimate e = study.estimate(total);
    EXPECT_EQ(study.every_node_is_known(total), turn == 0);
    EXPECT_GT(e.probability, 0);
    EXPECT_LT(e.probability, 1);
    EXPECT_EQ(e.interval.low == e.probability && e.interval.high == e.probability, turn == 0);
    EXPECT_EQ(nlohmann::json::parse(study.summary(total, "samples"))["map"]["exact"], turn == 0);
  }
}

TEST(PlatformStudy, MapsAWorkspaceNodeByNode) {
  Scenario s = scenario();
  s.kind = garra::platform::Study::kMap;
  s.uncertain = {};
  for (auto& d : s.uncertain.payload_com) d = garra::study::Distribution::constant(0);
  s.map = {{{-0.4, 0, 0.9}}, {{0.4, 0, 1.6}}, {3, 1, 4}, 20, 0.2, 0.3};
  s.plan.keep = "none";
  const PlatformStudy study(s);
  EXPECT_EQ(study.plan().samples, 240);
  const auto total = total_of(study, 1024, {Executor::kLanes, 2});
  const MapValues v = study.map(total);
  ASSERT_EQ(v.feasible_share.size(), 12u);
  for (std::int64_t node = 0; node < 12; ++node) {
    int feasible = 0;
    double sigma = 1e300, force = 0;
    for (std::int64_t k = 0; k < 20; ++k) {
      const StudyReplay r = study.replay(20 * node + k);
      const double* at = r.series.pose.position.data();
      EXPECT_DOUBLE_EQ(at[0], v.axis[0][static_cast<std::size_t>(node % 3)]);
      EXPECT_DOUBLE_EQ(at[2], v.axis[2][static_cast<std::size_t>(node / 3)]);
      const double* q = r.series.pose.quaternion.data();
      EXPECT_GE(rotation_matrix<double>({{q[0], q[1], q[2], q[3]}})(2, 2), std::cos(0.2) - 1e-12);
      feasible += r.measured.outcome == 0;
      sigma = std::min(sigma, r.measured.sigma);
      force = std::max(force, r.measured.peak_force);
    }
    EXPECT_EQ(v.feasible_share[static_cast<std::size_t>(node)], feasible / 20.0);
    EXPECT_EQ(v.sigma_min[static_cast<std::size_t>(node)], sigma);
    EXPECT_EQ(v.worst_force[static_cast<std::size_t>(node)], force);
  }
}

}  // namespace
