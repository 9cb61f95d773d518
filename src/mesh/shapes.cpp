// Surfaces in closed form: sphere, ellipsoid, box, cylinder, capsule.
#include <algorithm>
#include <cmath>

#include "mesh/convex.hpp"
#include "mesh/curvature.hpp"

namespace garra::mesh {

namespace {

/// Interval with a t^2 + 2 b t + c < 0, a > 0.
Inside between_roots(double a, double b, double c) {
  const double square = b * b - a * c;
  if (!(square > 0)) return kNowhere;
  // The larger root first, because it loses no digits.
  const double q = -(b + std::copysign(std::sqrt(square), b));
  const double one = q / a, other = q != 0 ? c / q : 0;
  return {std::min(one, other), std::max(one, other)};
}
Vec3<double> axis(int i, double length) {
  Vec3<double> e = Vec3<double>::zero();
  e[i] = length;
  return e;
}
// --- rings: pictures of round shapes
// ----------------------------------------------------------------------------------

constexpr int kAround = 48;  ///< points of a ring

/// Surface of revolution, closed by a point at each end; (radius, z) of the rings from the lower end to the upper one.
Mesh rings(const std::vector<std::array<double, 2>>& profile, double low, double high) {
  Mesh m;
  m.vertex = {0, 0, low};
  for (const auto& [radius, z] : profile)
    for (int k = 0; k < kAround; ++k) {
      const Vec3<double> p = on_circle(radius, 2 * M_PI * k / kAround, z);
      m.vertex.insert(m.vertex.end(), p.m, p.m + 3);
    }
  m.vertex.insert(m.vertex.end(), {0, 0, high});
  const auto last = static_cast<std::int32_t>(m.vertices() - 1);
  const auto number = [](std::size_t ring, int k) {
    return static_cast<std::int32_t>(ring) * kAround + k % kAround + 1;
  };
  for (int k = 0; k < kAround; ++k) m.face.insert(m.face.end(), {0, number(0, k + 1), number(0, k)});
  for (std::size_t r = 0; r + 1 < profile.size(); ++r)
    for (int k = 0; k < kAround; ++k)
      m.face.insert(m.face.end(), {number(r, k), number(r, k + 1), number(r + 1, k + 1),  //
                                   number(r, k), number(r + 1, k + 1), number(r + 1, k)});
  for (int k = 0; k < kAround; ++k)
    m.face.insert(m.face.end(), {last, number(profile.size() - 1, k), number(profile.size() - 1, k + 1)});
  return m;
}

/// A sphere whose halves are `height` apart.
Mesh capsule_picture(double radius, double height) {
  std::vector<std::array<double, 2>> profile;
  const int half = kAround / 4;
  for (int k = 1 - half; k < half; ++k) {
    const auto a = sincos(M_PI / 2 * k / half);
    const double shift = k < 0 ? -height / 2 : height / 2;
    if (k == 0 && height > 0) profile.push_back({radius, -height / 2});
    profile.push_back({radius * a.cos, radius * a.sin + shift});
  }
  return rings(profile, -radius - height / 2, radius + height / 2);
}

// --- shapes
// -----------------------------------------------------------------------------------------------------------

class Ellipsoid final : public Convex {
 public:
  explicit Ellipsoid(const Vec3<double>& half) : half_(half) {
    require_positive("ellipsoid", {half[0], half[1], half[2]});
  }
  [[nodiscard]] Body body(double density) const override {
    const Vec3<double> s = squares();
    const double mass = density * 4 / 3 * M_PI * half_[0] * half_[1] * half_[2];
    return centered(mass, (mass / 5) * diagonal(s[1] + s[2], s[2] + s[0], s[0] + s[1]));
  }
  [[nodiscard]] Mesh picture() const override {
    Mesh m = sphere_picture();
    for (std::size_t i = 0; i < m.vertex.size(); ++i) m.vertex[i] *= half_[static_cast<int>(i % 3)];
    return m;
  }

