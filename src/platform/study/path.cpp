// Positions, velocities and accelerations at the instants of a path, from its poses
// (docs/reference/platform-study.md (1)-(5)).
#include <algorithm>
#include <cmath>

#include "garra/math/rotation_vector.hpp"
#include "garra/platform_study.hpp"
#include "platform/study/platform_outcomes.hpp"

namespace garra::platform {

namespace {

using Vec3d = Vec3<double>;
using Quat = Quaternion<double>;

/// A number along the path with its first two derivatives.
struct Jet {
  double value = 0, rate = 0, acceleration = 0;
};

/// Progress from 0 to 1 at fraction x of the duration; derivatives with respect to x.
Jet quintic(double x) {
  return {x * x * x * (10 + x * (6 * x - 15)), 30 * x * x * (1 - x) * (1 - x), 60 * x * (1 - x) * (1 - 2 * x)};
}

Jet trapezoid(double x) {
  // Ramps of a fifth of the duration at either end (docs/reference/platform-study.md, (1)); the
  // speed in between makes the progress 1.
  constexpr double kRamp = 0.2, kSpeed = 1 / (1 - kRamp), kAcceleration = kSpeed / kRamp;
  if (x < kRamp) return {kAcceleration * x * x / 2, kAcceleration * x, kAcceleration};
  if (x <= 1 - kRamp) return {kSpeed * (x - kRamp / 2), kSpeed, 0};
  return {1 - kAcceleration * (1 - x) * (1 - x) / 2, kAcceleration * (1 - x), -kAcceleration};
}

/// The law at time t, derivatives per second. Poses with times of their own are passed at these times.
Jet law_at(const Path& path, double t, double duration) {
  const double x = t / duration;
  Jet s{x, 1, 0};
  if (path.kind != Path::Kind::kSampled) {
    if (path.law == Path::Law::kQuintic) s = quintic(x);
    if (path.law == Path::Law::kTrapezoid) s = trapezoid(x);
  }
  return {s.value, s.rate / duration, s.acceleration / (duration * duration)};
}

/// Motion of the platform.
/// Jets of position, orientation and both twists, base axes.
struct Moving {
  Vec3d r;
  Quat p;
  Twist6<double> velocity, acceleration;
};

/// Natural cubic spline through values at knots: moments by the tridiagonal system, once for each column.
class Spline {
 public:
  Spline(const std::vector<double>& knots, std::vector<double> values)
      : x_(knots), y_(std::move(values)), m_(knots.size(), 0.0) {
    const std::size_t n = x_.size();
    // Thomas' algorithm without pivots: the system's diagonal dominates. Natural: no moment at the ends.
    std::vector<double> upper(n, 0.0);
    for (std::size_t k = 1; k + 1 < n; ++k) {
      const double before = x_[k] - x_[k - 1], after = x_[k + 1] - x_[k];
      const double bend = 6 * ((y_[k + 1] - y_[k]) / after - (y_[k] - y_[k - 1]) / before);
      const double pivot = 2 * (before + after) - before * upper[k - 1];
      upper[k] = after / pivot;
      m_[k] = (bend - before * m_[k - 1]) / pivot;
    }
    for (std::size_t k = n - 1; k-- > 1;) m_[k] -= upper[k] * m_[k + 1];
  }

  /// Value at s, with the derivatives of s.
  [[nodiscard]] Jet operator()(const Jet& s) const {
    // The first and last piece go on beyond the knots, so that rounding of s at 1 finds a piece.
    const auto above = std::upper_bound(x_.begin() + 1, x_.end() - 1, s.value);
    const auto k = static_cast<std::size_t>(above - x_.begin());
    const double h = x_[k] - x_[k - 1], a = (x_[k] - s.value) / h, b = (s.value - x_[k - 1]) / h;
    const double y = a * y_[k - 1] + b * y_[k] + h * h / 6 * ((a * a * a - a) * m_[k - 1] + (b * b * b - b) * m_[k]);
    const double slope = (y_[k] - y_[k - 1]) / h + h / 6 * ((1 - 3 * a * a) * m_[k - 1] + (3 * b * b - 1) * m_[k]);
    const double bend = a * m_[k - 1] + b * m_[k];
    // Chain rule: derivatives along the knots into those per second.
    return {y, slope * s.rate, bend * s.rate * s.rate + slope * s.acceleration};
  }

