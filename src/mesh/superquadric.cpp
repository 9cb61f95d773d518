// Superquadrics: |(|x/a|, |y/b|)|_p and |z/c| together have length 1 in another norm. With exponents up to 2 that is
// the unit ball of a norm, and convex (A. Jaklic, A. Leonardis and F. Solina, Segmentation and Recovery of
// Superquadrics, 2000, chapter 2). Lengths of 2-vectors in the norms are computed from ratios of at most 1, so that no
// power overflows.
#include <optional>

#include "mesh/convex.hpp"
#include "mesh/curvature.hpp"

namespace garra::mesh {

namespace {

/// x^y, x >= 0.
double power(double x, double y) {
  if (y == 0) return 1;
  return x > 0 ? exp(y * log(x)) : 0;
}
double beta(double x, double y) { return std::tgamma(x) * std::tgamma(y) / std::tgamma(x + y); }

/// The norm (s^q + t^q)^(1/q) of s, t >= 0, and its derivatives.
struct Length {
  Length(double s, double t, double q) : q_(q) {
    const double most = std::max(s, t), least = std::min(s, t);
    value = most > 0 ? most * power(1 + power(least / most, q), 1 / q) : 0;
    // If both are zero, the direction is arbitrary: take the second.
    s_ = value > 0 ? s / value : 0;
    t_ = value > 0 ? t / value : 1;
    by_s = power(s_, q - 1);
    by_t = power(t_, q - 1);
  }
  [[nodiscard]] double ss() const { return bend() * power(s_, q_ - 2) * power(t_, q_); }
  [[nodiscard]] double tt() const { return bend() * power(t_, q_ - 2) * power(s_, q_); }
  [[nodiscard]] double st() const { return -bend() * by_s * by_t; }

  double value, by_s, by_t;

 private:
  [[nodiscard]] double bend() const { return (q_ - 1) / value; }
  double q_, s_, t_;
};

/// Root of an increasing slope between 0 and 1; an end if there is none. Secants, with bisection if they are slow (M.
/// Dowell and P. Jarratt, BIT 11, 1971, 168).
template <class Slope>
double lowest(const Slope& slope) {
  constexpr double kMin = 1e-15;
  double a = kMin, b = 1 - kMin, fa = slope(a), fb = slope(b);
  if (fa >= 0) return a;
  if (fb <= 0) return b;
  for (int step = 0; step < 200; ++step) {
    const double secant = b - fb * (b - a) / (fb - fa);
    const double c = step % 4 == 3 || !(secant > a && secant < b) ? 0.5 * (a + b) : secant, width = b - a;
    if (!(c > a && c < b)) break;
    const double f = slope(c);
    if (f == 0) return c;
    if (f < 0) {
      // Reduces the weight of the retained end, so that the next secant moves to its side.
      fb *= fa / (fa + f);
      a = c;
      fa = f;
    } else {
      fa *= fb / (fb + f);
      b = c;
      fb = f;
    }
    if (width < 1e-16) break;
  }
  return 0.5 * (a + b);
}

/// A point of the unit curve between the axes, from the second (0) to the first (1).
struct OnArc {
  OnArc(double at, double q) : length(at, 1 - at, q), s(at / length.value), t((1 - at) / length.value) {}
  Length length;
  double s, t;
};

class Superquadric final : public Convex {
 public:
  Superquadric(const Vec3<double>& half, double e1, double e2) : half_(half), e1_(e1), e2_(e2) {
    require_positive("superquadric", {half[0], half[1], half[2]});
    for (const double e : {e1, e2})
      if (!(e >= kMinExponent && e <= 2))
        throw Error(ExitCode::kUsage, "superquadric: an exponent of " + std::to_string(e),
                    "Exponents are 0.1 (nearly a box) to 2 (an octahedron); 1 is an ellipsoid.");
  }
  /// Volume and moments by beta functions, as in the same chapter.
  [[nodiscard]] Body body(double density) const override {
    const double x = half_[0], y = half_[1], z = half_[2], all = density * x * y * z * e1_ * e2_;
    const double mass = 2 * all * beta(e1_ / 2 + 1, e1_) * beta(e2_ / 2, e2_ / 2);
    const double across = all / 2 * beta(1.5 * e2_, e2_ / 2) * beta(e1_ / 2, 2 * e1_ + 1);
    const double xx = x * x * across, yy = y * y * across;
    const double zz = all * z * z * beta(e2_ / 2, e2_ / 2) * beta(1.5 * e1_, e1_ + 1);
    return centered(mass, diagonal(yy + zz, zz + xx, xx + yy));
  }
  /// Points of a sphere, with their cosines and sines raised to the exponents.
  [[nodiscard]] Mesh picture() const override {
    Mesh m = sphere_picture();
    for (std::int64_t v = 0; v < m.vertices(); ++v) {
      double* p = m.vertex.data() + 3 * v;
      const double around = std::hypot(p[0], p[1]), r = power(around, e1_);
      for (int i = 0; i < 2; ++i)
        p[i] = around > 0 ? std::copysign(half_[i] * r * power(std::abs(p[i]) / around, e2_), p[i]) : 0;
      p[2] = std::copysign(half_[2] * power(std::abs(p[2]), e1_), p[2]);
    }
    return m;
  }