 protected:
  /// Draws points s of the unit sphere and rejects: the map scales an area there by abc |(s_i / a_i)|.
  [[nodiscard]] Vec3<double> drawn(Draws& draws) const override {
    const double smallest = std::min({half_[0], half_[1], half_[2]});
    for (;;) {
      const Vec3<double> s = on_sphere(draws);
      if (draws.next() < smallest * norm(divided(s, half_))) return times(s, half_);
    }
  }
  [[nodiscard]] Inside inside_of(const Ray& ray) const override {
    const Vec3<double> from = divided(ray.from, half_), along = divided(ray.along, half_);
    return between_roots(dot(along, along), dot(from, along), dot(from, from) - 1);
  }
  [[nodiscard]] Vec3<double> foot(const Vec3<double>& point) const override;
  /// With g_i = x_i / a_i^2 the form along tangents u, v is u^T diag(1 / a_i^2) v / |g|.
  [[nodiscard]] Place place(const Vec3<double>& point) const override {
    const Vec3<double> s = squares(), g = divided(point, s);
    const Vec3<double> n = unit_direction(g), u = across(n), v = cross(n, u);
    const double scale = 1 / norm(g);
    const Bend bend =
        principal({scale * dot(u, divided(u, s)), scale * dot(u, divided(v, s)), scale * dot(v, divided(v, s))}, u, n);
    return {point, n, bend.tangent, bend.curvature};
  }

 private:
  [[nodiscard]] Vec3<double> squares() const { return times(half_, half_); }
  static Vec3<double> times(const Vec3<double>& a, const Vec3<double>& b) {
    return vec3(a[0] * b[0], a[1] * b[1], a[2] * b[2]);
  }
  static Vec3<double> divided(const Vec3<double>& a, const Vec3<double>& b) {
    return vec3(a[0] / b[0], a[1] / b[1], a[2] / b[2]);
  }
  Vec3<double> half_;
};

/// Nearest point (D. Eberly, "Distance from a point to an ellipse, an ellipsoid, or a hyperellipsoid", 2013). The foot
/// is a_i^2 p_i / (t + a_i^2) with the largest t at which it lies on the surface, found by bisection.
Vec3<double> Ellipsoid::foot(const Vec3<double>& point) const {
  const Vec3<double> s = squares();
  int least = 0;
  for (int i = 1; i < 3; ++i)
    if (half_[i] < half_[least]) least = i;
  Vec3<double> p = point;
  // On the plane across the shortest half axis the foot may leave to either side: choose one.
  if (std::abs(p[least]) < 1e-14 * half_[least]) p[least] = 1e-14 * half_[least];
  const auto excess = [&](double t) {
    double sum = -1;
    for (int i = 0; i < 3; ++i) {
      const double x = half_[i] * p[i] / (t + s[i]);
      sum += x * x;
    }
    return sum;
  };
  double low = -s[least] + half_[least] * std::abs(p[least]), high = -s[least] + norm(times(half_, p));
  for (int step = 0; step < 200; ++step) {
    const double middle = 0.5 * (low + high);
    if (!(middle > low && middle < high)) break;
    (excess(middle) > 0 ? low : high) = middle;
  }
  Vec3<double> foot;
  for (int i = 0; i < 3; ++i) foot[i] = s[i] * p[i] / (high + s[i]);
  return foot;
}

class Box final : public Convex {
 public:
  explicit Box(const Vec3<double>& sides) : half_(0.5 * sides) {
    require_positive("box", {sides[0], sides[1], sides[2]});
  }
  [[nodiscard]] Body body(double density) const override {
    const double x = half_[0] * half_[0], y = half_[1] * half_[1], z = half_[2] * half_[2];
    const double mass = density * 8 * half_[0] * half_[1] * half_[2];
    return centered(mass, (mass / 3) * diagonal(y + z, z + x, x + y));
  }
  [[nodiscard]] Mesh picture() const override {
    Mesh m;
    for (int k = 0; k < 8; ++k)
      for (int i = 0; i < 3; ++i) m.vertex.push_back((k >> i & 1) != 0 ? half_[i] : -half_[i]);
    m.face = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
              2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};
    return m;
  }

