// The resisted force radius of ideal hands: against every facet of a zonotope, against a search for the minimum,
// against the certificates of balance, and on every executor.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <limits>

#include "contact/problems/classes.hpp"
#include "garra/grasp_set.hpp"
#include "on_every_executor.hpp"
#include "uncertain_set.hpp"

namespace garra::grasp {
namespace {

using Wrench = Eigen::Matrix<double, 6, 1>;
constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kGyration = 0.03, kLength = kGyration * 1.5811388300841898;  // of moments: a sphere's radius
constexpr double kGap = 0.02;                                                 // how far below the truth it may be

/// A weightless grasp of k contacts on a sphere, with limits of 2 to 6 N, and a body of that radius of gyration.
GraspSet random_grasp(bench::Random& random, int k, double friction) {
  GraspSet s;
  s.first = {0, k};
  for (int j = 0; j < k; ++j) {
    const Vec3<double> any = random.normal3(), n = (1 / norm(any)) * any;
    // On an ellipsoid's axes, with the sphere's normals: normal forces have moments.
    const double at[3] = {-0.06 * n[0], -0.05 * n[1], -0.04 * n[2]};
    s.point.insert(s.point.end(), at, at + 3);
    s.normal.insert(s.normal.end(), n.m, n.m + 3);
    s.friction.push_back(friction);
    s.force_limit.push_back(random.uniform(2, 6));
  }
  s.mass = {1};
  s.gravity = {0, 0, 0};
  s.inertia = {kGyration * kGyration, 0, 0, 0, kGyration * kGyration, 0, 0, 0, kGyration * kGyration};
  s.wrench.assign(6, 0);
  return s;
}

/// What contact j does with a unit force along its axis c; c = 3: with a unit moment about n over its radius. Moments
/// over kLength.
Wrench column(const GraspSet& s, std::size_t j, int c) {
  const Eigen::Map<const Eigen::Vector3d> p(s.point.data() + 3 * j), n(s.normal.data() + 3 * j);
  int least = 0;
  for (int i = 1; i < 3; ++i)
    if (std::abs(n[i]) < std::abs(n[least])) least = i;
  const Eigen::Vector3d t = (Eigen::Vector3d::Unit(least) - n[least] * n).normalized(), o = n.cross(t);
  Wrench out;
  if (c == 3) {
    out << Eigen::Vector3d::Zero(), s.torsion_radius[j] / kLength * n;
  } else {
    const Eigen::Vector3d e = c == 0 ? n : c == 1 ? t : o;
    out << e, p.cross(e) / kLength;
  }
  return out;
}

Wrench own_wrench(const GraspSet& s) {
  Wrench w = Eigen::Map<const Wrench>(s.wrench.data());
  w.tail<3>() /= kLength;
  return w;
}
void set_wrench(const Wrench& w, GraspSet& s) {
  Eigen::Map<Wrench>(s.wrench.data()) = w;
  for (int i = 3; i < 6; ++i) s.wrench[static_cast<std::size_t>(i)] *= kLength;
}

/// h(y), by its definition.
double support(const GraspSet& s, const Wrench& y) {
  double sum = own_wrench(s).dot(y);
  for (std::size_t j = 0; j < s.friction.size(); ++j) {
    double across = std::hypot(column(s, j, 1).dot(y), column(s, j, 2).dot(y));
    if (!s.torsion_radius.empty()) across = std::hypot(across, column(s, j, 3).dot(y));
    sum += s.force_limit[j] * std::max(0.0, column(s, j, 0).dot(y) + s.friction[j] * across);
  }
  return sum;
}

SetStudy one_sample() {
  SetStudy study;
  study.samples = study.radius_samples = 1;
  study.friction_samples = 0;
  return study;
}
double radius_of(const GraspSet& s) {
  const Ranking r = rank(s, one_sample());
  EXPECT_EQ(r.status[0], GraspStatus::kRanked);
  return r.resisted_force_radius[0];
}
bool holds(const GraspSet& s) { return rank(s, one_sample()).held[0] == 1; }

/// Half of each contact's largest normal force balances it.
void balance_halves(GraspSet& s) {
  Wrench middle = Wrench::Zero();
  for (std::size_t j = 0; j < s.friction.size(); ++j) middle += 0.5 * s.force_limit[j] * column(s, j, 0);
  set_wrench(-middle, s);
}

/// Without friction forces make a zonotope: the normals of its facets are across five of the contacts' wrenches.
double zonotope_radius(const GraspSet& s) {
  const int k = static_cast<int>(s.friction.size());
  double least = kInfinite;
  for (unsigned chosen = 0; chosen < 1u << k; ++chosen) {
    if (__builtin_popcount(chosen) != 5) continue;
    Eigen::Matrix<double, 6, 5> across;
    for (int j = 0, c = 0; j < k; ++j)
      if (chosen >> j & 1) across.col(c++) = column(s, static_cast<std::size_t>(j), 0);
    const Eigen::JacobiSVD<Eigen::MatrixXd> svd(across, Eigen::ComputeFullU);
    const Wrench y = svd.matrixU().col(5);
    least = std::min({least, support(s, y), support(s, -y)});
  }
  return least;
}

TEST(SetRadius, WithoutFrictionItIsTheDistanceOfTheNearestFacetOfAll) {
  bench::Random random(3);
  for (int g = 0; g < 20; ++g) {
    GraspSet s = random_grasp(random, 7 + g % 4, 0);
    balance_halves(s);
    const double exact = zonotope_radius(s), found = radius_of(s);
    ASSERT_GT(exact, 1e-3);
    EXPECT_LE(found, exact * (1 + 1e-9)) << g;
    EXPECT_GE(found, exact * (1 - kGap)) << g;
  }
}

/// The wrench, moments over kLength, at which a sample is said to give way.
Wrench least_push(const SetReplay& r) {
  Wrench push = Eigen::Map<const Wrench>(r.least_push.m);
  push.tail<3>() /= kLength;
  return push;
}

/// The least h(y) that going downhill from many places finds: never less than the true one.
double searched(const GraspSet& s, bench::Random& random) {
  double least = kInfinite;
  for (int start = 0; start < 60; ++start) {
    Wrench y;
    for (int i = 0; i < 6; i += 3) {
      const Vec3<double> any = random.normal3();
      for (int k = 0; k < 3; ++k) y[i + k] = any[k];
    }
    y.normalize();
    double here = support(s, y);
    for (double step = 0.3; step > 1e-5;) {
      Wrench slope;
      for (int i = 0; i < 6; ++i)
        slope[i] = (support(s, y + 1e-7 * Wrench::Unit(i)) - support(s, y - 1e-7 * Wrench::Unit(i))) / 2e-7;
      slope -= slope.dot(y) * y;
      const Wrench next = (y - step * slope.normalized()).normalized();
      const double there = support(s, next);
      if (there < here) {
        y = next;
        here = there;
      } else {
        step *= 0.6;
      }
    }
    least = std::min(least, here);
  }
  return least;
}

TEST(SetRadius, WithFrictionNoSearchFindsLessAndItsOwnDirectionHasNoMore) {
  bench::Random random(4);
  for (int g = 0; g < 12; ++g) {
    GraspSet s = random_grasp(random, 3 + g % 4, 0.6);
    if (g % 2 == 1) s.torsion_radius.assign(s.friction.size(), 0.008);
    balance_halves(s);
    const double found = radius_of(s);
    EXPECT_LE(found, searched(s, random) * (1 + 1e-9)) << g;
    const Wrench y = -least_push(replay(s, one_sample(), 0, 0)).normalized();
    EXPECT_GE(found, support(s, y) * (1 - kGap)) << g;
  }
}

TEST(SetRadius, EveryPushShorterThanItIsHeldAndTheLeastPushIsNot) {
  bench::Random random(5);
  for (int g = 0; g < 6; ++g) {
    GraspSet s = random_grasp(random, 3 + g, 0.5);
    balance_halves(s);
    const Wrench own = own_wrench(s);
    const SetReplay r = replay(s, one_sample(), 0, 0);
    EXPECT_EQ(r.resisted_force_radius, radius_of(s));
    ASSERT_GT(r.resisted_force_radius, 0.01);
    const Wrench push = least_push(r);
    EXPECT_GE(push.norm(), r.resisted_force_radius * (1 - 1e-9));
    EXPECT_LE(push.norm(), r.resisted_force_radius / (1 - kGap) * (1 + 1e-9));
    set_wrench(own + 1.0001 * push, s);
    EXPECT_FALSE(holds(s)) << g;
    set_wrench(own + (1 - kGap) * push, s);
    EXPECT_TRUE(holds(s)) << g;
    for (int k = 0; k < 50; ++k) {
      Wrench any;
      for (int i = 0; i < 6; i += 3) {
        const Vec3<double> three = random.normal3();
        for (int c = 0; c < 3; ++c) any[i + c] = three[c];
      }
      set_wrench(own + 0.999999 * r.resisted_force_radius * any.normalized(), s);
      EXPECT_TRUE(holds(s)) << g;
    }
  }
}

TEST(SetRadius, NoneWhereTheWrenchIsNotHeldOrForcesAreNotLimited) {
  bench::Random random(6);
  GraspSet s = random_grasp(random, 5, 0.5);
  balance_halves(s);
  const double found = radius_of(s);
  ASSERT_GT(found, 0);
  GraspSet pulled = s;
  pulled.wrench[2] += 100;
  EXPECT_EQ(radius_of(pulled), 0);
  GraspSet pair = s;  // two points bear no moment about their line
  pair.first = {0, 2};
  for (auto* rows : {&pair.point, &pair.normal}) rows->resize(6);
  for (auto* rows : {&pair.friction, &pair.force_limit}) rows->resize(2);
  balance_halves(pair);
  EXPECT_EQ(radius_of(pair), 0);
  GraspSet open = s;
  open.force_limit[3] = kInfinite;
  EXPECT_TRUE(std::isnan(radius_of(open)));
  open.force_limit = {};
  EXPECT_TRUE(std::isnan(radius_of(open)));
  // But the study may limit them.
  SetStudy study = one_sample();
  study.force_limit = 4;
  GraspSet equal = s;
  equal.force_limit.assign(5, 4);
  EXPECT_EQ(rank(open, study).resisted_force_radius[0], radius_of(equal));
  EXPECT_EQ(rank(s, study).resisted_force_radius[0], found) << "the set's own come first";
}

TEST(SetRadius, ManyContactsEndWithABoundThatStillHolds) {
  bench::Random random(7);
  GraspSet s = random_grasp(random, 30, 0.5);
  balance_halves(s);
  const double best = searched(s, random), found = radius_of(s);
  EXPECT_LE(found, best * (1 + 1e-9));
  EXPECT_GE(found, 0.85 * best) << "without room for more facets";
}

TEST(SetRadius, EveryExecutorGivesTheSameBits) {
  bench::Random random(8);
  GraspSet s;
  s.first = {0};
  for (const int k : {3, 5}) {
    const GraspSet one = random_grasp(random, k, 0.6);
    for (const auto array : {&GraspSet::point, &GraspSet::normal, &GraspSet::friction, &GraspSet::force_limit,
                             &GraspSet::mass, &GraspSet::gravity, &GraspSet::inertia, &GraspSet::wrench})
      (s.*array).insert((s.*array).end(), (one.*array).begin(), (one.*array).end());
    s.first.push_back(s.first.back() + k);
  }
  GraspSet soft = s;
  soft.torsion_radius.assign(8, 0.01);
  test::expect_same_on_every_executor([&](const Device& d) {
    SetStudy study = test::uncertain();
    study.force_radius = study.torque_radius = 0;
    study.samples = 8;
    study.friction_samples = 0;
    study.radius_samples = test::gpu_here() ? 1 : 5;  // a simulated one takes its time
    return test::Answer()
        .add("points", rank(s, study, d).resisted_force_radius)
        .add("soft", rank(soft, study, d).resisted_force_radius);
  });
}

}  // namespace
}  // namespace garra::grasp