 private:
  std::vector<double> x_, y_, m_;
};

Place<double> pose(const Path& path, std::size_t k) {
  const double *r = path.pose.position.data() + 3 * k, *p = path.pose.quaternion.data() + 4 * k;
  return {{{r[0], r[1], r[2]}}, normalized<double>({{p[0], p[1], p[2], p[3]}})};
}

/// Orientation from `p` on by rotations that follow each other, each about a fixed axis: part `share` of `turn`.
// docs/reference/platform-study.md, (5): what has turned before is turned by this rotation, too.
void turn_further(Moving& m, const Vec3d& turn, const Jet& share) {
  const Quat step = quaternion_of_turn(share.value * turn);
  const Mat3<double> R = rotation_matrix(step);
  const Vec3d own = share.rate * turn, before = R * m.velocity.w;
  m.acceleration.w = R * m.acceleration.w + cross(own, before) + share.acceleration * turn;
  m.velocity.w = before + own;
  m.p = product(step, m.p);
}

class Straight {
 public:
  explicit Straight(const Path& path)
      : from_(pose(path, 0)), to_(pose(path, path.pose.position.size() / 3 - 1)), turn_(turn_between(from_.p, to_.p)) {}
  [[nodiscard]] Moving operator()(const Jet& s) const {
    const Vec3d d = to_.r - from_.r;
    Moving m{axpy(s.value, d, from_.r), from_.p, {s.rate * d, Vec3d::zero()}, {s.acceleration * d, Vec3d::zero()}};
    turn_further(m, turn_, s);
    return m;
  }

 private:
  Place<double> from_, to_;
  Vec3d turn_;
};

/// Rotation about an axis through `center_` and translation along it: the screw from the first to
/// the last pose.
class Screw {
 public:
  explicit Screw(const Path& path) : from_(pose(path, 0)) {
    const Place<double> to = pose(path, path.pose.position.size() / 3 - 1);
    const Vec3d d = to.r - from_.r;
    turn_ = turn_between(from_.p, to.p);
    const double angle = norm(turn_);
    center_ = from_.r;
    slide_ = d;
    // Without a rotation the axis is at infinity: the screw is a translation, which is already set.
    if (angle < 1e-9) return;
    const Vec3d axis = (1 / angle) * turn_;
    slide_ = dot(axis, d) * axis;
    const Vec3d across = d - slide_;
    // Center: the point of the axis nearest to the middle of the chord
    // (docs/reference/platform-study.md, (3)).
    center_ = from_.r + 0.5 * across + (0.5 / std::tan(angle / 2)) * cross(axis, across);
  }
  [[nodiscard]] Moving operator()(const Jet& s) const {
    Moving m{from_.r, from_.p, {Vec3d::zero(), Vec3d::zero()}, {Vec3d::zero(), Vec3d::zero()}};
    turn_further(m, turn_, s);
    const Vec3d arm = rotation_matrix(quaternion_of_turn(s.value * turn_)) * (from_.r - center_);
    const Vec3d speed = cross(m.velocity.w, arm);
    m.r = center_ + arm + s.value * slide_;
    m.velocity.v = speed + s.rate * slide_;
    m.acceleration.v = cross(m.acceleration.w, arm) + cross(m.velocity.w, speed) + s.acceleration * slide_;
    return m;
  }

 private:
  Place<double> from_;
  Vec3d turn_, center_, slide_;
};

/// Each coordinate a natural cubic spline. The orientation is a product of rotations, one from each pose to the next;
/// its fraction is a spline from 0 to 1 between both poses: accelerations are continuous.
class Splines {
 public:
  explicit Splines(const Path& path) : from_(pose(path, 0)) {
    const std::size_t n = path.pose.position.size() / 3;
    std::vector<double> knots(n), values(n);
    // A natural spline is linear in its values: knots in parts of the duration, so that times of any unit are well
    // scaled.
    const bool timed = path.kind == Path::Kind::kSampled;
    for (std::size_t k = 0; k < n; ++k)
      knots[k] = timed ? (path.time[k] - path.time[0]) / (path.time[n - 1] - path.time[0])
                       : static_cast<double>(k) / static_cast<double>(n - 1);
    for (std::size_t c = 0; c < 3; ++c) {
      for (std::size_t k = 0; k < n; ++k) values[k] = path.pose.position[3 * k + c];
      position_.emplace_back(knots, values);
    }
    for (std::size_t k = 0; k + 1 < n; ++k) {
      turn_.push_back(turn_between(pose(path, k).p, pose(path, k + 1).p));
      // Values 0 up to pose k and 1 beyond: the share of turn k that is done.
      for (std::size_t i = 0; i < n; ++i) values[i] = i > k ? 1 : 0;
      share_.emplace_back(knots, values);
    }
  }
  [[nodiscard]] Moving operator()(const Jet& s) const {
    Moving m{Vec3d::zero(), from_.p, {Vec3d::zero(), Vec3d::zero()}, {Vec3d::zero(), Vec3d::zero()}};
    for (int c = 0; c < 3; ++c) {
      const Jet x = position_[static_cast<std::size_t>(c)](s);
      m.r[c] = x.value, m.velocity.v[c] = x.rate, m.acceleration.v[c] = x.acceleration;
    }
    // From the first to the last: rotations do not commute.
    for (std::size_t k = 0; k < turn_.size(); ++k) turn_further(m, turn_[k], share_[k](s));
    return m;
  }