 protected:
  /// Rejection sampling of directions uniform on the sphere. The area factor is r^3 / (n s) on the body with half axes
  /// of 1, times that of the half axes, as for an ellipsoid. Points s of that body are at least 1 / sqrt(3) from the
  /// origin along their normals and at most sqrt(3) away.
  [[nodiscard]] Vec3<double> drawn(Draws& draws) const override {
    constexpr double kMax = 9;
    const double smallest = std::min({half_[0], half_[1], half_[2]});
    for (;;) {
      const Vec3<double> along = on_sphere(draws);
      const double r = 1 / Gauge(along, e1_, e2_).value();
      const Vec3<double> s = r * along;
      const double area = r * r * r * smallest * norm(gradient(Gauge(s, e1_, e2_)));
      if (kMax * draws.next() < area) return times(s, half_);
    }
  }
  [[nodiscard]] Inside inside_of(const Ray& ray) const override;
  [[nodiscard]] Vec3<double> foot(const Vec3<double>& point) const override;
  [[nodiscard]] Place place(const Vec3<double>& point) const override {
    const Tangents t = tangents_at(point);
    const Bend bend = principal(t.form, t.u, t.n);
    return {point, t.n, bend.tangent, bend.curvature};
  }

 private:
  /// Unit normal and tangents, and the second fundamental form in these.
  struct Tangents {
    Vec3<double> n, u, v;
    Form form;
  };

  static Vec3<double> times(const Vec3<double>& a, const Vec3<double>& b) {
    return vec3(a[0] * b[0], a[1] * b[1], a[2] * b[2]);
  }
  static Vec3<double> divided(const Vec3<double>& a, const Vec3<double>& b) {
    return vec3(a[0] / b[0], a[1] / b[1], a[2] / b[2]);
  }

  /// Gauge of the body with half axes 1: the factor that scales the body to the point, and its gradient.
  struct Gauge {
    Gauge(const Vec3<double>& s, double e1, double e2)
        : round(std::abs(s[0]), std::abs(s[1]), 2 / e2), all(round.value, std::abs(s[2]), 2 / e1), at(s) {}
    [[nodiscard]] double value() const { return all.value; }
    [[nodiscard]] Vec3<double> gradient() const {
      return vec3(std::copysign(all.by_s * round.by_s, at[0]), std::copysign(all.by_s * round.by_t, at[1]),
                  std::copysign(all.by_t, at[2]));
    }
    Length round, all;
    Vec3<double> at;
  };
  [[nodiscard]] Gauge gauge_at(const Vec3<double>& p) const { return {divided(p, half_), e1_, e2_}; }
  [[nodiscard]] double gauge(const Vec3<double>& p) const { return gauge_at(p).value(); }
  [[nodiscard]] Vec3<double> gradient(const Gauge& g) const { return divided(g.gradient(), half_); }
  [[nodiscard]] Mat3<double> curvature_of_gauge(const Vec3<double>& p) const;
  [[nodiscard]] Tangents tangents_at(const Vec3<double>& p) const;
  [[nodiscard]] double border(const Ray& ray, double outside, double inside) const;
  /// Nearest point to p >= 0 outside.
  [[nodiscard]] Vec3<double> nearest_to_outside(const Vec3<double>& p) const;
  struct RoundFoot {
    double u, v;      ///< of half axes 1
    double pressure;  ///< how fast half the squared distance falls with the size
  };
  [[nodiscard]] RoundFoot round_foot(const Vec3<double>& p, double size) const;
  /// Nearest point to p >= 0 inside.
  [[nodiscard]] Vec3<double> nearest_to_inside(const Vec3<double>& p) const;
  [[nodiscard]] std::vector<Vec3<double>> starts(const Vec3<double>& p) const;
  [[nodiscard]] Vec3<double> nearest_from(Vec3<double> start, const Vec3<double>& p) const;

