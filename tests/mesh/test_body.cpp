// Mass properties against closed forms and against plain counting of points; what tidy() makes of triangles.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "garra/core/error.hpp"
#include "garra/mesh.hpp"

namespace garra::mesh {
namespace {

/// A cuboid's corners and its twelve triangles, from `low` to `high`.
Mesh cuboid(const Vec3<double>& low, const Vec3<double>& high) {
  Mesh m;
  for (int z = 0; z < 2; ++z)
    for (int y = 0; y < 2; ++y)
      for (int x = 0; x < 2; ++x)
        m.vertex.insert(m.vertex.end(), {x ? high[0] : low[0], y ? high[1] : low[1], z ? high[2] : low[2]});
  // Quadrilaterals counterclockwise from outside: bottom, top, front, back, left, right.
  for (const auto& q : {std::array{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}})
    m.face.insert(m.face.end(), {q[0], q[1], q[2], q[0], q[2], q[3]});
  return m;
}

Mesh tidied(Mesh m) {
  Report report;
  return tidy(std::move(m), report);
}

void expect_near(const Mat3<double>& a, const Mat3<double>& b, double tolerance) {
  for (int i = 0; i < 9; ++i) EXPECT_NEAR(a.m[i], b.m[i], tolerance) << i;
}

TEST(MeshBody, ACuboidAnywhereHasItsClosedForm) {
  const Vec3<double> low = vec3(1.0, -2.0, 0.5), high = vec3(1.3, -1.9, 1.0);
  const Body b = solid(tidied(cuboid(low, high)), 700);
  const double x = 0.3, y = 0.1, z = 0.5, mass = 700 * x * y * z;
  EXPECT_NEAR(b.mass, mass, 1e-12 * mass);
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(b.com[i], 0.5 * (low[i] + high[i]), 1e-13);
  const double scale = mass / 12;
  expect_near(b.inertia,
              {{scale * (y * y + z * z), 0, 0, 0, scale * (z * z + x * x), 0, 0, 0, scale * (x * x + y * y)}},
              1e-13 * mass);
  const Body heavy = b.with_mass(2 * mass);
  EXPECT_EQ(heavy.mass, 2 * mass);
  expect_near(heavy.inertia, 2 * b.inertia, 1e-15 * mass);
}

TEST(MeshBody, ATetrahedronHasTheMomentsOfPointsDrawnInIt) {
  std::mt19937_64 engine(7);
  std::uniform_real_distribution<double> any(-1, 1);
  std::exponential_distribution<double> share(1);
  for (int trial = 0; trial < 3; ++trial) {
    Mesh m;
    for (int i = 0; i < 12; ++i) m.vertex.push_back(any(engine));
    m.face = {0, 1, 2, 0, 3, 1, 1, 3, 2, 2, 3, 0};
    m = tidied(m);  // turns it outwards, where need be
    const Body b = solid(m, 1);
    // Points of a simplex: normalized exponential weights of its corners (Dirichlet).
    const int n = 400'000;
    Vec3<double> sum = Vec3<double>::zero();
    Mat3<double> products = Mat3<double>::zero();
    for (int k = 0; k < n; ++k) {
      double w[4], total = 0;
      for (double& x : w) total += x = share(engine);
      Vec3<double> p = Vec3<double>::zero();
      for (int c = 0; c < 4; ++c)
        for (int i = 0; i < 3; ++i) p[i] += w[c] / total * m.vertex[static_cast<std::size_t>(3 * c + i)];
      sum += p;
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) products(i, j) += (p[i] - b.com[i]) * (p[j] - b.com[j]);
    }
    for (int i = 0; i < 3; ++i) EXPECT_NEAR(b.com[i], sum[i] / n, 5e-3);
    const double trace = products(0, 0) + products(1, 1) + products(2, 2);
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        EXPECT_NEAR(b.inertia(i, j) / b.mass, ((i == j ? trace : 0) - products(i, j)) / n, 5e-3);
  }
}

TEST(MeshBody, TheClosedFormsAreThoseOfTheirFineMeshes) {
  struct Case {
    std::unique_ptr<Surface> shape;
    double error;  ///< relative, of a ring of 48: the area between chords and arcs is (2 pi / 48)^2 / 6 = 0.3 %
  };
  Case cases[5];
  cases[0] = {make_sphere(0.05), 0.02};
  cases[1] = {make_box(vec3(0.1, 0.2, 0.3)), 1e-12};
  cases[2] = {make_cylinder(0.03, 0.2), 0.01};
  cases[3] = {make_capsule(0.03, 0.1), 0.02};
  cases[4] = {make_ellipsoid(vec3(0.02, 0.03, 0.06)), 0.02};
  for (const auto& [shape, error] : cases) {
    Report report;
    const Mesh m = tidy(shape->picture(), report);
    EXPECT_TRUE(report.watertight());
    EXPECT_FALSE(report.flipped) << "pictures look outwards";
    const Body exact = shape->body(1000), fine = solid(m, 1000);
    EXPECT_NEAR(fine.mass, exact.mass, error * exact.mass);
    expect_near(fine.inertia, exact.inertia, error * (exact.inertia(0, 0) + exact.inertia(2, 2)));
  }
  EXPECT_NEAR(make_sphere(0.05)->body(1000).mass, 4 * M_PI / 3 * 0.05 * 0.05 * 0.05 * 1000, 1e-12);
  EXPECT_NEAR(make_sphere(0.05)->body(1000).inertia(0, 0), 0.4 * make_sphere(0.05)->body(1000).mass * 0.0025, 1e-15);
}

/// The surface as a fine grid on the cube around it, drawn in to the surface by halving.
Mesh around(const Surface& s, const Vec3<double>& half, int cuts) {
  Mesh m;
  for (int axis = 0; axis < 3; ++axis)
    for (const int side : {-1, 1})
      for (int i = 0; i < cuts; ++i)
        for (int j = 0; j < cuts; ++j) {
          const auto first = static_cast<std::int32_t>(m.vertices());
          for (const auto& [u, v] : {std::array{i, j}, {i + 1, j}, {i + 1, j + 1}, {i, j + 1}}) {
            Vec3<double> d;
            d[axis] = side * half[axis];
            d[(axis + 1) % 3] = half[(axis + 1) % 3] * (2.0 * u / cuts - 1);
            d[(axis + 2) % 3] = half[(axis + 2) % 3] * (2.0 * v / cuts - 1);
            const Vec3<double> along = (1 / norm(d)) * d;
            const Vec3<double> p = s.hit({Vec3<double>::zero(), along}, Crossing::kOutOf)->place.point;
            m.vertex.insert(m.vertex.end(), p.m, p.m + 3);
          }
          const std::int32_t a = side > 0 ? 1 : 3, b = side > 0 ? 3 : 1;
          m.face.insert(m.face.end(), {first, first + a, first + 2, first, first + 2, first + b});
        }
  return m;
}

TEST(MeshBody, SuperquadricsAreTheirFineMeshesAndInTheLimitsWhatTheyResemble) {
  const Vec3<double> half = vec3(0.02, 0.03, 0.05);
  for (const double e1 : {0.1, 0.6, 1.3, 2.0})
    for (const double e2 : {0.1, 0.8, 1.7}) {
      const auto s = make_superquadric(half, e1, e2);
      const Body exact = s->body(1000), fine = solid(around(*s, half, 48), 1000);
      EXPECT_NEAR(fine.mass, exact.mass, 2e-3 * exact.mass) << e1 << " " << e2;
      expect_near(fine.inertia, exact.inertia, 2e-3 * (exact.inertia(0, 0) + exact.inertia(2, 2)));
      Report report;
      const Mesh picture = tidy(s->picture(), report);
      EXPECT_TRUE(report.watertight());
      EXPECT_NEAR(solid(picture, 1000).mass, exact.mass, 0.05 * exact.mass) << "its picture looks like it";
    }
  const auto expect_body = [](const Body& a, const Body& b, double share) {
    EXPECT_NEAR(a.mass, b.mass, share * b.mass);
    expect_near(a.inertia, b.inertia, share * (b.inertia(0, 0) + b.inertia(2, 2)));
  };
  expect_body(make_superquadric(half, 1, 1)->body(700), make_ellipsoid(half)->body(700), 1e-13);
  expect_body(make_superquadric(half, 0.1, 0.1)->body(700), make_box(2.0 * half)->body(700), 0.05);
  expect_body(make_superquadric(vec3(0.03, 0.03, 0.05), 0.1, 1)->body(700), make_cylinder(0.03, 0.1)->body(700), 0.03);
  // An octahedron: eight tetrahedra of abc / 6, of which each second moment about a plane is volume times half axis
  // squared over 10.
  const Body octahedron = make_superquadric(half, 2, 2)->body(1);
  EXPECT_NEAR(octahedron.mass, 4.0 / 3 * 0.02 * 0.03 * 0.05, 1e-18);
  EXPECT_NEAR(octahedron.inertia(0, 0), octahedron.mass * (0.03 * 0.03 + 0.05 * 0.05) / 10, 1e-21);
  for (const double bad : {0.0, 0.05, 2.01, -1.0, std::nan("")}) {
    EXPECT_THROW((void)make_superquadric(half, bad, 1), Error);
    EXPECT_THROW((void)make_superquadric(half, 1, bad), Error);
  }
}

TEST(MeshBody, AShellIsTheSumOfItsTriangles) {
  // The skin of a cube: each pair of sides has the moments of a plate.
  const Body b = shell(tidied(cuboid(vec3(0.0, 0.0, 0.0), vec3(2.0, 2.0, 2.0))), 3);
  EXPECT_NEAR(b.mass, 72, 1e-12);
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(b.com[i], 1, 1e-14);
  // About an axis through the middle: two plates across it 1/6 m a^2 each, four along it 1/12 m a^2 + m (a/2)^2.
  const double plate = 12;
  EXPECT_NEAR(b.inertia(1, 1), 2 * plate * 4 / 6 + 4 * plate * (4.0 / 12 + 1), 1e-11);
  EXPECT_NEAR(b.inertia(0, 1), 0, 1e-12);
}

TEST(Tidy, MergesTurnsAndCounts) {
  // Every triangle with corners of its own, as in STL, the inside out; one triangle twice in a point.
  const Mesh cube = cuboid(vec3(-1.0, -1.0, -1.0), vec3(1.0, 1.0, 1.0));
  Mesh soup;
  for (std::size_t f = 0; f < cube.face.size(); f += 3)
    for (const std::size_t k : {0, 2, 1}) {
      const auto v = static_cast<std::size_t>(cube.face[f + k]);
      soup.vertex.insert(soup.vertex.end(), cube.vertex.begin() + static_cast<std::ptrdiff_t>(3 * v),
                         cube.vertex.begin() + static_cast<std::ptrdiff_t>(3 * v + 3));
      soup.face.push_back(static_cast<std::int32_t>(soup.face.size()));
    }
  soup.vertex.insert(soup.vertex.end(), {9, 9, 9});  // of no face
  soup.face.insert(soup.face.end(), {0, 0, 1});
  Report r;
  const Mesh m = tidy(soup, r);
  EXPECT_EQ(m.vertices(), 8);
  EXPECT_EQ(m.faces(), 12);
  EXPECT_EQ(r.merged, 37 - 8);
  EXPECT_EQ(r.dropped, 1);
  EXPECT_TRUE(r.flipped);
  EXPECT_TRUE(r.watertight());
  EXPECT_NEAR(r.volume, 8, 1e-14);
  EXPECT_NEAR(r.area, 24, 1e-14);
  EXPECT_EQ(r.extent(), 2);
  EXPECT_EQ(r.high[0], 1) << "what belongs to no face does not count";
}

TEST(Tidy, AnEdgeIsClosedByOneNeighborTheOtherWayRound) {
  const Mesh cube = cuboid(vec3(0.0, 0.0, 0.0), vec3(1.0, 1.0, 1.0));
  Report r;
  Mesh open = cube;
  open.face.resize(open.face.size() - 3);
  (void)tidy(open, r);
  EXPECT_EQ(r.open_edges, 3);
  Mesh twisted = cube;
  std::swap(twisted.face[0], twisted.face[1]);
  (void)tidy(twisted, r);
  EXPECT_EQ(r.turned, 1) << "three edges run the same way in both of their faces";
  EXPECT_TRUE(r.watertight());
  EXPECT_DOUBLE_EQ(r.volume, 1);
  Mesh fin = cube;  // a third face at an edge
  fin.vertex.insert(fin.vertex.end(), {0.5, 0.5, 3});
  fin.face.insert(fin.face.end(), {0, 1, 8});
  (void)tidy(fin, r);
  EXPECT_FALSE(r.watertight());
}

TEST(Tidy, BadArraysAreRefusedByName) {
  Report r;
  const Mesh cube = cuboid(vec3(0.0, 0.0, 0.0), vec3(1.0, 1.0, 1.0));
  const auto message = [&](const auto& spoil) {
    Mesh m = cube;
    spoil(m);
    try {
      (void)tidy(m, r);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ExitCode::kInvalidFile);
      return std::string(e.what());
    }
    return std::string("none");
  };
  EXPECT_NE(message([](Mesh& m) { m.face[7] = 8; }).find("face 2 has vertex 8 of 8"), std::string::npos);
  EXPECT_NE(message([](Mesh& m) { m.face[4] = -1; }).find("face 1 has vertex -1"), std::string::npos);
  EXPECT_NE(message([](Mesh& m) { m.vertex[5] = NAN; }).find("vertex 1"), std::string::npos);
  EXPECT_NE(message([](Mesh& m) { m.vertex[5] = 1e9; }).find("vertex 1"), std::string::npos);
  EXPECT_NE(message([](Mesh& m) { m.vertex.pop_back(); }).find("[v,3]"), std::string::npos);
  EXPECT_NE(message([](Mesh& m) { m.face.clear(); }).find("no face"), std::string::npos);
  EXPECT_NE(message([](Mesh& m) { m.face.assign(9, 3); }).find("two equal vertices"), std::string::npos);
}

}  // namespace
}  // namespace garra::mesh