 private:
  Place<double> from_;
  std::vector<Spline> position_, share_;
  std::vector<Vec3d> turn_;
};

[[noreturn]] void refuse(const std::string& problem, const std::string& remedy) {
  throw Error(ExitCode::kUsage, "path: " + problem, remedy);
}

bool all_finite(const std::vector<double>& list) {
  return std::all_of(list.begin(), list.end(), [](double x) { return std::isfinite(x); });
}

void check_path(const Path& path) {
  const std::size_t n = path.pose.position.size() / 3;
  if (path.pose.position.size() != 3 * n || path.pose.quaternion.size() != 4 * n)
    refuse("positions and quaternions are not of the same number of poses", "Give 3 and 4 numbers per pose.");
  if (n < 2) refuse("needs two poses or more", "Give the first and the last pose.");
  if (!all_finite(path.pose.position) || !all_finite(path.pose.quaternion)) refuse("a number is not finite", "");
  for (std::size_t k = 0; k < n; ++k) {
    const double* p = path.pose.quaternion.data() + 4 * k;
    // hypot does not overflow; below 1e-150 the square of the norm would underflow in normalized().
    if (!(std::hypot(std::hypot(p[0], p[1]), std::hypot(p[2], p[3])) > 1e-150))
      refuse("the quaternion of pose " + std::to_string(k) + " is zero", "No turn is (1, 0, 0, 0).");
  }
  if (path.instants < 2) refuse("needs two instants or more", "Both ends are instants.");
  if (path.kind != Path::Kind::kSampled) {
    if (!(path.duration > 0 && std::isfinite(path.duration))) refuse("its duration is not positive", "");
    return;
  }
  // The times of a sampled path define its duration.
  if (path.time.size() != n || !all_finite(path.time)) refuse("needs a time for each of its poses", "");
  for (std::size_t k = 1; k < n; ++k)
    if (!(path.time[k] > path.time[k - 1])) refuse("times do not ascend", "Sort the poses by time.");
}

void append_twist(std::vector<double>& list, const Twist6<double>& t) {
  list.insert(list.end(), {t.v[0], t.v[1], t.v[2], t.w[0], t.w[1], t.w[2]});
}

template <class Geometry>
PathPoints sweep(const Path& path, const Geometry& at) {
  const double duration = path.kind == Path::Kind::kSampled ? path.time.back() - path.time.front() : path.duration;
  PathPoints points;
  for (int k = 0; k < path.instants; ++k) {
    const double t = duration * k / (path.instants - 1);
    const Moving m = at(law_at(path, t, duration));
    const Quat p = normalized(m.p);
    points.time.push_back(t);
    points.pose.position.insert(points.pose.position.end(), {m.r[0], m.r[1], m.r[2]});
    points.pose.quaternion.insert(points.pose.quaternion.end(), {p[0], p[1], p[2], p[3]});
    append_twist(points.velocity, m.velocity);
    append_twist(points.acceleration, m.acceleration);
  }
  return points;
}

}  // namespace

PathPoints sample_path(const Path& path) {
  check_path(path);
  switch (path.kind) {
    case Path::Kind::kStraight:
      return sweep(path, Straight(path));
    case Path::Kind::kScrew:
      return sweep(path, Screw(path));
    case Path::Kind::kSpline:
    case Path::Kind::kSampled:
      break;
  }
  return sweep(path, Splines(path));
}

const char* to_string(Outcome outcome) { return study::name_at(kOutcomeWords, static_cast<int>(outcome)); }

}  // namespace garra::platform
