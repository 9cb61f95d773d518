// Rays, nearest points, draws and curvature: closed forms against their definitions, meshes against brute force.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "garra/core/error.hpp"
#include "garra/mesh.hpp"
#include "mesh/tree.hpp"

namespace garra::mesh {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

struct Named {
  std::string name;
  std::unique_ptr<Surface> surface;
  std::function<double(const Vec3<double>&)> inside;  ///< < 0 inside, 0 on the surface
};

double cylinder_inside(const Vec3<double>& p, double r, double half) {
  return std::max(std::hypot(p[0], p[1]) - r, std::abs(p[2]) - half);
}

/// By the textbook's function, to the power that makes it a length.
Named superquadric(const Vec3<double>& half, double e1, double e2) {
  const auto inside = [=](const Vec3<double>& p) {
    const auto part = [&](int i, double e) { return std::pow(std::abs(p[i] / half[i]), 2 / e); };
    const double f = std::pow(part(0, e2) + part(1, e2), e2 / e1) + part(2, e1);
    return 0.02 * (std::pow(f, e1 / 2) - 1);
  };
  return {"superquadric " + std::to_string(e1) + " " + std::to_string(e2), make_superquadric(half, e1, e2), inside};
}

/// Every shape with its own definition of inside.
std::vector<Named> shapes() {
  std::vector<Named> all;
  all.push_back({"sphere", make_sphere(0.05), [](const Vec3<double>& p) { return norm(p) - 0.05; }});
  all.push_back({"box", make_box(vec3(0.1, 0.06, 0.2)), [](const Vec3<double>& p) {
                   return std::max({std::abs(p[0]) - 0.05, std::abs(p[1]) - 0.03, std::abs(p[2]) - 0.1});
                 }});
  all.push_back(
      {"cylinder", make_cylinder(0.03, 0.1), [](const Vec3<double>& p) { return cylinder_inside(p, 0.03, 0.05); }});
  all.push_back({"capsule", make_capsule(0.03, 0.1),
                 [](const Vec3<double>& p) { return norm(p - vec3(0.0, 0.0, std::clamp(p[2], -0.05, 0.05))) - 0.03; }});
  all.push_back({"ellipsoid", make_ellipsoid(vec3(0.02, 0.05, 0.03)), [](const Vec3<double>& p) {
                   return 0.02 * (std::sqrt(p[0] * p[0] / 4e-4 + p[1] * p[1] / 25e-4 + p[2] * p[2] / 9e-4) - 1);
                 }});
  for (const double e1 : {0.1, 0.5, 1.4, 2.0})
    for (const double e2 : {0.1, 0.8, 2.0}) all.push_back(superquadric(vec3(0.03, 0.05, 0.04), e1, e2));
  return all;
}

Vec3<double> random_point(std::mt19937_64& engine, double size) {
  std::uniform_real_distribution<double> any(-size, size);
  const double x = any(engine), y = any(engine), z = any(engine);
  return vec3(x, y, z);
}
Vec3<double> random_direction(std::mt19937_64& engine) {
  std::normal_distribution<double> any;
  const double x = any(engine), y = any(engine), z = any(engine);
  const Vec3<double> d = vec3(x, y, z);
  return (1 / norm(d)) * d;
}

void expect_frame(const Place& p) {
  EXPECT_NEAR(norm(p.normal), 1, 1e-12);
  EXPECT_NEAR(norm(p.tangent), 1, 1e-12);
  EXPECT_NEAR(dot(p.normal, p.tangent), 0, 1e-12);
}

TEST(Shape, DrawsLieOnTheSurfaceAndNormalsLeaveIt) {
  for (const Named& s : shapes()) {
    SCOPED_TRACE(s.name);
    for (std::uint64_t i = 0; i < 500; ++i) {
      Draws draws(3, i);
      const Place p = s.surface->draw(draws);
      EXPECT_NEAR(s.inside(p.point), 0, 1e-12);
      expect_frame(p);
      EXPECT_GT(s.inside(axpy(1e-4, p.normal, p.point)), 0);
      EXPECT_LT(s.inside(axpy(-1e-4, p.normal, p.point)), 0);
    }
  }
}

/// Steps along the line in small steps, then halves.
double marched(const Named& s, const Vec3<double>& from, const Vec3<double>& along, bool into) {
  const double step = 1e-4;
  for (double t = 0; t < 1; t += step) {
    const double a = s.inside(axpy(t, along, from)), b = s.inside(axpy(t + step, along, from));
    if (into ? a > 0 && b <= 0 : a < 0 && b >= 0) {
      double low = t, high = t + step;
      for (int k = 0; k < 60; ++k) {
        const double middle = 0.5 * (low + high);
        ((s.inside(axpy(middle, along, from)) > 0) == into ? low : high) = middle;
      }
      return low;
    }
  }
  return kInfinite;
}

TEST(Shape, RaysCrossWhereTheInsideBeginsAndEnds) {
  std::mt19937_64 engine(5);
  for (const Named& s : shapes()) {
    SCOPED_TRACE(s.name);
    int hits = 0;
    for (int i = 0; i < 60; ++i) {
      const Vec3<double> from = random_point(engine, 0.15);
      const Vec3<double> goal = random_point(engine, 0.03) - from, along = (1 / norm(goal)) * goal;
      for (const bool into : {true, false}) {
        const auto hit = s.surface->hit({from, along}, into ? Crossing::kInto : Crossing::kOutOf);
        const double expected = marched(s, from, along, into);
        if (hit && expected == kInfinite) {  // between two steps: a corner's tip
          const auto other = s.surface->hit({from, along}, into ? Crossing::kOutOf : Crossing::kInto);
          ASSERT_LT(std::abs(other->distance - hit->distance), 1e-4);
          continue;
        }
        ASSERT_EQ(hit.has_value(), expected < kInfinite);
        if (!hit) continue;
        ++hits;
        EXPECT_NEAR(hit->distance, expected, 1e-9);
        EXPECT_NEAR(norm(hit->place.point - axpy(hit->distance, along, from)), 0, 1e-12);
        EXPECT_EQ(dot(hit->place.normal, along) < 0, into);
        const double end = 0.9 * hit->distance;
        EXPECT_FALSE(s.surface->hit({from, along, 0, end}, into ? Crossing::kInto : Crossing::kOutOf));
      }
    }
    EXPECT_GT(hits, 60);
  }
}

TEST(Shape, NoDrawnPointIsNearerThanTheNearest) {
  std::mt19937_64 engine(6);
  for (const Named& s : shapes()) {
    SCOPED_TRACE(s.name);
    std::vector<Vec3<double>> cloud;
    for (std::uint64_t i = 0; i < 20'000; ++i) {
      Draws draws(1, i);
      cloud.push_back(s.surface->draw(draws).point);
    }
    for (int i = 0; i < 60; ++i) {
      const Vec3<double> p = random_point(engine, i % 2 == 0 ? 0.15 : 0.04);
      const Nearest found = s.surface->nearest(p);
      EXPECT_NEAR(s.inside(found.place.point), 0, 1e-10);
      EXPECT_NEAR(found.distance, norm(p - found.place.point), 1e-14);
      double best = kInfinite;
      for (const Vec3<double>& q : cloud) best = std::min(best, norm(p - q));
      EXPECT_LE(found.distance, best + 1e-12);
      EXPECT_NEAR(found.distance, best, 3e-3) << "20,000 points leave gaps of about 2 mm";
    }
    expect_frame(s.surface->nearest(Vec3<double>::zero()).place);
  }
}

/// The curvature of the surface along a tangent, by how far it falls away from its tangent plane.
double fallen(const Surface& s, const Place& p, const Vec3<double>& along, double step = 1e-4) {
  const double back = 0.01;
  const auto depth = [&](double x) {
    const Vec3<double> above = axpy(back, p.normal, axpy(x, along, p.point));
    const auto hit = s.hit({above, -p.normal}, Crossing::kInto);
    return hit ? hit->distance - back : kInfinite;
  };
  return (depth(step) + depth(-step)) / (step * step);
}

TEST(Shape, CurvaturesAreHowFarTheSurfaceFallsFromItsTangentPlane) {
  for (const Named& s : shapes()) {
    SCOPED_TRACE(s.name);
    int compared = 0;
    for (std::uint64_t i = 0; i < 200; ++i) {
      Draws draws(9, i);
      const Place p = s.surface->draw(draws);
      const double first = fallen(*s.surface, p, p.tangent), second = fallen(*s.surface, p, cross(p.normal, p.tangent));
      if (!(first < kInfinite && second < kInfinite) || first > 1e3 || second > 1e3) continue;  // beside an edge
      // Superquadrics bend sharply beside the coordinate planes: within the step.
      const auto changes = [&](double found, const Vec3<double>& along) {
        return std::abs(found - fallen(*s.surface, p, along, 2e-5)) > 1e-3 * (1 + found);
      };
      if (changes(first, p.tangent) || changes(second, cross(p.normal, p.tangent))) continue;
      ++compared;
      EXPECT_NEAR(p.curvature[0], first, 2e-3 * (1 + first));
      EXPECT_NEAR(p.curvature[1], second, 2e-3 * (1 + second));
    }
    EXPECT_GT(compared, 150);
  }
}

TEST(Shape, ARoundSuperquadricIsTheEllipsoid) {
  const Vec3<double> half = vec3(0.02, 0.05, 0.03);
  const auto one = make_superquadric(half, 1, 1), other = make_ellipsoid(half);
  std::mt19937_64 engine(8);
  for (int i = 0; i < 500; ++i) {
    const Vec3<double> p = random_point(engine, i % 2 == 0 ? 0.1 : 0.03);
    const Nearest a = one->nearest(p), b = other->nearest(p);
    EXPECT_NEAR(a.distance, b.distance, 1e-13);
    EXPECT_NEAR(norm(a.place.point - b.place.point), 0, 1e-8);
    const Place& place = a.place;
    EXPECT_NEAR(norm(place.normal - b.place.normal), 0, 1e-6);
    for (int k = 0; k < 2; ++k) EXPECT_NEAR(place.curvature[k], b.place.curvature[k], 1e-5 * b.place.curvature[0]);
    const Ray ray{p, random_direction(engine)};
    const auto hit = one->hit(ray, Crossing::kAny), expected = other->hit(ray, Crossing::kAny);
    ASSERT_EQ(hit.has_value(), expected.has_value());
    if (hit) {
      EXPECT_NEAR(hit->distance, expected->distance, 1e-13);
    }
  }
}

TEST(Shape, PointsOfASuperquadricAreUniformByArea) {
  // Shares of the area on one side of planes, against the triangles of a fine mesh: points drawn of it by area.
  const int n = 60'000;
  for (const double e1 : {0.3, 1.6})
    for (const double e2 : {0.5, 1.3}) {
      const auto shape = make_superquadric(vec3(0.02, 0.03, 0.06), e1, e2);
      Report report;
      Mesh fine;
      const int cuts = 300;
      // In the angles of the textbook, which crowd where the surface bends.
      const auto bent = [](double x, double e) { return std::copysign(std::pow(std::abs(x), e), x); };
      for (int i = 0; i <= cuts; ++i)
        for (int j = 0; j < 2 * cuts; ++j) {
          const double up = M_PI * (static_cast<double>(i) / cuts - 0.5), round = M_PI * j / cuts;
          const double r = bent(std::cos(up), e1);
          fine.vertex.insert(fine.vertex.end(), {0.02 * r * bent(std::cos(round), e2),
                                                 0.03 * r * bent(std::sin(round), e2), 0.06 * bent(std::sin(up), e1)});
        }
      const auto at = [&](int i, int j) { return i * 2 * cuts + j % (2 * cuts); };
      for (int i = 0; i < cuts; ++i)
        for (int j = 0; j < 2 * cuts; ++j)
          fine.face.insert(fine.face.end(),
                           {at(i, j), at(i, j + 1), at(i + 1, j + 1), at(i, j), at(i + 1, j + 1), at(i + 1, j)});
      const auto mesh = make_surface(tidy(std::move(fine), report));
      int of_shape[4] = {}, of_mesh[4] = {};
      for (int i = 0; i < n; ++i)
        for (const auto& [surface, counts] : {std::pair{shape.get(), of_shape}, {mesh.get(), of_mesh}}) {
          Draws draws(13, static_cast<std::uint64_t>(i));
          const Vec3<double> p = surface->draw(draws).point;
          counts[0] += std::abs(p[2]) > 0.04;
          counts[1] += std::abs(p[0]) > 0.015;
          counts[2] += std::abs(p[0] / 0.02) + std::abs(p[1] / 0.03) > 1.2;
          counts[3] += std::abs(p[1]) < 0.01;
        }
      for (int k = 0; k < 4; ++k)
        EXPECT_NEAR(of_shape[k], of_mesh[k], 5 * std::sqrt(0.5 * n)) << e1 << " " << e2 << " part " << k;
    }
}

TEST(Shape, DrawsAreUniformByArea) {
  // Shares of the area of an ellipsoid of revolution above a height, by the closed form of its zones; of a cylinder's
  // ends; of a capsule's caps; of a box's sides.
  const int n = 100'000;
  const auto share = [&](const Surface& s, const std::function<bool(const Vec3<double>&)>& counts) {
    int in = 0;
    for (int i = 0; i < n; ++i) {
      Draws draws(11, static_cast<std::uint64_t>(i));
      in += counts(s.draw(draws).point);
    }
    return static_cast<double>(in) / n;
  };
  const auto expect_share = [&](double found, double expected) {
    EXPECT_NEAR(found, expected, 5 * std::sqrt(expected * (1 - expected) / n));
  };
  expect_share(share(*make_cylinder(0.02, 0.03), [](auto& p) { return p[2] == 0.015; }), 0.5 * 0.02 / (0.02 + 0.03));
  expect_share(share(*make_capsule(0.02, 0.03), [](auto& p) { return p[2] > 0.015; }), 0.02 / (0.04 + 0.03));
  expect_share(share(*make_box(vec3(0.1, 0.2, 0.3)), [](auto& p) { return p[0] == 0.05; }), 0.06 / 0.22);
  // Zones of (a, a, c): dA = 2 pi a sqrt(1 + z^2 (a^2 - c^2) / c^4) dz.
  const double a = 0.03, c = 0.06, k = (a * a - c * c) / (c * c * c * c);
  const auto zone = [&](double low, double high) {
    double sum = 0;
    const int steps = 20'000;
    for (int i = 0; i < steps; ++i) {
      const double z = low + (high - low) * (i + 0.5) / steps;
      sum += std::sqrt(1 + k * z * z) * (high - low) / steps;
    }
    return sum;
  };
  expect_share(share(*make_ellipsoid(vec3(a, a, c)), [](auto& p) { return p[2] > 0.04; }),
               zone(0.04, 0.06) / zone(-0.06, 0.06));
}

TEST(Shape, LengthsThatAreNoneAreRefused) {
  EXPECT_THROW((void)make_sphere(0), Error);
  EXPECT_THROW((void)make_box(vec3(1.0, -1.0, 1.0)), Error);
  EXPECT_THROW((void)make_cylinder(NAN, 1), Error);
  EXPECT_THROW((void)make_ellipsoid(vec3(1.0, kInfinite, 1.0)), Error);
}

// --- meshes
// -----------------------------------------------------------------------------------------------------------

/// Triangles anywhere, of any shape; some without area.
Mesh soup(int faces, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  Mesh m;
  for (int f = 0; f < faces; ++f) {
    const Vec3<double> middle = random_point(engine, 1);
    for (int k = 0; k < 3; ++k) {
      const Vec3<double> p =
          f % 17 == 0 ? middle + (0.1 * k) * vec3(1.0, 2.0, 3.0) : middle + random_point(engine, 0.2);
      m.vertex.insert(m.vertex.end(), p.m, p.m + 3);
      m.face.push_back(3 * f + k);
    }
  }
  return m;
}

TEST(Tree, NearestPointsAndHitsAreThoseOfEveryTriangleAskedAlone) {
  for (const int faces : {1, 4, 5, 33, 500}) {
    SCOPED_TRACE(faces);
    const Mesh m = soup(faces + 1, static_cast<std::uint64_t>(faces));
    const Tree tree(m);
    std::vector<Tree> alone;
    for (int f = 0; f < m.faces(); ++f) {
      Mesh one{m.vertex, {3 * f, 3 * f + 1, 3 * f + 2}};
      alone.emplace_back(one);
    }
    std::mt19937_64 engine(8);
    int hits = 0;
    for (int i = 0; i < 300; ++i) {
      const Vec3<double> p = random_point(engine, 1.5);
      double nearest = kInfinite;
      for (const Tree& t : alone) nearest = std::min(nearest, t.nearest(p).square);
      EXPECT_EQ(tree.nearest(p).square, nearest);
      EXPECT_EQ(tree.nearest(p, nearest).face, -1);
      EXPECT_EQ(tree.nearest(p, 1.001 * nearest).square, nearest);
      const Vec3<double> d = random_direction(engine);
      // Along an axis as well, where a slab is never crossed.
      const Vec3<double> along = i % 5 == 0 ? vec3(0.0, 0.0, 1.0) : d;
      for (const Crossing kind : {Crossing::kAny, Crossing::kInto, Crossing::kOutOf}) {
        double first = kInfinite;
        for (const Tree& t : alone) first = std::min(first, t.hit({p, along}, kind).distance);
        EXPECT_EQ(tree.hit({p, along}, kind).distance, first);
        hits += first < kInfinite;
      }
    }
    EXPECT_GT(hits, faces == 500 ? 100 : -1);
  }
}

/// A grid with random perpendicular directions.
RayGrid random_grid(std::mt19937_64& engine, double size) {
  RayGrid grid;
  grid.along = random_direction(engine);
  const Vec3<double> across = cross(grid.along, random_direction(engine));
  const Vec3<double> u = (1 / norm(across)) * across, v = cross(grid.along, u);
  grid.nu = 7;
  grid.nv = 5;
  grid.u = (0.3 * size) * u;
  grid.v = (0.4 * size) * v;
  grid.from = random_point(engine, 0.5 * size) - size * grid.along - 3.0 * grid.u - 2.0 * grid.v;
  grid.most = 2 * size;
  return grid;
}

TEST(Tree, TheRaysOfAGridHitWhatEachHitsAlone) {
  const Mesh m = soup(800, 4);
  std::vector<Named> all = shapes();
  all.push_back({"soup", make_surface(m, false), nullptr});
  std::mt19937_64 engine(15);
  int hits = 0;
  for (const Named& s : all) {
    SCOPED_TRACE(s.name);
    for (int i = 0; i < 20; ++i) {
      const RayGrid grid = random_grid(engine, s.name == "soup" ? 1 : 0.05);
      for (const Crossing kind : {Crossing::kAny, Crossing::kInto, Crossing::kOutOf}) {
        std::vector<GridHit> found;
        s.surface->hits(grid, kind, found);
        ASSERT_EQ(std::ssize(found), grid.nu * grid.nv);
        for (int a = 0; a < grid.nu; ++a)
          for (int b = 0; b < grid.nv; ++b) {
            const Vec3<double> from = grid.from + static_cast<double>(a) * grid.u + static_cast<double>(b) * grid.v;
            const auto alone = s.surface->hit({from, grid.along, 0, grid.most}, kind);
            const GridHit& its = found[static_cast<std::size_t>(a * grid.nv + b)];
            ASSERT_EQ(std::isfinite(its.distance), alone.has_value());
            if (!alone) continue;
            ++hits;
            EXPECT_NEAR(its.distance, alone->distance, 1e-12);
            EXPECT_NEAR(norm(its.normal - alone->place.normal), 0, 1e-9);
          }
      }
    }
  }
  EXPECT_GT(hits, 5000);
}

TEST(Tree, SpansAreFirstHitsFromBothEnds) {
  std::vector<Named> all = shapes();
  all.push_back({"soup", make_surface(soup(800, 4), false), nullptr});
  std::mt19937_64 engine(16);
  for (const Named& s : all) {
    SCOPED_TRACE(s.name);
    for (int i = 0; i < 20; ++i) {
      const RayGrid grid = random_grid(engine, s.name == "soup" ? 1 : 0.05);
      RayGrid back = grid;
      back.from = axpy(grid.most, grid.along, grid.from);
      back.along = -grid.along;
      std::vector<GridHit> into, out_of, first, last;
      s.surface->spans(grid, into, out_of);
      s.surface->hits(grid, Crossing::kInto, first);
      s.surface->hits(back, Crossing::kInto, last);
      for (std::size_t k = 0; k < into.size(); ++k) {
        ASSERT_EQ(std::isfinite(into[k].distance), std::isfinite(first[k].distance));
        ASSERT_EQ(std::isfinite(out_of[k].distance), std::isfinite(last[k].distance));
        if (std::isfinite(first[k].distance)) {
          EXPECT_EQ(into[k].distance, first[k].distance);
        }
        if (!std::isfinite(last[k].distance)) continue;
        EXPECT_NEAR(out_of[k].distance, grid.most - last[k].distance, 1e-12);
        EXPECT_NEAR(norm(out_of[k].normal - last[k].normal), 0, 1e-9);
      }
    }
  }
}

TEST(Surface, SignedDistancesAreNegativeInsideAndMissingFarOutside) {
  std::mt19937_64 engine(21);
  int inside = 0, missing = 0;
  for (const Named& s : shapes()) {
    SCOPED_TRACE(s.name);
    const Mesh picture = s.surface->picture();
    const auto mesh = make_surface(picture);
    for (int i = 0; i < 200; ++i) {
      const Vec3<double> p = random_point(engine, 0.07);
      const double most = i % 2 == 0 ? 0.005 : 0.1;
      const auto found = signed_nearest(*s.surface, p, most);
      const bool in = s.inside(p) < 0;
      const double distance = s.surface->nearest(p).distance;
      ASSERT_EQ(found.has_value(), in || distance < most);
      missing += !found;
      inside += in;
      if (!found) continue;
      EXPECT_NEAR(found->distance, in ? -distance : distance, 1e-12);
      // A mesh of the shape says the same where it is near enough to tell.
      if (std::abs(s.inside(p)) > 2e-3) {
        const auto by_mesh = signed_nearest(*mesh, p, 1);
        ASSERT_TRUE(by_mesh);
        EXPECT_EQ(by_mesh->distance < 0, in);
      }
    }
  }
  EXPECT_GT(inside, 100);
  EXPECT_GT(missing, 100);
}

TEST(Tree, TheNearestPointOfATriangleIsBelowEveryOtherPointOfIt) {
  std::mt19937_64 engine(12);
  std::uniform_real_distribution<double> share(0, 1);
  for (int i = 0; i < 300; ++i) {
    const Corners c{random_point(engine, 1), random_point(engine, 1), random_point(engine, 1)};
    const Vec3<double> p = random_point(engine, 2), q = nearest_on_triangle(c, p);
    double best = kInfinite;
    for (int k = 0; k < 2000; ++k) {
      double u = share(engine), v = share(engine);
      if (k % 4 == 0) u = 0;
      if (k % 4 == 1) v = 0;
      if (k % 4 == 2) v = 1 - u;
      if (u + v > 1) u = 1 - u, v = 1 - v;
      best = std::min(best, norm(axpy(u, c.b - c.a, axpy(v, c.c - c.a, c.a)) - p));
    }
    EXPECT_LE(norm(q - p), best + 1e-12);
    EXPECT_NEAR(norm(q - p), best, 0.1);
    // It lies in the plane.
    const Vec3<double> n = c.area_vector();
    EXPECT_NEAR(dot(q - c.a, n), 0, 1e-12);
  }
}

TEST(MeshSurface, HasTheCurvatureOfWhatItWasCutFrom) {
  struct Case {
    std::unique_ptr<Surface> shape;
    double first, second, error;
  };
  Case cases[3];
  cases[0] = {make_sphere(0.05), 20, 20, 1e-6};  // Max's weights are exact on a sphere
  cases[1] = {make_cylinder(0.05, 0.2), 20, 0, 0.1};
  cases[2] = {make_box(vec3(0.1, 0.1, 0.1)), 0, 0, 1e-9};
  for (const auto& [shape, first, second, error] : cases) {
    Report report;
    const auto s = make_surface(tidy(shape->picture(), report));
    for (std::uint64_t i = 0; i < 300; ++i) {
      Draws draws(2, i);
      const Place p = s->draw(draws);
      const Place exact = shape->nearest(p.point).place;
      expect_frame(p);
      const bool flat = exact.curvature[0] == 0;
      EXPECT_NEAR(p.curvature[0], flat ? 0 : first, error * std::max(first, 1.0));
      EXPECT_NEAR(p.curvature[1], flat ? 0 : second, error * std::max(first, 1.0));
      if (first > second && !flat) {
        EXPECT_NEAR(std::abs(dot(p.tangent, vec3(0.0, 0.0, 1.0))), 0, 0.05) << "around the axis";
      }
      EXPECT_GT(dot(p.normal, exact.normal), 0.99);
    }
  }
}

TEST(MeshSurface, DrawsTakeFacesByTheirAreaAndAllOfATriangle) {
  // Two triangles, one three times as large, and one of no area at the end.
  Mesh m{{0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 3, 0, 1, 0, 1, 1, 0, 0, 2, 1, 0, 2, 2, 0, 2},
         {0, 1, 2, 3, 4, 5, 6, 7, 8}};
  const auto s = make_surface(m, false);
  EXPECT_FALSE(s->encloses());
  const int n = 40'000;
  int small = 0, corner = 0;
  for (int i = 0; i < n; ++i) {
    Draws draws(4, static_cast<std::uint64_t>(i));
    const Place p = s->draw(draws);
    ASSERT_LT(p.point[2], 1.5);
    if (p.point[2] > 0.5) continue;
    ++small;
    corner += p.point[0] < 0.5 && p.point[1] < 0.5;
  }
  EXPECT_NEAR(small, 0.25 * n, 5 * std::sqrt(0.25 * 0.75 * n));
  EXPECT_NEAR(corner, 0.5 * small, 5 * std::sqrt(0.25 * small)) << "the square holds half of the triangle's area";
}

TEST(MeshSurface, AVertexOfThousandsOfFacesCostsNoMoreThanTheFaces) {
  // A cone's tip: 200,000 faces at one vertex.
  const int n = 200'000;
  Mesh m{{0, 0, 1}, {}};
  for (int k = 0; k < n; ++k)
    m.vertex.insert(m.vertex.end(), {std::cos(2 * M_PI * k / n), std::sin(2 * M_PI * k / n), 0});
  for (int k = 0; k < n; ++k) m.face.insert(m.face.end(), {0, 1 + k, 1 + (k + 1) % n});
  const auto s = make_surface(m, false);  // would take minutes, were every pair of faces compared
  Draws draws(1, 1);
  EXPECT_NEAR(s->draw(draws).normal[2], std::sqrt(0.5), 1e-6);
}

}  // namespace
}  // namespace garra::mesh
