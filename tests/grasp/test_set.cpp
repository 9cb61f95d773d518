// Sets of candidate grasps against closed forms, against contact::balance, and against themselves on every executor.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <stdexcept>

#include "contact/problems/classes.hpp"
#include "garra/core/error.hpp"
#include "garra/grasp_set.hpp"
#include "garra/io/grasp_set.hpp"
#include "garra/mesh.hpp"
#include "garra/wrench_balance.hpp"
#include "on_every_executor.hpp"
#include "uncertain_set.hpp"

namespace garra::grasp {
namespace {

using study::Distribution;
constexpr double kInfinite = std::numeric_limits<double>::infinity();

/// Two contacts that face each other along x, 60 mm apart, each with at most 10 N; 0.5 kg in the middle.
GraspSet pinch() {
  GraspSet s;
  s.first = {0, 2};
  s.point = {-0.03, 0, 0, 0.03, 0, 0};
  s.normal = {1, 0, 0, -1, 0, 0};
  s.friction = {0.5, 0.5};
  s.force_limit = {10, 10};
  s.mass = {0.5};
  return s;
}

/// The body stands on one contact, straight below its center of mass.
GraspSet pedestal() {
  GraspSet s;
  s.first = {0, 1};
  s.point = {0, 0, -0.1};
  s.normal = {0, 0, 1};
  s.friction = {0.3};
  s.mass = {1};
  return s;
}

/// Within five standard deviations of a share of n samples.
void expect_share(double found, double expected, std::int64_t n) {
  EXPECT_NEAR(found, expected, 5 * std::sqrt(expected * (1 - expected) / static_cast<double>(n)));
}

TEST(GraspSet, APinchHoldsWhereTwiceTheFrictionOfTheLargestForceCarriesTheWeight) {
  SetStudy study;
  study.friction = Distribution::uniform(0.2, 0.4);
  study.friction_is_factor = false;
  study.samples = 20'000;
  const double needed = 0.5 * 9.81 / (2 * 10);
  const Ranking r = rank(pinch(), study);
  ASSERT_EQ(r.status[0], GraspStatus::kRanked);
  expect_share(r.p_held[0], (0.4 - needed) / 0.2, study.samples);
  EXPECT_LT(r.low[0], (0.4 - needed) / 0.2);
  EXPECT_GT(r.high[0], (0.4 - needed) / 0.2);
  for (const double mu : r.required_friction[0]) EXPECT_NEAR(mu, needed, 2e-4);
  EXPECT_EQ(r.unsolved[0], 0);

  study.friction = Distribution::uniform(0.8, 1.2);  // of 0.5
  study.friction_is_factor = true;
  study.mass = Distribution::uniform(0.5, 1.5);  // both count: mu 2 L >= m g, so the factors' quotient decides
  const double quotient = 0.5 * 20 / (0.5 * 9.81);
  EXPECT_EQ(rank(pinch(), study).p_held[0], 1) << "a factor of mass " << quotient * 0.8 << " would do";
  GraspSet heavy = pinch();
  heavy.mass = {1.0};  // held where m <= f, f uniform in 0.8 ... 1.2 times 1.019
  const double q = quotient / 2;
  // E[P(m <= q f)], m uniform in 0.5 ... 1.5.
  expect_share(rank(heavy, study).p_held[0], q * 1.0 - 0.5, study.samples);
}

TEST(GraspSet, ABodyOnOneContactSlidesOffWhereTheNormalLeansMoreThanTheFrictionAngle) {
  SetStudy study;
  const double cone = 0.6;
  study.tilt = Distribution::cone(cone);
  study.samples = 20'000;
  study.friction_samples = 2000;
  const double friction_angle = std::atan(0.3);
  const Ranking r = rank(pedestal(), study);
  expect_share(r.p_held[0], (1 - std::cos(friction_angle)) / (1 - std::cos(cone)), study.samples);
  // The friction that a sample needs is the tangent of its tilt.
  const auto tilt = [&](double share) { return std::acos(1 - share * (1 - std::cos(cone))); };
  EXPECT_NEAR(r.required_friction[0][1], std::tan(tilt(0.5)), 0.02);
  EXPECT_NEAR(r.required_friction[0][2], std::tan(tilt(0.95)), 0.02);
  // Off the line of its weight no single contact can hold it.
  GraspSet beside = pedestal();
  beside.com = {0.01, 0, 0};
  const Ranking none = rank(beside, {});
  EXPECT_EQ(none.p_held[0], 0);
  EXPECT_EQ(none.required_friction[0][1], kInfinite);
}

TEST(GraspSet, GravityFromAnywhereAndDisturbancesAreUniform) {
  SetStudy study;
  study.random_gravity_direction = true;
  study.samples = 20'000;
  study.friction_samples = 0;
  // A contact at the center of mass gives forces only: held where gravity points into the cone about -z.
  GraspSet center = pedestal();
  center.point = {0, 0, 0};
  const Ranking any = rank(center, study);
  expect_share(any.p_held[0], (1 - std::cos(std::atan(0.3))) / 2, study.samples);
  EXPECT_TRUE(std::isnan(any.required_friction[0][1])) << "nobody asked";
  // Without weight a ball of forces gives the same directions.
  GraspSet light = center;
  light.mass = {};
  SetStudy pushed;
  pushed.force_radius = 2;
  pushed.samples = 20'000;
  expect_share(rank(light, pushed).p_held[0], (1 - std::cos(std::atan(0.3))) / 2, pushed.samples);
}

/// k random contacts on the unit sphere, scaled by 50 mm, normals to its middle.
void add_random_grasp(bench::Random& random, int k, GraspSet& s) {
  for (int j = 0; j < k; ++j) {
    Vec3<double> n;
    for (int i = 0; i < 3; ++i) n[i] = random.uniform(-1, 1);
    n = (1 / norm(n)) * n;
    for (int i = 0; i < 3; ++i) {
      s.point.push_back(-0.05 * n[i]);
      s.normal.push_back(3 * n[i]);  // any length
    }
    s.friction.push_back(random.uniform(0.2, 1));
    s.force_limit.push_back(j % 3 == 0 ? kInfinite : random.uniform(2, 30));
    s.curvature.insert(s.curvature.end(), {20, 20});
  }
  s.first.push_back(std::ssize(s.friction));
  s.mass.push_back(random.uniform(0.1, 1));
  s.com.insert(s.com.end(), {random.uniform(-0.01, 0.01), random.uniform(-0.01, 0.01), random.uniform(-0.01, 0.01)});
}

TEST(GraspSet, OneOfTheGivenWrenchesActsEachAsOftenAsTheOthers) {
  SetStudy study;
  study.samples = 20'000;
  study.friction_samples = 0;
  // Three that a pinch bears, and two that no friction of two points does.
  study.wrenches = {
      {1, 0, 0, 0, 0, 0}, {0, 0, 1, 0, 0, 0}, {0, 0, 0, 0.1, 0, 0}, {0, 1, 0, 0, 0, 0}, {0, 0, 0, -0.1, 0, 0}};
  expect_share(rank(pinch(), study).p_held[0], 0.6, study.samples);
  study.wrenches.assign(kMaxWrenches + 1, {});
  EXPECT_THROW((void)rank(pinch(), study), Error);
  GraspSet light = pinch();
  light.mass = {};
  study.wrenches = {{0, 0, 1, 0, 0, 0}};
  EXPECT_EQ(rank(light, study).p_held[0], 1) << "a wrench is something to hold";
}

TEST(GraspSet, WithoutUncertaintyItIsTheBalanceOfTheWrench) {
  for (int k = 1; k <= contact::kMaxOwnSize; ++k) {
    SCOPED_TRACE(k);
    bench::Random random(static_cast<std::uint64_t>(k));
    const int count = 60;
    GraspSet s;
    s.first = {0};
    for (int g = 0; g < count; ++g) add_random_grasp(random, k, s);
    SetStudy study;
    study.samples = 1;
    const Ranking r = rank(s, study);
    // The same wrenches, put together here; lengths in meters, and any tangents.
    std::vector<double> W(static_cast<std::size_t>(count * 18 * k)), w;
    for (int g = 0; g < count; ++g) {
      const auto at = [&](const std::vector<double>& v, int row) {
        const auto i = static_cast<std::size_t>(3 * row);
        return vec3(v[i], v[i + 1], v[i + 2]);
      };
      for (int j = 0; j < k; ++j) {
        const Vec3<double> n = (1.0 / 3) * at(s.normal, g * k + j);
        const Vec3<double> t0 = cross(n, std::abs(n[0]) < 0.6 ? vec3(1.0, 0.0, 0.0) : vec3(0.0, 1.0, 0.0));
        const Vec3<double> t = (1 / norm(t0)) * t0;
        const Vec3<double> axes[] = {n, t, cross(n, t)};
        for (int c = 0; c < 3; ++c) {
          const Vec3<double> moment = 20.0 * cross(at(s.point, g * k + j) - at(s.com, g), axes[c]);
          for (int row = 0; row < 3; ++row) {
            W[static_cast<std::size_t>((g * 6 + row) * 3 * k + 3 * j + c)] = axes[c][row];
            W[static_cast<std::size_t>((g * 6 + 3 + row) * 3 * k + 3 * j + c)] = moment[row];
          }
        }
      }
      w.insert(w.end(), {0, 0, -9.81 * s.mass[static_cast<std::size_t>(g)], 0, 0, 0});
    }
    const auto direct = contact::balance({k, count, W, w, s.friction, s.force_limit});
    int held = 0;
    for (std::size_t g = 0; g < count; ++g) {
      EXPECT_EQ(r.held[g], direct.decision[g] == contact::ResistanceStatus::kPossible);
      EXPECT_EQ(r.unsolved[g], direct.decision[g] == contact::ResistanceStatus::kUndecided);
      held += static_cast<int>(r.held[g]);
    }
    if (k >= 3) {
      EXPECT_GT(held, 0);
    }
    EXPECT_LT(held, count);
  }
}

TEST(GraspSet, ManyContactsAreAsGoodAsFewThatStandInTheSamePlaces) {
  bench::Random random(3);
  GraspSet few;
  few.first = {0};
  for (int g = 0; g < 40; ++g) add_random_grasp(random, 4, few);
  SetStudy study;
  study.samples = 64;
  study.force_radius = 3;
  study.torque_radius = 0.02;
  study.random_gravity_direction = true;
  const Ranking expected = rank(few, study);
  for (const int k : {9, 12, 13, 17, 25, 32}) {
    SCOPED_TRACE(k);
    // Contact j of k is contact j % 4 of the four, and has its share of the limit.
    GraspSet many;
    many.first = {0};
    many.mass = few.mass;
    many.com = few.com;
    for (std::size_t g = 0; g < 40; ++g)
      for (int j = 0; j < k; ++j) {
        const std::size_t from = 4 * g + static_cast<std::size_t>(j % 4);
        const int copies = (k - j % 4 + 3) / 4;
        many.point.insert(many.point.end(), few.point.begin() + 3 * static_cast<std::ptrdiff_t>(from),
                          few.point.begin() + 3 * static_cast<std::ptrdiff_t>(from) + 3);
        many.normal.insert(many.normal.end(), few.normal.begin() + 3 * static_cast<std::ptrdiff_t>(from),
                           few.normal.begin() + 3 * static_cast<std::ptrdiff_t>(from) + 3);
        many.friction.push_back(few.friction[from]);
        many.force_limit.push_back(few.force_limit[from] / copies);
        if (j == k - 1) many.first.push_back(std::ssize(many.friction));
      }
    const Ranking found = rank(many, study);
    std::int64_t held = 0;
    for (std::size_t g = 0; g < 40; ++g) {
      EXPECT_LE(std::abs(found.held[g] - expected.held[g]), found.unsolved[g] + expected.unsolved[g]) << g;
      // All contacts have the same friction here and there, so that what is needed is the same, too.
      const double mu = expected.required_friction[g][1];
      if (std::isfinite(mu)) {
        EXPECT_NEAR(found.required_friction[g][1], mu, 1e-3 * (1 + mu)) << g;
      }
      held += found.held[g];
    }
    EXPECT_GT(held, 0);
  }
}

/// Kernels pad 9, 14 and 20 contacts to 12, 16 and 24, so that their iterations are not those of the processor.
TEST(GraspSet, EveryExecutorGivesTheSameBits) {
  GraspSet s, padded;
  s.first = padded.first = {0};
  bench::Random random(7);
  for (const int k : {1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32}) add_random_grasp(random, k, s);
  for (const int k : {9, 14, 20}) add_random_grasp(random, k, padded);
  const auto answer = [](const GraspSet& s, const Device& d) {
    SetStudy study = test::uncertain();
    if (test::gpu_here()) study.samples = study.friction_samples = 70;  // a simulated one takes its time
    const Ranking r = rank(s, study, d);
    std::vector<double> friction;
    for (const auto& three : r.required_friction) friction.insert(friction.end(), three.begin(), three.end());
    return test::Answer()
        .add("status", r.status)
        .add("held", r.held)
        .add("unsolved", r.unsolved)
        .add("difference", r.difference)
        .add("difference_low", r.difference_low)
        .add("required_friction", friction)
        .add("rank", r.rank);
  };
  test::expect_same_on_every_executor([&](const Device& d) { return answer(s, d); });
  test::expect_same_on_every_host_executor([&](const Device& d) { return answer(padded, d); });
}

TEST(GraspSet, GraspsShareTheirDrawsSoThatDifferencesAreSharp) {
  GraspSet s;
  s.first = {0};
  for (int copy = 0; copy < 3; ++copy) {
    bench::Random random(11);  // the same grasp
    add_random_grasp(random, 4, s);
  }
  for (std::size_t i = 0; i < s.friction.size() / 3; ++i) s.friction[i] *= 0.95;  // of the first, a little less
  SetStudy study = test::uncertain();
  study.samples = 4000;
  const Ranking r = rank(s, study);
  EXPECT_EQ(r.held[1], r.held[2]);
  EXPECT_EQ(r.difference[2], 0);
  EXPECT_LT(r.held[0], r.held[1]);
  EXPECT_EQ(r.rank[0], 3);
  EXPECT_NEAR(r.difference[0], r.p_held[0] - r.p_held[1], 1e-15);
  EXPECT_LT(r.difference_low[0], r.difference[0]);
  EXPECT_GT(r.difference_high[0], r.difference[0]);
  EXPECT_LT(r.difference_high[0], 0) << "told apart";
  EXPECT_LT(r.difference_high[0] - r.difference_low[0], 0.6 * (r.high[0] - r.low[0]));
  // What is asked of other inputs does not move the draws of these.
  SetStudy less = study;
  less.torque_radius = 0;
  less.random_gravity_direction = false;
  study = less;
  study.samples = 1000;
  const Ranking few = rank(s, study);
  less.samples = 1001;
  EXPECT_LE(rank(s, less).held[0] - few.held[0], 1) << "more samples begin with the same ones";
}

TEST(GraspSet, AGraspThatJustClosesIsDecidedThoughItPressesHundredsOfTimesTheWeight) {
  GraspSet s;
  s.first = {0, 3};
  s.normal = {-0.3399932, 0.77550045,  0.5319809,   -0.61842998, 0.76546281,
              0.17779496, -0.65742808, -0.74998577, 0.07286743};
  for (const double n : s.normal) s.point.push_back(-0.05 * n);
  s.mass = {0.2};
  SetStudy study;
  study.friction = Distribution::uniform(0.3, 0.8);  // closes from about 0.72 on
  study.friction_is_factor = false;
  study.force_radius = 1;
  study.torque_radius = 0.01;
  study.samples = 4000;
  study.friction_samples = 0;
  const Ranking r = rank(s, study);
  EXPECT_LE(r.unsolved[0], 1) << "of 4000; it was 5 %";
  EXPECT_GT(r.p_held[0], 0.1);
  EXPECT_LT(r.p_held[0], 0.2);
}

/// Pinches of known probability, the best in the middle: at friction uniform in 0.2 to 0.4 a force limit of L holds
/// where 2 mu L carries the weight.
GraspSet pinches(std::int64_t count, const std::function<double(std::int64_t)>& probability) {
  GraspSet s;
  s.first = {0};
  for (std::int64_t g = 0; g < count; ++g) {
    const GraspSet one = pinch();
    s.first.push_back(s.first.back() + 2);
    s.point.insert(s.point.end(), one.point.begin(), one.point.end());
    s.normal.insert(s.normal.end(), one.normal.begin(), one.normal.end());
    s.friction.insert(s.friction.end(), {0.5, 0.5});
    const double needed = 0.4 - 0.2 * probability(g), limit = 0.5 * 9.81 / (2 * needed);
    s.force_limit.insert(s.force_limit.end(), {limit, limit});
    s.mass.push_back(0.5);
  }
  return s;
}

SetStudy of_uncertain_friction(std::int64_t samples) {
  SetStudy study;
  study.friction = Distribution::uniform(0.2, 0.4);
  study.friction_is_factor = false;
  study.samples = samples;
  return study;
}

TEST(GraspSet, TheBestAreFoundWithAFifthOfEqualShares) {
  constexpr std::int64_t kGrasps = 200, kBest = 3;
  const auto probability = [](std::int64_t g) { return 0.97 - 0.009 * static_cast<double>(std::abs(g - 100)); };
  const GraspSet set = pinches(kGrasps, probability);
  SetStudy study = of_uncertain_friction(200'000);
  study.best = kBest;
  const Ranking r = rank(set, study);
  EXPECT_TRUE(r.decided);
  std::int64_t drawn = 0, most = 0;
  for (std::size_t g = 0; g < kGrasps; ++g) {
    drawn += r.samples[g];
    most = std::max(most, r.samples[g]);
    const double p = probability(static_cast<std::int64_t>(g));
    EXPECT_LE(r.low[g], p) << g;
    EXPECT_GE(r.high[g], p) << g;
    EXPECT_EQ(r.rank[g] <= kBest, g >= 99 && g <= 101) << g;
    EXPECT_EQ(std::isnan(r.required_friction[g][1]), r.rank[g] > kBest) << "sought for the best only";
    if (r.rank[g] == 1) continue;
    EXPECT_LE(r.difference_low[g], p - 0.97) << g;
    EXPECT_GE(r.difference_high[g], p - 0.97) << g;
  }
  EXPECT_LT(most, study.samples);
  EXPECT_LT(static_cast<double>(drawn), 0.2 * static_cast<double>(kGrasps * most));
}

TEST(GraspSet, EqualGraspsAreNotDecidedAndThatIsSaid) {
  SetStudy study = of_uncertain_friction(2000);
  study.best = 2;
  const Ranking r = rank(pinches(4, [](std::int64_t) { return 0.9; }), study);
  EXPECT_FALSE(r.decided);
  EXPECT_EQ(r.samples, std::vector<std::int64_t>(4, 2000));
  // As many as there are, or fewer: nothing to find out.
  study.best = 4;
  EXPECT_TRUE(rank(pinches(4, [](std::int64_t) { return 0.9; }), study).decided);
  study.best = -1;
  EXPECT_THROW((void)rank(pinch(), study), Error);
  study.best = 1;
  study.confidence = 1;
  EXPECT_THROW((void)rank(pinch(), study), Error);
}

TEST(GraspSet, TheRaceIsTheSameOnEveryExecutor) {
  const GraspSet set = pinches(8, [](std::int64_t g) { return 0.95 - 0.05 * static_cast<double>(g); });
  SetStudy study = of_uncertain_friction(700);
  study.best = 1;
  study.friction_samples = 70;
  test::expect_same_on_every_executor([&](const Device& device) {
    const Ranking r = rank(set, study, device);
    return test::Answer{}.add("held", r.held).add("samples", r.samples).add("rank", r.rank).add("low", r.low);
  });
}

TEST(GraspSet, ProgressIsToldAndCanEndTheRanking) {
  GraspSet s;
  s.first = {0};
  bench::Random random(5);
  for (int g = 0; g < 50; ++g) add_random_grasp(random, 1 + g % 3, s);
  SetStudy study;
  study.samples = 100'000;  // of which twenty grasps are decided at once
  study.friction_samples = 0;
  std::vector<std::int64_t> told;
  (void)rank(s, study, {}, [&](std::int64_t done) { told.push_back(done); });
  EXPECT_GE(told.size(), 3u);
  EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
  EXPECT_EQ(told.back(), 50);
  EXPECT_THROW((void)rank(s, study, {}, [](std::int64_t) { throw std::domain_error("enough"); }), std::domain_error);
}

TEST(GraspSet, ABadGraspSaysWhyAndTheOthersGoOn) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  GraspSet s;
  s.first = {0};
  const auto add = [&](const std::vector<double>& points, const std::vector<double>& normals, double friction,
                       double mass) {
    s.point.insert(s.point.end(), points.begin(), points.end());
    s.normal.insert(s.normal.end(), normals.begin(), normals.end());
    s.friction.resize(s.point.size() / 3, friction);
    s.first.push_back(std::ssize(s.friction));
    s.mass.push_back(mass);
  };
  const std::vector<double> points = {-0.03, 0, 0, 0.03, 0, 0}, normals = {1, 0, 0, -1, 0, 0};
  add(points, normals, 0.5, 1);
  add({}, {}, 0.5, 1);
  add(std::vector<double>(99, 0.01), std::vector<double>(99, 1.0), 0.5, 1);
  add({nan, 0, 0, 0.03, 0, 0}, normals, 0.5, 1);
  add(points, {1, 0, 0, 0, 0, 0}, 0.5, 1);
  add(points, normals, -0.5, 1);
  add(points, normals, 0.5, -1);
  add(points, {-1, 0, 0, 1, 0, 0}, 0.5, 1);
  add({-30, 0, 0, 30, 0, 0}, normals, 0.5, 1);
  add(points, normals, 0.5, 1);
  const Ranking r = rank(s, {});
  for (std::size_t k = 0; k < 9; ++k) EXPECT_EQ(static_cast<std::size_t>(r.status[k]), k);
  EXPECT_EQ(r.status[9], GraspStatus::kRanked);
  EXPECT_EQ(r.p_held[0], 1);
  EXPECT_EQ(r.p_held[9], 1);
  EXPECT_EQ(r.rank[9], 2);
  EXPECT_EQ(r.rank[3], 0);
  EXPECT_TRUE(std::isnan(r.p_held[3]));
}

/// A torus about z of the radii 40 and 10 mm, finely cut.
mesh::Mesh torus() {
  constexpr int kAround = 48, kAcross = 24;
  mesh::Mesh m;
  for (int i = 0; i < kAround; ++i)
    for (int j = 0; j < kAcross; ++j) {
      const double u = 2 * M_PI * i / kAround, v = 2 * M_PI * j / kAcross, r = 0.04 + 0.01 * std::cos(v);
      m.vertex.insert(m.vertex.end(), {r * std::cos(u), r * std::sin(u), 0.01 * std::sin(v)});
    }
  const auto at = [&](int i, int j) { return (i % kAround) * kAcross + j % kAcross; };
  for (int i = 0; i < kAround; ++i)
    for (int j = 0; j < kAcross; ++j)
      m.face.insert(m.face.end(), {at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j), at(i + 1, j + 1), at(i, j + 1)});
  return m;
}

/// Three contacts at the torus' inner (30 mm) or outer (50 mm) equator, their normals along the radius, outwards or
/// inwards.
GraspSet round_the_ring(double radius, double sign) {
  GraspSet s;
  s.first = {0, 3};
  for (int j = 0; j < 3; ++j) {
    const double x = std::cos(2 * M_PI * j / 3 + 0.3), y = std::sin(2 * M_PI * j / 3 + 0.3);
    s.point.insert(s.point.end(), {radius * x, radius * y, 0});
    s.normal.insert(s.normal.end(), {sign * x, sign * y, 0});
  }
  s.friction = {0.5, 0.5, 0.5};
  s.force_limit = {10, 10, 10};
  s.mass = {0.3};
  return s;
}

TEST(GraspSet, ARingIsGraspedFromWithinWhereItsSurfaceOrTheStudySaysSo) {
  mesh::Report report;
  const std::shared_ptr<const mesh::Surface> ring = mesh::make_surface(mesh::tidy(torus(), report));
  ASSERT_TRUE(report.watertight() && !report.flipped);
  GraspSet within = round_the_ring(0.03, 1), turned = round_the_ring(0.05, 1);
  SetStudy study;
  study.samples = 1;
  EXPECT_EQ(rank(within, study).status[0], GraspStatus::kOutwardNormals) << "nothing tells them apart";
  EXPECT_EQ(rank(turned, study).status[0], GraspStatus::kOutwardNormals);
  within.object = turned.object = ring;
  const Ranking r = rank(within, study);
  EXPECT_EQ(r.status[0], GraspStatus::kRanked);
  EXPECT_EQ(r.p_held[0], 1);
  // Three normal forces at their limit carry the weight by friction, and only these: a little more is asked for.
  EXPECT_NEAR(r.required_friction[0][1], 0.3 * 9.81 / 30, 5e-4);
  EXPECT_EQ(rank(turned, study).status[0], GraspStatus::kOutwardNormals) << "the surface says so";
  within.object = nullptr;
  study.interior_grasp = true;
  EXPECT_EQ(rank(within, study).required_friction, r.required_friction);
}

TEST(GraspSet, AFilesOwnObjectDecidesAboutNormalsToo) {
  const std::string path = testing::TempDir() + "garra_ring.h5";
  for (const bool turned : {false, true}) {
    io::SetExtras extras;
    extras.object = torus();
    io::write_grasp_set(path, round_the_ring(turned ? 0.05 : 0.03, 1), extras);
    const Ranking r = rank(io::SetFile(path), SetStudy{});
    EXPECT_EQ(r.status[0], turned ? GraspStatus::kOutwardNormals : GraspStatus::kRanked);
    extras.object.face[5] = 1'000'000;  // fit for no picture, and for no question
    io::write_grasp_set(path, round_the_ring(0.03, 1), extras);
    EXPECT_EQ(rank(io::SetFile(path), SetStudy{}).status[0], GraspStatus::kOutwardNormals);
  }
  std::remove(path.c_str());
}

TEST(GraspSet, SizesThatDoNotFitAndNothingToHoldAreRefused) {
  EXPECT_THROW((void)rank(GraspSet{}, {}), Error);
  GraspSet s = pinch();
  s.first = {0, 3};
  EXPECT_THROW((void)rank(s, {}), Error);
  s.first = {1, 2};
  EXPECT_THROW((void)rank(s, {}), Error);
  s = pinch();
  s.mass = {};
  EXPECT_THROW((void)rank(s, {}), Error);
  s.wrench = {0, 0, -1, 0, 0, 0};
  EXPECT_NO_THROW((void)rank(s, {}));
  s.friction = {};
  EXPECT_THROW((void)rank(s, {}), Error);
  SetStudy given;
  given.friction_is_factor = false;
  EXPECT_NO_THROW((void)rank(s, given));
}

}  // namespace
}  // namespace garra::grasp
