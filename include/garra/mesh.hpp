// Represents bodies by surfaces (triangle meshes and closed-form shapes): mass, uniform points,
// rays, nearest points, curvature.
// Takes: vertices [v][3] and faces [f][3], or the lengths of a shape.
// Gives: a Surface that answers queries, a Body of given density, and the Report of tidy().
// Units and frames: SI (m, kg), body axes; faces counterclockwise from outside; normals outward;
// vertices and faces count from 0.
// Bad input: bad meshes throw Error(kInvalidFile) from tidy(), wrong lengths Error(kUsage). A ray
// without a hit is an empty optional.
// Not for: GPUs or collision detection. Meshes must pass tidy() first.
// Docs: docs/howto/grasp-propose.md.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "garra/core/mat.hpp"
#include "garra/core/philox.hpp"

namespace garra::mesh {

/// Triangle mesh.
struct Mesh {
  std::vector<double> vertex;      ///< [v][3] [m]
  std::vector<std::int32_t> face;  ///< [f][3] counterclockwise seen from outside

  [[nodiscard]] std::int64_t vertices() const { return std::ssize(vertex) / 3; }
  [[nodiscard]] std::int64_t faces() const { return std::ssize(face) / 3; }
};

/// Findings and changes of tidy().
struct Report {
  std::int64_t vertices = 0, faces = 0;             ///< after tidy()
  std::int64_t merged = 0;                          ///< vertices merged with another, or without a face
  std::int64_t dropped = 0;                         ///< faces with two equal vertices
  std::int64_t open_edges = 0;                      ///< directed edges without exactly one reversed partner
  std::int64_t turned = 0;                          ///< faces that were wound otherwise than their neighbors
  bool flipped = false;                             ///< faces were reversed, because the volume was negative
  std::int64_t bodies = 1;                          ///< watertight mesh: connected components
  std::int64_t inverted = 0;                        ///< bodies with inward faces, which were reversed
  Vec3<double> inverted_at = Vec3<double>::zero();  ///< a point of the first of them [m]
  double area = 0;                                  ///< [m^2]
  double volume = 0;                                ///< [m^3]; valid only if watertight
  std::array<double, 3> low{}, high{};              ///< corners of the bounding box [m]

  [[nodiscard]] bool watertight() const { return faces > 0 && open_edges == 0; }
  [[nodiscard]] double extent() const;  ///< longest side of the bounding box [m]
};

/// Cleans a mesh for the functions below: merges equal vertices, drops degenerate faces, winds
/// neighbors alike where each edge has two faces, turns faces outward. Vertices of remaining open edges are merged if
/// they differ by less than 2^-22 of the largest coordinate (two to four float32 steps) and no face collapses. Bodies
/// of negative volume are reversed unless they are cavities of another.
/// @param mesh vertices [v][3] in m, faces [f][3].
/// @param report findings and changes.
/// @throws Error kInvalidFile, with face or vertex, for sizes, indices, numbers that are not finite
///         or above 1e6 m, or a mesh without faces.
[[nodiscard]] Mesh tidy(Mesh mesh, Report& report);

/// Mass, center of mass, and inertia about it.
struct Body {
  double mass = 0;                              ///< [kg]
  Vec3<double> com = Vec3<double>::zero();      ///< [m]
  Mat3<double> inertia = Mat3<double>::zero();  ///< [kg m^2]

  /// Same body scaled to another mass [kg].
  [[nodiscard]] Body with_mass(double other) const;
};

/// Body of a watertight mesh of this density [kg/m^3], by exact integrals over signed tetrahedra.
[[nodiscard]] Body solid(const Mesh& mesh, double density);
/// Body of a thin shell of this density [kg/m^2], for meshes that enclose no volume.
[[nodiscard]] Body shell(const Mesh& mesh, double density);

/// Uniform random numbers of one sample, a pure function of seed and sample.
class Draws {
 public:
  Draws(std::uint64_t seed, std::uint64_t sample) : seed_(seed), sample_(sample) {}
  /// Next number in (0, 1).
  [[nodiscard]] double next();

