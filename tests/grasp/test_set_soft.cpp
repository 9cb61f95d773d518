// Soft contacts of grasp sets: closed forms, another cone solver, and every executor.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "contact/problems/classes.hpp"
#include "garra/core/error.hpp"
#include "garra/grasp_set.hpp"
#include "on_every_executor.hpp"
#include "reference.hpp"
#include "uncertain_set.hpp"

namespace garra::grasp {
namespace {

using study::Distribution;
constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kLimit = 10, kRadius = 0.004, kFriction = 0.5;

/// Two soft contacts that face each other along x, 60 mm apart, each with at most 10 N, against a wrench.
GraspSet pinch(const Vec<double, 6>& wrench) {
  GraspSet s;
  s.first = {0, 2};
  s.point = {-0.03, 0, 0, 0.03, 0, 0};
  s.normal = {1, 0, 0, -1, 0, 0};
  s.friction = {kFriction, kFriction};
  s.force_limit = {kLimit, kLimit};
  s.torsion_radius = {kRadius, kRadius};
  s.wrench.assign(wrench.m, wrench.m + 6);
  return s;
}

/// A body of 1 kg that stands on a plate at its center of mass, pushed along x and turned about z.
GraspSet plate(double push, double moment) {
  GraspSet s;
  s.first = {0, 1};
  s.point = {0, 0, 0};
  s.normal = {0, 0, 1};
  s.friction = {kFriction};
  s.torsion_radius = {kRadius};
  s.mass = {1};
  s.wrench = {push, 0, 0, 0, 0, moment};
  return s;
}
constexpr double kWeight = 9.81;

bool holds(const GraspSet& s) {
  SetStudy study;
  study.samples = 1;
  study.friction_samples = 0;
  const Ranking r = rank(s, study);
  EXPECT_EQ(r.status[0], GraspStatus::kRanked);
  EXPECT_EQ(r.unsolved[0], 0);
  return r.held[0] == 1;
}

TEST(SoftSet, APinchBearsTheMomentAboutItsLineThatItsTwoContactsBearTogether) {
  const double most = 2 * kRadius * kFriction * kLimit;
  for (const double sign : {-1.0, 1.0}) {
    EXPECT_TRUE(holds(pinch({{0, 0, 0, 0.9999 * sign * most, 0, 0}})));
    EXPECT_FALSE(holds(pinch({{0, 0, 0, 1.0001 * sign * most, 0, 0}})));
  }
  GraspSet of_points = pinch({{0, 0, 0, 1e-3 * most, 0, 0}});
  of_points.torsion_radius = {};
  EXPECT_FALSE(holds(of_points)) << "two points bear none";
  GraspSet one_soft = pinch({{0, 0, 0, 0.4999 * most, 0, 0}});
  one_soft.torsion_radius[1] = 0;
  EXPECT_TRUE(holds(one_soft));
  one_soft.wrench[3] = 0.5001 * most;
  EXPECT_FALSE(holds(one_soft));
}

TEST(SoftSet, PushAndTwistTogetherLieOnTheEllipse) {
  const double force = 2 * kFriction * kLimit, moment = kRadius * force;
  for (const double angle : {0.1, 0.5, 0.8, 1.2, 1.5}) {
    const auto at = [&](double of) {
      return pinch({{0, of * force * std::cos(angle), 0, of * moment * std::sin(angle), 0, 0}});
    };
    EXPECT_TRUE(holds(at(0.9999))) << angle;
    EXPECT_FALSE(holds(at(1.0001))) << angle;
    // The same of one contact without a limit, that the weight presses.
    const double own = kFriction * kWeight;
    const auto standing = [&](double of) {
      return plate(of * own * std::cos(angle), of * kRadius * own * std::sin(angle));
    };
    EXPECT_TRUE(holds(standing(0.9999))) << angle;
    EXPECT_FALSE(holds(standing(1.0001))) << angle;
  }
}

/// What a disk with radius 1, friction 1 and a pressure of 1 in all bears where it turns about a point at distance d of
/// its middle: the force, and the moment about the middle. Coulomb's law in every place.
struct DiskLoad {
  double force, moment;
};
DiskLoad turning_disk(double d) {
  constexpr int kSteps = 400;
  DiskLoad out{0, 0};
  for (int i = 0; i < kSteps; ++i)
    for (int k = 0; k < kSteps; ++k) {
      const double r = (i + 0.5) / kSteps, angle = 2 * M_PI * (k + 0.5) / kSteps;
      const double x = r * std::cos(angle), y = r * std::sin(angle), speed = std::hypot(x - d, y);
      const double share = 2 * r / (double{kSteps} * kSteps * speed);
      out.force -= share * (x - d);
      out.moment += share * (x * (x - d) + y * y);
    }
  return out;
}

TEST(SoftSet, ADiskOnAPlaneTwistsAtTwoThirdsOfItsRadiusAndBearsAtMostSevenPercentLessThanTheEllipse) {
  const double own = kFriction * kWeight, disk = 1.5 * kRadius;  // r = 2/3 of the disk's radius
  const auto loaded = [&](double of, const DiskLoad& load) {
    return plate(of * own * load.force, of * own * disk * load.moment);
  };
  const DiskLoad twisted = turning_disk(0);
  EXPECT_NEAR(twisted.moment, 2.0 / 3, 1e-5);
  EXPECT_TRUE(holds(loaded(0.999, twisted)));
  EXPECT_FALSE(holds(loaded(1.001, twisted)));
  for (const double d : {0.2, 0.4, 0.6, 0.76, 0.85, 1.1, 1.5, 3.0}) {
    EXPECT_TRUE(holds(loaded(0.9999, turning_disk(d)))) << d;
    EXPECT_FALSE(holds(loaded(1.075, turning_disk(d)))) << d;
  }
  EXPECT_TRUE(holds(loaded(1.065, turning_disk(0.76)))) << "and it is as much as that";
}

TEST(SoftSet, FrictionThatIsDrawnAndFrictionThatIsNeeded) {
  const double needed = 0.3;
  const GraspSet s = pinch({{0, 0, 0, 2 * kRadius * needed * kLimit, 0, 0}});
  SetStudy study;
  study.friction = Distribution::uniform(0.2, 0.4);
  study.friction_is_factor = false;
  study.samples = 20'000;
  const Ranking r = rank(s, study);
  EXPECT_NEAR(r.p_held[0], (0.4 - needed) / 0.2, 5 * std::sqrt(0.25 / 20'000));
  for (const double mu : r.required_friction[0]) EXPECT_NEAR(mu, needed, 2e-4);
  const double push = 1.2, moment = 0.006;
  EXPECT_NEAR(rank(plate(push, moment), {}).required_friction[0][1], std::hypot(push, moment / kRadius) / kWeight,
              2e-4);
  GraspSet point = plate(push, moment);
  point.torsion_radius = {0};
  EXPECT_EQ(rank(point, {}).required_friction[0][1], kInfinite) << "no friction lets a point twist";
}

void append_case(const nlohmann::json& c, double factor, GraspSet& s) {
  for (std::size_t j = 0; j < c["mu"].size(); ++j) {
    for (int k = 0; k < 3; ++k) {
      s.point.push_back(c["point"][j][static_cast<std::size_t>(k)]);
      s.normal.push_back(c["normal"][j][static_cast<std::size_t>(k)]);
    }
    s.friction.push_back(c["mu"][j]);
    s.force_limit.push_back(c["limit"][j]);
    s.torsion_radius.push_back(c["radius"][j]);
  }
  s.first.push_back(std::ssize(s.friction));
  for (std::size_t r = 0; r < 6; ++r) s.wrench.push_back(factor * c["w"][r].get<double>());
}

TEST(SoftSet, AgreesWithAnotherSolverJustBelowAndJustAboveTheLargestWrench) {
  const nlohmann::json all = test::read_reference_json("grasp/soft_balance.json");
  GraspSet s;
  s.first = {0};
  std::vector<std::int64_t> expected;
  for (const auto& c : all["cases"]) {
    const double largest = c["largest"];
    if (largest > 9000) continue;  // the reference stops at 1e4
    for (const double of : {0.9999, 1.0001}) {
      if (largest == 0 && of < 1) continue;
      append_case(c, largest == 0 ? 1 : of * largest, s);
      expected.push_back(of < 1);
    }
  }
  SetStudy study;
  study.samples = 1;
  study.friction_samples = 0;
  study.interior_grasp = true;
  const Ranking r = rank(s, study);
  std::int64_t unsolved = 0, large = 0;
  for (std::size_t g = 0; g < expected.size(); ++g) {
    EXPECT_EQ(r.status[g], GraspStatus::kRanked) << g;
    unsolved += r.unsolved[g];
    if (r.unsolved[g] == 0) {
      EXPECT_EQ(r.held[g], expected[g]) << g;
    }
    large += s.first[g + 1] - s.first[g] > 8;
  }
  EXPECT_GT(expected.size(), 250u);
  EXPECT_GE(large, 20);
  EXPECT_LE(unsolved, 2);  // all are within 1e-4 of where the answer changes
}

/// k random contacts on a sphere of 50 mm, normals to its middle.
void add_random_grasp(bench::Random& random, int k, GraspSet& s) {
  for (int j = 0; j < k; ++j) {
    const Vec3<double> any = random.normal3(), n = (1 / norm(any)) * any;
    for (int i = 0; i < 3; ++i) s.point.push_back(-0.05 * n[i]);
    s.normal.insert(s.normal.end(), n.m, n.m + 3);
    s.friction.push_back(random.uniform(0.2, 1));
    s.force_limit.push_back(j % 3 == 2 ? kInfinite : random.uniform(2, 30));
    s.torsion_radius.push_back(j % 4 == 3 ? 0 : random.uniform(0.002, 0.01));
  }
  s.first.push_back(std::ssize(s.friction));
  s.mass.push_back(random.uniform(0.1, 1));
}

TEST(SoftSet, EveryExecutorGivesTheSameBits) {
  GraspSet s, padded;
  s.first = padded.first = {0};
  bench::Random random(9);
  for (const int k : {1, 2, 3, 4, 5, 8, 16}) add_random_grasp(random, k, s);
  for (const int k : {6, 14, 20}) add_random_grasp(random, k, padded);
  std::int64_t held = 0;
  const auto answer = [&held](const GraspSet& s, const Device& d) {
    SetStudy study = test::uncertain();
    if (test::gpu_here()) study.samples = study.friction_samples = 70;  // a simulated one takes its time
    const Ranking r = rank(s, study, d);
    std::vector<double> friction;
    for (const auto& three : r.required_friction) friction.insert(friction.end(), three.begin(), three.end());
    for (const std::int64_t n : r.held) held += n;
    return test::Answer().add("held", r.held).add("unsolved", r.unsolved).add("required_friction", friction);
  };
  test::expect_same_on_every_executor([&](const Device& d) { return answer(s, d); });
  test::expect_same_on_every_host_executor([&](const Device& d) { return answer(padded, d); });
  EXPECT_GT(held, 0);
}

TEST(SoftSet, RadiiOfZeroLeaveTheBitsOfPointsAndSmallOnesTheirStates) {
  GraspSet s;
  s.first = {0};
  bench::Random random(4);
  for (int g = 0; g < 12; ++g) add_random_grasp(random, 2 + g % 4, s);
  GraspSet points = s, zero = s, tiny = s;
  points.torsion_radius = {};
  zero.torsion_radius.assign(s.friction.size(), 0);
  tiny.torsion_radius.assign(s.friction.size(), 1e-9);
  const Ranking a = rank(points, test::uncertain()), b = rank(zero, test::uncertain()),
                c = rank(tiny, test::uncertain());
  EXPECT_EQ(a.required_friction, b.required_friction);
  EXPECT_EQ(a.held, b.held);
  std::int64_t held = 0, more = 0;
  const Ranking soft = rank(s, test::uncertain());
  for (std::size_t g = 0; g < 12; ++g) {
    EXPECT_LE(std::abs(a.held[g] - c.held[g]), a.unsolved[g] + c.unsolved[g]) << g;
    held += a.held[g];
    more += soft.held[g] - a.held[g];
    EXPECT_GE(soft.held[g] + soft.unsolved[g], a.held[g]) << g << ": a moment more never hurts";
  }
  EXPECT_GT(held, 100);
  EXPECT_GT(more, 100);
}

TEST(SoftSet, AReplaySaysTheMomentOfEachContact) {
  const double moment = 0.5 * 2 * kRadius * kFriction * kLimit, push = 3;
  GraspSet s = pinch({{0, push, 0, moment, 0, 0}});
  s.torsion_radius[1] = 0.5 * kRadius;
  const SetReplay r = replay(s, {}, 0, 0);
  ASSERT_EQ(r.outcome, Outcome::kHeld);
  EXPECT_EQ(r.torsion_radius, s.torsion_radius);
  ASSERT_EQ(r.torsion.size(), 2u);
  EXPECT_NEAR(r.torsion[0] * 1 + r.torsion[1] * -1, -moment, 1e-9) << "about the normals, which face each other";
  for (std::size_t j = 0; j < 2; ++j) {
    const double* c = r.force.data() + 3 * j;
    EXPECT_LE(std::hypot(std::hypot(c[1], c[2]), r.torsion[j] / r.torsion_radius[j]), kFriction * c[0] * (1 + 1e-12));
  }
  s.wrench[3] = 3 * moment;
  const SetReplay none = replay(s, {}, 0, 0);
  EXPECT_EQ(none.outcome, Outcome::kNotResisted);
  EXPECT_TRUE(std::isnan(none.torsion[0]));
  EXPECT_GT(std::abs(none.against[3]), 0.1);
  s.torsion_radius = {};
  EXPECT_TRUE(replay(s, {}, 0, 0).torsion.empty());
}

TEST(SoftSet, ABadRadiusIsAStatusAndAHandWithACommandHasToSayHowItTurns) {
  GraspSet s;
  s.first = {0};
  for (const double radius : {-0.001, double{NAN}, kInfinite, 20.0, 0.01}) {
    const GraspSet one = plate(0, 0);
    s.point.insert(s.point.end(), one.point.begin(), one.point.end());
    s.normal.insert(s.normal.end(), one.normal.begin(), one.normal.end());
    s.friction.push_back(kFriction);
    s.torsion_radius.push_back(radius);
    s.mass.push_back(1);
    s.first.push_back(std::ssize(s.friction));
  }
  const std::vector<GraspStatus> expected = {GraspStatus::kBadFriction, GraspStatus::kNotFinite,
                                             GraspStatus::kNotFinite, GraspStatus::kMillimeters, GraspStatus::kRanked};
  EXPECT_EQ(rank(s, {}).status, expected);
  s.torsion_radius.pop_back();
  EXPECT_THROW((void)rank(s, {}), Error) << "sizes";

  GraspSet hand = pinch({{0, 0, 0, 0, 0, 0}});
  hand.mass = {0.1};
  hand.mobility = {1, 1};
  hand.force = {5, 0, 0, 5, 0, 0};
  EXPECT_THROW((void)rank(hand, {}), Error);
  SetStudy ideal;
  ideal.hand = Hand::kIdeal;
  EXPECT_EQ(rank(hand, ideal).p_held[0], 1);
  hand.torsion_radius = {};
  EXPECT_EQ(rank(hand, {}).status[0], GraspStatus::kRanked);
}

}  // namespace
}  // namespace garra::grasp