 protected:
  [[nodiscard]] Vec3<double> drawn(Draws& draws) const override {
    double at = draws.next() * (side(0) + side(1) + side(2));
    int i = 0;
    while (i < 2 && at >= side(i)) at -= side(i++);
    Vec3<double> p;
    p[i] = draws.next() < 0.5 ? -half_[i] : half_[i];
    for (const int j : {(i + 1) % 3, (i + 2) % 3}) p[j] = half_[j] * (2 * draws.next() - 1);
    return p;
  }
  [[nodiscard]] Inside inside_of(const Ray& ray) const override {
    Inside inside{-kInfinite, kInfinite};
    for (int i = 0; i < 3; ++i) inside = both(inside, between_planes(ray.from[i], ray.along[i], half_[i]));
    return inside;
  }
  [[nodiscard]] Vec3<double> foot(const Vec3<double>& point) const override {
    Vec3<double> p = point;
    for (int i = 0; i < 3; ++i) p[i] = std::clamp(p[i], -half_[i], half_[i]);
    const int i = find_face(p);
    p[i] = std::copysign(half_[i], p[i]);
    return p;
  }
  [[nodiscard]] Place place(const Vec3<double>& point) const override {
    const int i = find_face(point);
    return {point, axis(i, std::copysign(1, point[i])), axis((i + 1) % 3, 1), {0, 0}};
  }

 private:
  /// A quarter of the area of a face across axis i.
  [[nodiscard]] double side(int i) const { return half_[(i + 1) % 3] * half_[(i + 2) % 3]; }
  /// The axis normal to the face nearest to a point inside.
  [[nodiscard]] int find_face(const Vec3<double>& p) const {
    int best = 0;
    for (int i = 1; i < 3; ++i)
      if (half_[i] - std::abs(p[i]) < half_[best] - std::abs(p[best])) best = i;
    return best;
  }
  Vec3<double> half_;
};

class Cylinder final : public Convex {
 public:
  Cylinder(double radius, double height) : radius_(radius), half_(height / 2) {
    require_positive("cylinder", {radius, height});
  }
  [[nodiscard]] Body body(double density) const override {
    const double mass = density * M_PI * radius_ * radius_ * 2 * half_, r = radius_ * radius_;
    const double across_axis = r / 4 + half_ * half_ / 3;
    return centered(mass, mass * diagonal(across_axis, across_axis, r / 2));
  }
  [[nodiscard]] Mesh picture() const override { return rings({{radius_, -half_}, {radius_, half_}}, -half_, half_); }

 protected:
  [[nodiscard]] Vec3<double> drawn(Draws& draws) const override {
    const double at = draws.next() * (2 * half_ + radius_), u = draws.next(), azimuth = 2 * M_PI * draws.next();
    if (at < 2 * half_) return on_circle(radius_, azimuth, half_ * (2 * u - 1));
    return on_circle(radius_ * std::sqrt(u), azimuth, at - 2 * half_ < radius_ / 2 ? -half_ : half_);
  }
  [[nodiscard]] Inside inside_of(const Ray& ray) const override {
    const double x = ray.from[0], y = ray.from[1], dx = ray.along[0], dy = ray.along[1];
    const double a = dx * dx + dy * dy, c = x * x + y * y - radius_ * radius_;
    const Inside round = a > 0   ? between_roots(a, x * dx + y * dy, c)
                         : c < 0 ? Inside{-kInfinite, kInfinite}
                                 : kNowhere;
    return both(round, between_planes(ray.from[2], ray.along[2], half_));
  }
  [[nodiscard]] Vec3<double> foot(const Vec3<double>& p) const override {
    const double r = std::hypot(p[0], p[1]), z = std::clamp(p[2], -half_, half_);
    const Vec3<double> out = unit_direction(vec3(p[0], p[1], 0.0));
    const bool to_side = r >= radius_ || radius_ - r <= half_ - std::abs(p[2]);
    if (to_side) return vec3(radius_ * out[0], radius_ * out[1], z);
    return vec3(p[0], p[1], std::copysign(half_, p[2]));
  }
  [[nodiscard]] Place place(const Vec3<double>& p) const override {
    const double r = std::hypot(p[0], p[1]);
    if (half_ - std::abs(p[2]) < radius_ - r) return {p, axis(2, std::copysign(1, p[2])), axis(0, 1), {0, 0}};
    const Vec3<double> n = unit_direction(vec3(p[0], p[1], 0.0));
    return {p, n, cross(axis(2, 1), n), {1 / radius_, 0}};
  }

