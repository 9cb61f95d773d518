// Bodies by their surfaces: triangle meshes, and spheres, boxes, cylinders, capsules, ellipsoids and superquadrics in
// closed form. Mass and inertia, points drawn uniformly by area, rays, nearest points, curvature
// (docs/howto/grasp-propose.md). Host only, SI units, axes of the body's own.
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

struct Mesh {
  std::vector<double> vertex;      ///< [v][3] [m]
  std::vector<std::int32_t> face;  ///< [f][3] counterclockwise seen from outside

  [[nodiscard]] std::int64_t vertices() const { return std::ssize(vertex) / 3; }
  [[nodiscard]] std::int64_t faces() const { return std::ssize(face) / 3; }
};

/// What tidy() found and did.
struct Report {
  std::int64_t vertices = 0, faces = 0;  ///< that are left
  std::int64_t merged = 0;               ///< vertices that became one with another, or of no face
  std::int64_t dropped = 0;              ///< faces with two equal vertices
  std::int64_t open_edges = 0;           ///< sides of faces that are not a side, backwards, of just one other
  bool flipped = false;                  ///< faces were turned over, since the volume was negative
  std::int64_t bodies = 1;               ///< of a watertight mesh: sets of faces that share vertices
  std::int64_t inverted = 0;             ///< bodies that were inside out, and whose faces were turned over
  Vec3<double> inverted_at = Vec3<double>::zero();  ///< a point of the first of them [m]
  double area = 0;                                  ///< [m^2]
  double volume = 0;                                ///< [m^3]; means nothing unless watertight
  std::array<double, 3> low{}, high{};              ///< corners of the box around it [m]

  [[nodiscard]] bool watertight() const { return faces > 0 && open_edges == 0; }
  [[nodiscard]] double extent() const;  ///< the box's longest side [m]
};

/// The mesh as everything here takes it: equal vertices are one, no face has two equal ones, all faces look outwards.
/// Where that leaves open edges, their vertices become one, too, if they differ by less than two float32 steps of the
/// largest coordinate (at most four) and no face collapses. Bodies of negative volume are turned over unless they are
/// cavities of another.
/// Throws Error(kInvalidFile), naming face or vertex: sizes that do not fit, indices out of range, numbers that are not
/// finite or above 1e6 m, no face.
[[nodiscard]] Mesh tidy(Mesh mesh, Report& report);

/// Mass, centre of mass, and inertia about it.
struct Body {
  double mass = 0;                              ///< [kg]
  Vec3<double> com = Vec3<double>::zero();      ///< [m]
  Mat3<double> inertia = Mat3<double>::zero();  ///< [kg m^2]

  /// The same body of another mass.
  [[nodiscard]] Body with_mass(double other) const;
};

/// Of a watertight mesh of this density [kg/m^3]: exact integrals over signed tetrahedra.
[[nodiscard]] Body solid(const Mesh& mesh, double density);
/// Of a skin of this density [kg/m^2], for meshes that enclose nothing.
[[nodiscard]] Body shell(const Mesh& mesh, double density);

/// Uniform numbers of one sample, one after another: a pure function of seed and sample.
class Draws {
 public:
  Draws(std::uint64_t seed, std::uint64_t sample) : seed_(seed), sample_(sample) {}
  /// In (0, 1).
  [[nodiscard]] double next();

 private:
  std::uint64_t seed_, sample_;
  std::uint32_t block_ = 0;
  double second_ = 0;
  bool has_second_ = false;
};

/// A point of a surface.
struct Place {
  Vec3<double> point;                 ///< [m]
  Vec3<double> normal;                ///< outwards, unit
  Vec3<double> tangent;               ///< first principal direction, unit
  std::array<double, 2> curvature{};  ///< along the tangent and normal x tangent, positive where convex [1/m]
};

struct Ray {
  Vec3<double> from, along;                               ///< `along` has length 1
  double least = 0;                                       ///< where it begins [m]
  double most = std::numeric_limits<double>::infinity();  ///< where it ends [m]
};
enum class Crossing { kAny, kInto, kOutOf };
struct Hit {
  double distance;  ///< along the ray [m]
  Place place;
};
struct Nearest {
  double distance;  ///< [m], not negative
  Place place;
};

/// The surface of a body.
class Surface {
 public:
  virtual ~Surface() = default;
  /// Uniform by area.
  [[nodiscard]] virtual Place draw(Draws& draws) const = 0;
  /// The first crossing of this kind between the ray's ends.
  [[nodiscard]] virtual std::optional<Hit> hit(const Ray& ray, Crossing crossing) const = 0;
  [[nodiscard]] virtual Nearest nearest(const Vec3<double>& point) const = 0;
  /// Whether the surface comes nearer than this; sooner known than where.
  [[nodiscard]] virtual bool is_within(const Vec3<double>& point, double distance) const {
    return nearest(point).distance < distance;
  }
  /// Of this density [kg/m^3]. A surface that encloses nothing is a skin, 1 mm thick.
  [[nodiscard]] virtual Body body(double density) const = 0;
  [[nodiscard]] virtual bool encloses() const { return true; }
  /// The mesh itself, or one that looks like the shape: for pictures.
  [[nodiscard]] virtual Mesh picture() const = 0;
};

/// Of a mesh as tidy() leaves it, watertight or not. A face's normal is that of its plane. Its curvature is estimated
/// from the normals at its corners (S. Rusinkiewicz, 3DPVT 2004; N. Max's weights, JGT 4(2), 1999), in which only
/// neighbours count that lean less than kCrease: across a sharper edge nothing is round.
[[nodiscard]] std::unique_ptr<Surface> make_surface(Mesh mesh, bool watertight = true);
inline constexpr double kCrease = 0.7;  ///< [rad]

// In closed form, about the origin. Lengths [m]; all throw Error(kUsage) unless lengths are positive.
[[nodiscard]] std::unique_ptr<Surface> make_sphere(double radius);
/// Whole sides.
[[nodiscard]] std::unique_ptr<Surface> make_box(const Vec3<double>& sides);
/// Axis z, from -height/2 to height/2.
[[nodiscard]] std::unique_ptr<Surface> make_cylinder(double radius, double height);
/// A cylinder of this height between two half spheres.
[[nodiscard]] std::unique_ptr<Surface> make_capsule(double radius, double height);
[[nodiscard]] std::unique_ptr<Surface> make_ellipsoid(const Vec3<double>& half_axes);
/// (|x/a|^(2/e2) + |y/b|^(2/e2))^(e2/e1) + |z/c|^(2/e1) = 1: e1 is the roundness in planes through z, e2 across z; each
/// kLeastExponent (nearly straight, with corners) to 2 (straight, from axis to axis), 1 is an ellipsoid.
[[nodiscard]] std::unique_ptr<Surface> make_superquadric(const Vec3<double>& half_axes, double e1, double e2);
inline constexpr double kLeastExponent = 0.1;

}  // namespace garra::mesh
