// Volume, center of mass and inertia of meshes.
//
// The integrals of 1, x and x x^T over the solid are sums over signed tetrahedra that its faces span with one point
// (J. Blow and A. Binstock, "How to find the inertia tensor of a 3D solid body", 2004; the same polynomials as in
// B. Mirtich, "Fast and accurate computation of polyhedral mass properties", JGT 1(2), 1996). Exact up to rounding,
// which a point inside the mesh's box keeps small.
#include "garra/core/error.hpp"
#include "mesh/corners.hpp"

namespace garra::mesh {

namespace {

/// Integrals of 1, x and x x^T.
struct Moments {
  double zeroth = 0;
  Vec3<double> first = Vec3<double>::zero();
  Mat3<double> second = Mat3<double>::zero();
};

/// Adds the integrals over a simplex of content `content` with these corners and, if `with_origin`, the origin. With n
/// its dimension, the integral of x_i is content / (n + 1) sum x_i. The integral of x_i x_j is content / ((n + 1) (n +
/// 2)) (sum x_i sum x_j + sum x_i x_j).
void add_simplex(const Corners& c, double content, bool with_origin, Moments& to) {
  const double n = with_origin ? 3 : 2;
  const Vec3<double> sum = c.a + c.b + c.c;
  to.zeroth += content;
  to.first = axpy(content / (n + 1), sum, to.first);
  const double scale = content / ((n + 1) * (n + 2));
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      to.second(i, j) += scale * (sum[i] * sum[j] + c.a[i] * c.a[j] + c.b[i] * c.b[j] + c.c[i] * c.c[j]);
}

/// Mean of all vertices, a point near the body, so that differences keep their digits.
Vec3<double> compute_centroid(const Mesh& m) {
  Vec3<double> sum = Vec3<double>::zero();
  for (std::size_t i = 0; i < m.vertex.size(); ++i) sum[static_cast<int>(i % 3)] += m.vertex[i];
  return (1 / static_cast<double>(m.vertices())) * sum;
}

Body make_body(const Moments& m, const Vec3<double>& origin, double density) {
  Body out;
  out.mass = density * m.zeroth;
  const Vec3<double> com = m.zeroth != 0 ? (1 / m.zeroth) * m.first : Vec3<double>::zero();
  out.com = origin + com;
  Mat3<double> spread;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) spread(i, j) = density * (m.second(i, j) - m.zeroth * com[i] * com[j]);
  const double trace = spread(0, 0) + spread(1, 1) + spread(2, 2);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) out.inertia(i, j) = (i == j ? trace : 0) - spread(i, j);
  return out;
}

}  // namespace

Body Body::with_mass(double other) const { return {other, com, (other / mass) * inertia}; }

Body solid(const Mesh& mesh, double density) {
  const Vec3<double> origin = compute_centroid(mesh);
  Moments sum;
  for (std::int64_t f = 0; f < mesh.faces(); ++f) {
    const Corners c = get_corners(mesh, f).about(origin);
    add_simplex(c, dot(c.a, cross(c.b, c.c)) / 6, true, sum);
  }
  return make_body(sum, origin, density);
}

Body shell(const Mesh& mesh, double density) {
  const Vec3<double> origin = compute_centroid(mesh);
  Moments sum;
  for (std::int64_t f = 0; f < mesh.faces(); ++f) {
    const Corners c = get_corners(mesh, f).about(origin);
    add_simplex(c, c.area(), false, sum);
  }
  return make_body(sum, origin, density);
}

Body weigh(const Surface& surface, double mass, double density) {
  if (!(mass > 0) && !surface.encloses())
    throw Error(
        ExitCode::kUsage, "the mesh is not watertight, so its volume is unknown",
        "Give the mass (--mass 0.1, Python: mass=0.1); it is then taken to be a skin of even thickness. Or mend "
        "the mesh.");
  const Body body = surface.body(density);
  return mass > 0 ? body.with_mass(mass) : body;
}

}  // namespace garra::mesh