  Vec3<double> half_;
  double e1_, e2_;
};

/// In coordinate planes a body with exponents above 1 has unbounded curvature, or an edge. Closer than this to such a
/// plane, in half axes, the curvature at this distance is taken.
constexpr double kFlattest = 1e-4;

Mat3<double> Superquadric::curvature_of_gauge(const Vec3<double>& p) const {
  Vec3<double> s = divided(p, half_);
  for (int i = 0; i < 3; ++i) s[i] = std::copysign(std::max(std::abs(s[i]), kFlattest), s[i]);
  const Gauge gauge(s, e1_, e2_);
  const Length &round = gauge.round, &all = gauge.all;
  const double rr = all.ss(), r = all.by_s;
  Mat3<double> h;
  h(0, 0) = rr * round.by_s * round.by_s + r * round.ss();
  h(1, 1) = rr * round.by_t * round.by_t + r * round.tt();
  h(2, 2) = all.tt();
  h(0, 1) = h(1, 0) = rr * round.by_s * round.by_t + r * round.st();
  h(0, 2) = h(2, 0) = all.st() * round.by_s;
  h(1, 2) = h(2, 1) = all.st() * round.by_t;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) h(i, j) *= std::copysign(1.0, s[i] * s[j]) / (half_[i] * half_[j]);
  return h;
}

Superquadric::Tangents Superquadric::tangents_at(const Vec3<double>& p) const {
  const Vec3<double> g = gradient(gauge_at(p)), n = unit_direction(g), u = across(n), v = cross(n, u);
  const Mat3<double> h = curvature_of_gauge(p);
  const double scale = 1 / norm(g);
  return {n, u, v, {scale * dot(u, h * u), scale * dot(u, h * v), scale * dot(v, h * v)}};
}

/// Point at which the line leaves the body. Newton's steps on a convex function do not pass it from outside; if they do
/// by rounding, or are too short, bisection continues.
double Superquadric::border(const Ray& ray, double outside, double inside) const {
  for (int step = 0; step < 200; ++step) {
    const Vec3<double> at = axpy(outside, ray.along, ray.from);
    const Gauge g = gauge_at(at);
    const double excess = g.value() - 1, newton = outside - excess / dot(gradient(g), ray.along);
    if (!(excess > 0) || newton == outside) break;
    if ((newton > outside) == (inside > newton)) {
      outside = newton;
      continue;
    }
    const double middle = 0.5 * (outside + inside);
    if (middle == outside || middle == inside) break;
    (gauge(axpy(middle, ray.along, ray.from)) > 1 ? outside : inside) = middle;
  }
  return outside;
}

Inside Superquadric::inside_of(const Ray& ray) const {
  Inside box{-kInfinite, kInfinite};
  for (int i = 0; i < 3; ++i) box = both(box, between_planes(ray.from[i], ray.along[i], half_[i]));
  if (!(box.first < box.second)) return kNowhere;
  // The gauge is convex along the line: its slope tells where it decreases, until it is below 1.
  auto [low, high] = box;
  for (int step = 0; step < 200; ++step) {
    const double middle = 0.5 * (low + high);
    if (!(middle > low && middle < high)) break;
    const Vec3<double> at = axpy(middle, ray.along, ray.from);
    const Gauge g = gauge_at(at);
    if (g.value() < 1) return {border(ray, box.first, middle), border(ray, box.second, middle)};
    (dot(gradient(g), ray.along) > 0 ? high : low) = middle;
  }
  return kNowhere;
}

/// The nearest point of the cross-section of this size.
Superquadric::RoundFoot Superquadric::round_foot(const Vec3<double>& p, double size) const {
  const double a = half_[0], b = half_[1], q = 2 / e2_;
  if (Length(p[0] / a, p[1] / b, q).value <= size) return {p[0] / a, p[1] / b, 0};
  const auto slope = [&](double at) {
    const OnArc c(at, q);
    return a * (a * size * c.s - p[0]) * c.length.by_t - b * (b * size * c.t - p[1]) * c.length.by_s;
  };
  const OnArc c(lowest(slope), q);
  // At an end the other coordinate is held at 0 and gives no pressure.
  const double pressure =
      c.s > c.t ? a * (p[0] - a * size * c.s) / c.length.by_s : b * (p[1] - b * size * c.t) / c.length.by_t;
  return {size * c.s, size * c.t, std::max(pressure, 0.0)};
}

/// The distance to the cross-section and the one along z are a convex function of the two sizes on a convex curve, so
/// it decreases and then increases along the curve. Edges are harmless.
Vec3<double> Superquadric::nearest_to_outside(const Vec3<double>& p) const {
  const double c = half_[2], q = 2 / e1_;
  const auto slope = [&](double at) {
    const OnArc s(at, q);
    return -round_foot(p, s.s).pressure * s.length.by_t - c * (c * s.t - p[2]) * s.length.by_s;
  };
  const OnArc s(lowest(slope), q);
  const RoundFoot foot = round_foot(p, s.s);
  const Vec3<double> x = vec3(half_[0] * foot.u, half_[1] * foot.v, c * s.t);
  return (1 / gauge(x)) * x;
}

/// Starting points on the surface for the search of the nearest point to p >= 0: radially away, and along each axis.
std::vector<Vec3<double>> Superquadric::starts(const Vec3<double>& p) const {
  std::vector<Vec3<double>> all;
  if (const double g = gauge(p); g > 1e-12) all.push_back((1 / g) * p);
  const Vec3<double> s = divided(p, half_);
  const double q1 = 2 / e1_, q2 = 2 / e2_;
  const Length round(s[0], s[1], q2);
  const auto rest = [](double length, double q) { return length < 1 ? power(1 - power(length, q), 1 / q) : -1; };
  if (const double z = rest(round.value, q1); z >= 0) all.push_back(vec3(p[0], p[1], half_[2] * z));
  const double r = rest(s[2], q1);  // of the cross-section at this height
  for (int i = 0; i < 2 && r > 0; ++i)
    if (const double x = rest(s[1 - i] / r, q2); x >= 0) {
      Vec3<double> at = p;
      at[i] = half_[i] * r * x;
      all.push_back(at);
    }
  return all;
}

/// Newton's steps along the surface, as long as the distance decreases. With d from the point to the surface, half the
/// squared distance has the slopes d u, d v there, and the second derivatives 1 - (n d) form.
Vec3<double> Superquadric::nearest_from(Vec3<double> x, const Vec3<double>& p) const {
  const double size = norm(half_);
  for (int step = 0; step < 100; ++step) {
    const Tangents t = tangents_at(x);
    const Vec3<double> d = x - p;
    const double a = dot(d, t.u), b = dot(d, t.v), away = -dot(t.n, d), square = dot(d, d);
    const double uu = 1 + away * t.form.a, uv = away * t.form.b, vv = 1 + away * t.form.c, det = uu * vv - uv * uv;
    const bool bowl = det > 1e-12 * (uu * uu + vv * vv) && uu > 0;
    const auto nearer = [&](const Vec3<double>& way) -> std::optional<Vec3<double>> {
      for (double share = 1; share > 1e-10; share *= 0.5) {
        Vec3<double> y = axpy(share, way, x);
        for (int i = 0; i < 3; ++i) y[i] = std::max(y[i], 0.0);  // the nearest point is on the same side of all planes
        y = (1 / gauge(y)) * y;
        if (dot(y - p, y - p) < square) return y;
      }
      return std::nullopt;
    };
    std::optional<Vec3<double>> next;
    if (bowl) next = nearer(axpy(-(vv * a - uv * b) / det, t.u, (-(uu * b - uv * a) / det) * t.v));
    if (!next) next = nearer(axpy(-a, t.u, -b * t.v));
    if (!next) break;
    const double moved = norm(*next - x);
    x = *next;
    if (moved < 1e-15 * size) break;
  }
  return x;
}

Vec3<double> Superquadric::nearest_to_inside(const Vec3<double>& p) const {
  Vec3<double> best = vec3(0.0, 0.0, half_[2]);
  double least = kInfinite;
  for (const Vec3<double>& start : starts(p)) {
    const Vec3<double> x = nearest_from(start, p);
    if (const double square = dot(x - p, x - p); square < least) {
      least = square;
      best = x;
    }
  }
  return best;
}

Vec3<double> Superquadric::foot(const Vec3<double>& point) const {
  Vec3<double> p;
  for (int i = 0; i < 3; ++i) p[i] = std::abs(point[i]);
  Vec3<double> x = gauge(p) > 1 ? nearest_to_outside(p) : nearest_to_inside(p);
  for (int i = 0; i < 3; ++i) x[i] = std::copysign(x[i], point[i]);
  return x;
}

}  // namespace

std::unique_ptr<Surface> make_superquadric(const Vec3<double>& half_axes, double e1, double e2) {
  return std::make_unique<Superquadric>(half_axes, e1, e2);
}

}  // namespace garra::mesh
