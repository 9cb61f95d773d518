// Base of the surfaces of convex bodies: a line has one interval inside of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string>
#include <utility>

#include "garra/core/elementary.hpp"
#include "garra/core/error.hpp"
#include "garra/mesh.hpp"

namespace garra::mesh {

inline constexpr double kInfinite = std::numeric_limits<double>::infinity();

inline void require_positive(const char* shape, std::initializer_list<double> lengths) {
  for (const double x : lengths)
    if (!(x > 0 && x < kInfinite))
      throw Error(ExitCode::kUsage, std::string(shape) + ": a length of " + std::to_string(x), "Lengths are positive.");
}

/// The interval of a line inside the body; empty if first >= second.
using Inside = std::pair<double, double>;
inline constexpr Inside kNowhere{kInfinite, -kInfinite};

/// Interval with |from + t along| < half.
inline Inside between_planes(double from, double along, double half) {
  if (along == 0) return std::abs(from) < half ? Inside{-kInfinite, kInfinite} : kNowhere;
  const double a = (-half - from) / along, b = (half - from) / along;
  return {std::min(a, b), std::max(a, b)};
}
inline Inside both(const Inside& a, const Inside& b) {
  return {std::max(a.first, b.first), std::min(a.second, b.second)};
}

inline Vec3<double> on_circle(double radius, double azimuth, double z) {
  const auto a = sincos(azimuth);
  return vec3(radius * a.cos, radius * a.sin, z);
}
/// Draws uniformly on the unit sphere.
inline Vec3<double> on_sphere(Draws& draws) {
  const double z = 2 * draws.next() - 1;
  return on_circle(std::sqrt(std::max(0.0, 1 - z * z)), 2 * M_PI * draws.next(), z);
}
/// p / |p|; for p = 0 any direction.
inline Vec3<double> unit_direction(const Vec3<double>& p) {
  const double length = norm(p);
  return length > 0 ? (1 / length) * p : vec3(1.0, 0.0, 0.0);
}

inline Mat3<double> diagonal(double x, double y, double z) { return {{x, 0, 0, 0, y, 0, 0, 0, z}}; }
inline Body centered(double mass, const Mat3<double>& inertia) { return {mass, Vec3<double>::zero(), inertia}; }

/// Base class of the convex shapes.
class Convex : public Surface {
 public:
  [[nodiscard]] Place draw(Draws& draws) const final { return place(drawn(draws)); }
  [[nodiscard]] std::optional<Hit> hit(const Ray& ray, Crossing crossing) const final {
    const Inside inside = inside_of(ray);
    if (!(inside.first < inside.second)) return std::nullopt;
    const auto within = [&](double t) { return t > ray.least && t < ray.most; };
    double at = kInfinite;
    if (crossing != Crossing::kInto && within(inside.second)) at = inside.second;
    if (crossing != Crossing::kOutOf && within(inside.first)) at = inside.first;
    if (!(at < kInfinite)) return std::nullopt;
    return Hit{at, place(axpy(at, ray.along, ray.from))};
  }
  [[nodiscard]] Nearest nearest(const Vec3<double>& point) const final {
    const Vec3<double> q = foot(point);
    return {norm(point - q), place(q)};
  }

 protected:
  [[nodiscard]] virtual Vec3<double> drawn(Draws& draws) const = 0;
  [[nodiscard]] virtual Inside inside_of(const Ray& ray) const = 0;
  [[nodiscard]] virtual Vec3<double> foot(const Vec3<double>& point) const = 0;
  /// Normal and curvature at a point of the surface.
  [[nodiscard]] virtual Place place(const Vec3<double>& point) const = 0;
};

/// Mesh of the unit sphere: points on circles of latitude, and the poles. It is mapped to pictures of round shapes.
[[nodiscard]] Mesh sphere_picture();

}  // namespace garra::mesh