 private:
  std::uint64_t seed_, sample_;
  std::uint32_t block_ = 0;
  double second_ = 0;
  bool has_second_ = false;
};

/// Point of a surface with normal and curvature.
struct Place {
  Vec3<double> point;                 ///< [m]
  Vec3<double> normal;                ///< outward, unit
  Vec3<double> tangent;               ///< first principal direction, unit
  std::array<double, 2> curvature{};  ///< along tangent and cross(normal, tangent), positive if convex [1/m]
};

/// Ray between two distances from its origin.
struct Ray {
  Vec3<double> from, along;                               ///< origin [m]; direction of length 1
  double least = 0;                                       ///< first distance [m]
  double most = std::numeric_limits<double>::infinity();  ///< last distance [m]
};
/// Direction in which a ray crosses the surface: any, into the body, or out of it.
enum class Crossing { kAny, kInto, kOutOf };
struct Hit {
  double distance;  ///< along the ray [m]
  Place place;
};
/// Grid of parallel rays: ray (i, j) starts at from + i u + j v. The three directions are perpendicular.
struct RayGrid {
  Vec3<double> from, u, v;  ///< first origin, steps [m]
  int nu = 1, nv = 1;
  Vec3<double> along;                                     ///< direction of length 1
  double most = std::numeric_limits<double>::infinity();  ///< last distance [m]
};
struct GridHit {
  double distance;      ///< along the ray [m]; infinity: none
  Vec3<double> normal;  ///< outward, unit
};
struct Nearest {
  double distance;  ///< [m], not negative
  Place place;
};

/// The surface of a body.
class Surface {
 public:
  virtual ~Surface() = default;
  /// Random point, uniform by area.
  [[nodiscard]] virtual Place draw(Draws& draws) const = 0;
  /// First crossing of this kind between the ends of the ray.
  [[nodiscard]] virtual std::optional<Hit> hit(const Ray& ray, Crossing crossing) const = 0;
  /// First crossings of the rays of a grid: out[i nv + j] of ray (i, j). One walk through a mesh serves all rays.
  virtual void hits(const RayGrid& grid, Crossing crossing, std::vector<GridHit>& out) const;
  /// First crossings into the body, and last crossings out of it, both by their distance from the first origins.
  virtual void spans(const RayGrid& grid, std::vector<GridHit>& into, std::vector<GridHit>& out_of) const;
  [[nodiscard]] virtual Nearest nearest(const Vec3<double>& point) const = 0;
  /// The nearest place, if it is nearer than `distance` [m].
  [[nodiscard]] virtual std::optional<Nearest> nearest_within(const Vec3<double>& point, double distance) const {
    const Nearest found = nearest(point);
    return found.distance < distance ? std::optional(found) : std::nullopt;
  }
  /// True if the surface is nearer than `distance` [m]; cheaper than nearest().
  [[nodiscard]] virtual bool is_within(const Vec3<double>& point, double distance) const {
    return nearest(point).distance < distance;
  }
  /// Body of this density [kg/m^3]. A surface that encloses no volume is a shell of 1 mm.
  [[nodiscard]] virtual Body body(double density) const = 0;
  [[nodiscard]] virtual bool encloses() const { return true; }
  /// The mesh itself, or a mesh of the shape, for pictures.
  [[nodiscard]] virtual Mesh picture() const = 0;
};

/// Body of a mass [kg], or with mass = 0 of a density [kg/m^3].
/// @throws Error kUsage if that is wanted of a surface that encloses no volume.
[[nodiscard]] Body weigh(const Surface& surface, double mass, double density);

/// The nearest place of a surface, with a distance below 0 inside the body [m]; nothing for points that are outside and
/// not nearer than `most` [m]. Where the nearest place is on an edge, a ray decides on which side the point is.
[[nodiscard]] std::optional<Nearest> signed_nearest(const Surface& surface, const Vec3<double>& point, double most);

/// Surface of a mesh from tidy(), watertight or not. The normal of a face is that of its plane.
/// Curvature is estimated from the normals at the corners (S. Rusinkiewicz, 3DPVT 2004; N. Max's
/// weights, JGT 4(2), 1999), over neighbors at an angle below kCrease: sharper edges have no
/// curvature.
[[nodiscard]] std::unique_ptr<Surface> make_surface(Mesh mesh, bool watertight = true);
inline constexpr double kCrease = 0.7;  ///< [rad]

// Closed-form surfaces about the origin. Lengths in m. All throw Error(kUsage) unless lengths are
// positive.
[[nodiscard]] std::unique_ptr<Surface> make_sphere(double radius);
/// Box with full side lengths.
[[nodiscard]] std::unique_ptr<Surface> make_box(const Vec3<double>& sides);
/// Cylinder with axis z, from -height/2 to height/2.
[[nodiscard]] std::unique_ptr<Surface> make_cylinder(double radius, double height);
/// Capsule: a cylinder of this height, axis z, between two half spheres.
[[nodiscard]] std::unique_ptr<Surface> make_capsule(double radius, double height);
[[nodiscard]] std::unique_ptr<Surface> make_ellipsoid(const Vec3<double>& half_axes);
/// Superquadric (|x/a|^(2/e2) + |y/b|^(2/e2))^(e2/e1) + |z/c|^(2/e1) = 1. e1 is the roundness in
/// planes through z, e2 across z. Range: kMinExponent (nearly straight, with corners) to 2
/// (straight, from axis to axis); 1: an ellipsoid.
[[nodiscard]] std::unique_ptr<Surface> make_superquadric(const Vec3<double>& half_axes, double e1, double e2);
inline constexpr double kMinExponent = 0.1;

}  // namespace garra::mesh
