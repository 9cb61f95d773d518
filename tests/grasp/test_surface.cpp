// The object's surface near a contact against closed forms and the law that a gap changes by the normal relative
// velocity.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "garra/core/lanes.hpp"
#include "garra/math/rotation.hpp"
#include "garra/systems/grasp/surface.hpp"

namespace garra::grasp {
namespace {

constexpr double kRounding = 1e-15;    // of products of unit vectors
constexpr double kClosedForm = 2e-15;  // lengths of about 0.1 m, added up in another order
constexpr double kDifference = 1e-8;   // central differences over 1e-6 s
constexpr double kRadius = 0.08;

using Surface = LocalSurface<double>;

struct Case {
  SurfaceKind kind;
  Surface surface;
  Vec3<double> tip;
};
Vec3<double> random_vector(std::mt19937_64& g, double size) {
  std::uniform_real_distribution<double> u(-size, size);
  return {{u(g), u(g), u(g)}};
}
/// A contact anywhere, a tip up to a radius beside it and on both sides.
Case random_case(SurfaceKind kind, std::mt19937_64& g) {
  const double k = 1 / kRadius;
  Case c;
  c.kind = kind;
  c.surface.point = random_vector(g, 0.1);
  c.surface.E = rotation_from_rpy(random_vector(g, 3));
  c.surface.curvature_t = kind == SurfaceKind::kSphere || kind == SurfaceKind::kCylinderO ? k : 0;
  c.surface.curvature_o = kind == SurfaceKind::kSphere || kind == SurfaceKind::kCylinderT ? k : 0;
  c.tip = c.surface.point + random_vector(g, kRadius);
  return c;
}
Touch<double> touch(const Case& c) { return touch(c.kind, c.surface, c.tip); }

class GraspSurface : public testing::TestWithParam<SurfaceKind> {
 protected:
  std::mt19937_64 gen{11};
  Case draw() { return random_case(GetParam(), gen); }
};
INSTANTIATE_TEST_SUITE_P(Kinds, GraspSurface,
                         testing::Values(SurfaceKind::kPlane, SurfaceKind::kCylinderT, SurfaceKind::kCylinderO,
                                         SurfaceKind::kSphere));

TEST_P(GraspSurface, HasTheDistanceAndTheNormalOfTheClosedForm) {
  for (int n = 0; n < 200; ++n) {
    const Case c = draw();
    const Touch<double> at = touch(c);
    const Vec3<double> normal = column(c.surface.E, 0);
    Vec3<double> out = c.tip - (c.surface.point + kRadius * normal);  // from the center to the tip
    if (GetParam() == SurfaceKind::kCylinderT)
      out = axpy(-dot(out, column(c.surface.E, 1)), column(c.surface.E, 1), out);
    if (GetParam() == SurfaceKind::kCylinderO)
      out = axpy(-dot(out, column(c.surface.E, 2)), column(c.surface.E, 2), out);
    const bool plane = GetParam() == SurfaceKind::kPlane;
    const double gap = plane ? dot(normal, c.surface.point - c.tip) : norm(out) - kRadius;
    const Vec3<double> inward = plane ? normal : (-1 / norm(out)) * out;
    EXPECT_NEAR(at.gap, gap, kClosedForm);
    EXPECT_EQ(at.curvature, plane ? 0 : 1 / kRadius);
    // The direction is as uncertain as the lengths are over the distance from the center.
    EXPECT_LE(norm(column(at.E, 0) - inward), kClosedForm * (plane ? 1 : 1 / norm(out)));
  }
}

TEST_P(GraspSurface, CarriesTheFrameAlongByTheSmallestTurn) {
  for (int n = 0; n < 200; ++n) {
    const Case c = draw();
    const Mat3<double> E = touch(c).E, E0 = c.surface.E;
    const Mat3<double> gram = transpose_times(E, E), gram0 = transpose_times(E0, E0);
    for (int k = 0; k < 9; ++k) EXPECT_NEAR(gram[k], gram0[k], 2 * kRounding);
    // A turn by the angle between the normals and no more has the trace 1 + 2 cos(angle); it keeps its axis n0 x n.
    const Mat3<double> turn = E * transpose(E0);
    EXPECT_NEAR(turn(0, 0) + turn(1, 1) + turn(2, 2), 1 + 2 * dot(column(E, 0), column(E0, 0)), 4 * kRounding);
    const Vec3<double> axis = cross(column(E0, 0), column(E, 0));
    EXPECT_LE(norm(turn * axis - axis), 4 * kRounding);
    EXPECT_NEAR(dot(cross(column(E, 0), column(E, 1)), column(E, 2)), 1, 4 * kRounding);
  }
}

TEST_P(GraspSurface, GapChangesByTheNormalRelativeVelocity) {
  const double h = 1e-6;
  for (int n = 0; n < 50; ++n) {
    const Case c = draw();
    const Vec3<double> v = random_vector(gen, 1), w = random_vector(gen, 1), finger = random_vector(gen, 1);
    // The object at the origin in P axes; after h it has moved by h v and turned by h w.
    const auto gap_at = [&](double t) {
      const double angle = t * norm(w), co = std::cos(angle), si = std::sin(angle);
      const Vec3<double> axis = (1 / norm(w)) * w;
      const Vec3<double> p = c.tip + t * finger - t * v;  // turned back about the axis
      const Vec3<double> tip = co * p + (-si) * cross(axis, p) + ((1 - co) * dot(axis, p)) * axis;
      return touch(c.kind, c.surface, tip).gap;
    };
    const Mat<double, 6, 3> W = wrench_matrix(ContactPlace<double>{c.tip, touch(c).E}, Vec3<double>::zero());
    const Vec<double, 6> twist{{v[0], v[1], v[2], w[0], w[1], w[2]}};
    const double relative = transpose_times(W, twist)[0] - dot(column(touch(c).E, 0), finger);
    EXPECT_NEAR((gap_at(h) - gap_at(-h)) / (2 * h), relative, kDifference);
  }
}

TEST_P(GraspSurface, IsTouchedAtTheContactItself) {
  Case c = draw();
  c.tip = c.surface.point;
  const Touch<double> at = touch(c);
  EXPECT_EQ(at.gap, 0);
  EXPECT_EQ(std::memcmp(at.E.m, c.surface.E.m, sizeof at.E), 0);
  c.surface.point = c.tip = Vec3<double>::zero();
  c.tip = -1e-17 * column(c.surface.E, 0);  // the radius would swallow it
  EXPECT_NEAR(touch(c).gap, 1e-17, 1e-32);
}

TEST_P(GraspSurface, IsTheSameToTheBitInLanes) {
  using L = Lanes<double>;
  constexpr int width = L::kSize;
  for (int round = 0; round < 5; ++round) {
    std::vector<Case> cases;
    LocalSurface<L> surface;
    Vec3<L> tip;
    for (int l = 0; l < width; ++l) {
      cases.push_back(draw());
      for (int k = 0; k < 3; ++k) {
        surface.point[k].set(l, cases.back().surface.point[k]);
        tip[k].set(l, cases.back().tip[k]);
      }
      for (int k = 0; k < 9; ++k) surface.E[k].set(l, cases.back().surface.E[k]);
      surface.curvature_t.set(l, cases.back().surface.curvature_t);
      surface.curvature_o.set(l, cases.back().surface.curvature_o);
    }
    const Touch<L> all = touch(GetParam(), surface, tip);
    for (int l = 0; l < width; ++l) {
      const Touch<double> one = touch(cases[static_cast<std::size_t>(l)]);
      EXPECT_EQ(all.gap[l], one.gap);
      EXPECT_EQ(all.curvature[l], one.curvature);
      for (int k = 0; k < 9; ++k) EXPECT_EQ(all.E[k][l], one.E[k]);
    }
  }
}

TEST_P(GraspSurface, StaysFiniteInTheMiddleAndOpposite) {
  Case c = draw();
  const Vec3<double> n = column(c.surface.E, 0);
  c.surface.point = Vec3<double>::zero();
  for (const double depth : {1.0, 2.0, 3.0}) {
    c.tip = (depth * kRadius) * n;
    const Touch<double> at = touch(c);
    EXPECT_TRUE(std::isfinite(at.gap));
    for (int k = 0; k < 9; ++k) EXPECT_TRUE(std::isfinite(at.E[k]));
  }
}

TEST(GraspSurfaceKind, FollowsFromTheCurvatures) {
  EXPECT_EQ(surface_kind(0, 0), SurfaceKind::kPlane);
  EXPECT_EQ(surface_kind(0, 5), SurfaceKind::kCylinderT);
  EXPECT_EQ(surface_kind(5, 0), SurfaceKind::kCylinderO);
  EXPECT_EQ(surface_kind(5, 5), SurfaceKind::kSphere);
  EXPECT_EQ(surface_kind(5, 4), SurfaceKind::kNone);
}

}  // namespace
}  // namespace garra::grasp