 private:
  double radius_, half_;
};

class Capsule final : public Convex {
 public:
  /// A height of 0 is a sphere.
  Capsule(double radius, double height) : radius_(radius), half_(height / 2) {}
  [[nodiscard]] Body body(double density) const override {
    const double r = radius_ * radius_;
    const double tube = density * M_PI * r * 2 * half_, ball = density * 4 / 3 * M_PI * r * radius_;
    // Two half balls about the middle: their centers of mass are 3/8 r past the tube's ends.
    const double along = tube * r / 2 + ball * 2 / 5 * r;
    const double side =
        tube * (r / 4 + half_ * half_ / 3) + ball * (2 * r / 5 + half_ * half_ + 2 * half_ * 3 * radius_ / 8);
    return centered(tube + ball, diagonal(side, side, along));
  }
  [[nodiscard]] Mesh picture() const override { return capsule_picture(radius_, 2 * half_); }

 protected:
  /// Draws as on the cylinder around it: equal heights have equal areas (Archimedes).
  [[nodiscard]] Vec3<double> drawn(Draws& draws) const override {
    const double z = (half_ + radius_) * (2 * draws.next() - 1), azimuth = 2 * M_PI * draws.next();
    const double over = std::max(0.0, std::abs(z) - half_);
    return on_circle(std::sqrt(std::max(0.0, radius_ * radius_ - over * over)), azimuth, z);
  }
  [[nodiscard]] Inside inside_of(const Ray& ray) const override {
    const double x = ray.from[0], y = ray.from[1], dx = ray.along[0], dy = ray.along[1];
    const double a = dx * dx + dy * dy, c = x * x + y * y - radius_ * radius_;
    const Inside round = a > 0   ? between_roots(a, x * dx + y * dy, c)
                         : c < 0 ? Inside{-kInfinite, kInfinite}
                                 : kNowhere;
    Inside inside = both(round, between_planes(ray.from[2], ray.along[2], half_));
    if (!(inside.first < inside.second)) inside = kNowhere;
    for (const double middle : {-half_, half_}) {
      const Vec3<double> from = ray.from - axis(2, middle);
      const Inside ball = between_roots(1, dot(from, ray.along), dot(from, from) - radius_ * radius_);
      // Intervals of a line inside a convex body that overlap or touch are one.
      if (ball.first < ball.second) inside = {std::min(inside.first, ball.first), std::max(inside.second, ball.second)};
    }
    return inside;
  }
  [[nodiscard]] Vec3<double> foot(const Vec3<double>& p) const override {
    const Vec3<double> middle = core(p);
    return axpy(radius_, unit_direction(p - middle), middle);
  }
  [[nodiscard]] Place place(const Vec3<double>& p) const override {
    const Vec3<double> n = unit_direction(p - core(p));
    const double second = std::abs(p[2]) < half_ ? 0 : 1 / radius_;
    const Vec3<double> round = cross(axis(2, 1), n);
    return {p, n, norm(round) > 0.01 ? unit_direction(round) : across(n), {1 / radius_, second}};
  }

 private:
  /// The nearest point of the axis.
  [[nodiscard]] Vec3<double> core(const Vec3<double>& p) const { return axis(2, std::clamp(p[2], -half_, half_)); }
  double radius_, half_;
};

}  // namespace

Mesh sphere_picture() { return capsule_picture(1, 0); }

std::unique_ptr<Surface> make_sphere(double radius) {
  require_positive("sphere", {radius});
  return std::make_unique<Capsule>(radius, 0);
}
std::unique_ptr<Surface> make_capsule(double radius, double height) {
  require_positive("capsule", {radius, height});
  return std::make_unique<Capsule>(radius, height);
}
std::unique_ptr<Surface> make_box(const Vec3<double>& sides) { return std::make_unique<Box>(sides); }
std::unique_ptr<Surface> make_cylinder(double radius, double height) {
  return std::make_unique<Cylinder>(radius, height);
}
std::unique_ptr<Surface> make_ellipsoid(const Vec3<double>& half_axes) {
  return std::make_unique<Ellipsoid>(half_axes);
}

}  // namespace garra::mesh
