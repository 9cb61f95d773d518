// grasp::touch: draws poses, closes the jaw, and makes a set of the contacts.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "garra/batch/parallel.hpp"
#include "garra/core/error.hpp"
#include "garra/core/normal.hpp"
#include "garra/math/rotation_vector.hpp"
#include "grasp/touch/jaw.hpp"

namespace garra::grasp {
namespace {

constexpr std::int64_t kMaxGrasps = 100'000'000;
constexpr double kFingerMass = 0.05;  ///< of each moving finger [kg]; only accelerations of the jaw depend on it

void require(bool holds, const std::string& problem, const std::string& remedy = {}) {
  if (!holds) throw Error(ExitCode::kUsage, problem, remedy);
}

std::string shown(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", x);
  return text;
}

template <class T, std::size_t n>
void check_numbers(const T& of, const TouchNumber<T> (&numbers)[n]) {
  for (const TouchNumber<T>& number : numbers) {
    const double value = of.*number.value;
    require(value >= number.low && value < number.high,
            std::string(number.name) + " = " + shown(value) + " is out of range",
            std::string(number.text) + ", " + shown(number.low) + " to " + shown(number.high) + ".");
  }
}

void check_touch_options(const TouchOptions& o, std::int64_t poses) {
  check_numbers(o.jaw, kJawNumbers);
  check_numbers(o, kTouchNumbers);
  require(o.jaw.palm < o.jaw.tip && o.jaw.pad_height <= o.jaw.tip, "the fingers end below the palm or their pads",
          "tip is the height of the fingertips above the hand's base.");
  require(o.draws >= 1 && o.draws <= kMaxGrasps / std::max<std::int64_t>(poses, 1),
          "draws = " + std::to_string(o.draws) + " of " + std::to_string(poses) + " poses", "1e8 grasps are possible.");
  require(o.scale.empty() || std::ssize(o.scale) == poses, "scale has " + std::to_string(o.scale.size()) + " numbers",
          "Write one for each pose.");
  for (const double s : o.scale)
    require(s > 1e-6 && s < 1e6, "scale = " + shown(s) + " is out of range", "A factor on the object's lengths.");
  require(o.up.empty() || o.up.size() == 3 || std::ssize(o.up) == 3 * poses,
          "up has " + std::to_string(o.up.size()) + " numbers", "Write 3, or 3 for each pose.");
}

/// Pose from 16 numbers; nothing unless it is a finite rotation and translation.
std::optional<Pose<double>> read_pose(const double* m) {
  constexpr double kOrthogonal = 1e-3;
  Pose<double> x;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) x.R(i, j) = m[4 * i + j];
    x.p[i] = m[4 * i + 3];
  }
  const Vec3<double> a = column(x.R, 0), b = column(x.R, 1), c = column(x.R, 2);
  const double off =
      std::max({std::abs(norm(a) - 1), std::abs(norm(b) - 1), std::abs(dot(a, b)), norm(cross(a, b) - c)});
  if (!(off < kOrthogonal) || !std::isfinite(norm(x.p)) || m[12] != 0 || m[13] != 0 || m[14] != 0 ||
      std::abs(m[15] - 1) > kOrthogonal)
    return std::nullopt;
  const Vec3<double> ax = (1 / norm(a)) * a, raw = b - dot(ax, b) * ax, by = (1 / norm(raw)) * raw, cz = cross(ax, by);
  for (int i = 0; i < 3; ++i) {
    x.R(i, 0) = ax[i];
    x.R(i, 1) = by[i];
    x.R(i, 2) = cz[i];
  }
  return x;
}

/// Error of the hand's pose about the middle between the pads, for sample g.
Pose<double> draw_error(const TouchOptions& o, std::uint64_t g) {
  Pose<double> x = Pose<double>::identity();
  if (o.position_noise == 0 && o.rotation_noise == 0) return x;
  mesh::Draws draws(o.seed, g);
  Vec3<double> position, turn;
  for (int i = 0; i < 3; ++i) position[i] = o.position_noise * normal_quantile(draws.next());
  for (int i = 0; i < 3; ++i) turn[i] = o.rotation_noise * normal_quantile(draws.next());
  const Vec3<double> middle = vec3(0.0, 0.0, o.jaw.tip - o.jaw.pad_height / 2);
  x.R = rotation_matrix(quaternion_of_turn(turn));
  x.p = middle + position - x.R * middle;
  return x;
}

/// Options with all lengths times a factor.
TouchOptions sized_options(double factor, TouchOptions out) {
  for (double TouchOptions::*length :
       {&TouchOptions::depth, &TouchOptions::cell, &TouchOptions::max_push, &TouchOptions::position_noise})
    out.*length *= factor;
  const double force = out.jaw.force;
  for (const TouchNumber<ParallelJaw>& number : kJawNumbers) out.jaw.*number.value *= factor;
  out.jaw.force = force;
  return out;
}

/// Curvature of the surface near a point along direction t and across, by Euler's theorem.
std::array<double, 2> curvature_along(const mesh::Surface& object, const Vec3<double>& point, const Vec3<double>& t) {
  const mesh::Place at = object.nearest(point).place;
  const double x = dot(at.tangent, t), y = dot(cross(at.normal, at.tangent), t), square = x * x + y * y;
  const double share = square > 0 ? x * x / square : 1;
  return {share * at.curvature[0] + (1 - share) * at.curvature[1],
          share * at.curvature[1] + (1 - share) * at.curvature[0]};
}

struct Row {
  JawClosing::Result result;
  std::vector<PadContact> contacts[2];

  /// The same of an object of another size.
  void resize_object(double factor) {
    result.hand.p = factor * result.hand.p;
    for (double* length : {&result.collision, &result.shift}) *length *= factor;
    for (int side = 0; side < 2; ++side) {
      Patch& patch = result.patch[side];
      patch.x *= factor;
      for (double* square : {&patch.yy, &patch.yz, &patch.zz}) *square *= factor * factor;
      for (PadContact& c : contacts[side]) {
        c.point = factor * c.point;
        for (double& k : c.curvature) k /= factor;
      }
    }
  }
};

class Sets {
 public:
  Sets(const TouchOptions& o, std::int64_t poses) : o_(o), count_(poses * o.draws) {}

  [[nodiscard]] Touched collect(const std::vector<Row>& rows, mesh::Body body) const {
    Touched out;
    out.body = body;
    out.set.first = {0};
    for (std::int64_t g = 0; g < count_; ++g) append_row(rows[static_cast<std::size_t>(g)], g, out);
    if (out.set.first.back() == 0) {  // without contacts there is no hand
      out.set.mass_matrix.clear();
      out.set.torque.clear();
    }
    return out;
  }

 private:
  void append_row(const Row& row, std::int64_t g, Touched& out) const {
    const auto put = [](std::vector<double>& to, const Vec3<double>& v) { to.insert(to.end(), v.m, v.m + 3); };
    const JawClosing::Result& r = row.result;
    GraspSet& set = out.set;
    double width = std::nan("");
    if (r.status == TouchStatus::kTouched) {
      width = r.patch[0].x - r.patch[1].x;
      for (int side = 0; side < 2; ++side)
        for (const PadContact& c : row.contacts[side]) {
          put(set.point, r.hand.R * c.point + r.hand.p);
          put(set.normal, -(r.hand.R * c.normal));
          put(set.tangent, r.hand.R * vec3(0.0, 0.0, 1.0));
          set.curvature.insert(set.curvature.end(), c.curvature.begin(), c.curvature.end());
          set.friction.push_back(o_.friction);
          set.pad.push_back(side);
          put(set.jacobian, r.hand.R * vec3(side == 0 ? -1.0 : 1.0, 0.0, 0.0));
          if (!o_.soft) continue;
          // A pad of even pressure on a disk of radius a has yy + zz = a^2 / 2 and bears mu F 2 a / 3 about its normal.
          set.torsion_radius.push_back(2.0 / 3 * std::sqrt(2 * (r.patch[side].yy + r.patch[side].zz)));
          set.angular_jacobian.insert(set.angular_jacobian.end(), 3, 0.0);
        }
    }
    set.first.push_back(std::ssize(set.point) / 3);
    const mesh::Body body = scaled_body(g, out.body);
    set.mass.push_back(body.mass);
    set.com.insert(set.com.end(), body.com.m, body.com.m + 3);
    set.inertia.insert(set.inertia.end(), body.inertia.m, body.inertia.m + 9);
    if (!o_.up.empty()) {
      const double* up = o_.up.data() + (o_.up.size() == 3 ? 0 : 3 * (g / o_.draws));
      const double length = std::hypot(up[0], up[1], up[2]);
      for (int i = 0; i < 3; ++i) set.gravity.push_back(-9.81 * up[i] / length);
    } else {
      // Gravity stays where it is, and the hand too, while the object turns.
      put(set.gravity, r.rotation * vec3(0.0, 0.0, -9.81));
    }
    if (o_.moment_length > 0) set.moment_length.push_back(o_.moment_length);
    set.pose_number.push_back(static_cast<double>(g / o_.draws));
    set.mass_matrix.push_back(2 * kFingerMass);
    set.torque.push_back(2 * o_.jaw.force);
    out.status.push_back(static_cast<std::uint8_t>(r.status));
    out.collision.push_back(r.collision);
    out.turn.push_back(r.turn);
    out.rotation.insert(out.rotation.end(), r.rotation.m, r.rotation.m + 9);
    out.shift.push_back(r.shift);
    out.width.push_back(width);
    for (int i = 0; i < 3; ++i)
      out.pose.insert(out.pose.end(), {r.hand.R(i, 0), r.hand.R(i, 1), r.hand.R(i, 2), r.hand.p[i]});
    out.pose.insert(out.pose.end(), {0, 0, 0, 1});
  }

  /// The body at the scale of grasp g.
  [[nodiscard]] mesh::Body scaled_body(std::int64_t g, const mesh::Body& body) const {
    if (o_.scale.empty()) return body;
    const double s = o_.scale[static_cast<std::size_t>(g / o_.draws)];
    mesh::Body out{s * s * s * body.mass, s * body.com, s * s * body.inertia};
    out.inertia = (out.mass / body.mass) * out.inertia;
    return o_.mass > 0 ? out.with_mass(o_.mass) : out;
  }

  const TouchOptions& o_;
  std::int64_t count_;
};

}  // namespace

Touched touch(const mesh::Surface& object, std::span<const double> poses, const TouchOptions& o, const Device& device) {
  require(poses.size() % 16 == 0, "poses has " + std::to_string(poses.size()) + " numbers, not 16 for each pose");
  const std::int64_t count = std::ssize(poses) / 16;
  check_touch_options(o, count);
  const mesh::Body body = mesh::weigh(object, o.mass, o.density);
  std::vector<Row> rows(static_cast<std::size_t>(count * o.draws));
  TouchOptions bare = o;  // a copy without lists is cheap
  bare.scale = bare.up = {};
  batch::for_blocks(study_threads(device), {std::ssize(rows), 16}, [&](std::int64_t first, std::int64_t n) {
    for (std::int64_t g = first; g < first + n; ++g) {
      Row& row = rows[static_cast<std::size_t>(g)];
      const std::int64_t p = g / o.draws;
      std::optional<Vec3<double>> up;
      if (!o.up.empty()) {
        const double* u = o.up.data() + (o.up.size() == 3 ? 0 : 3 * p);
        up = vec3(u[0], u[1], u[2]);
        up = (1 / norm(*up)) * *up;
      }
      const double scale = o.scale.empty() ? 1 : o.scale[static_cast<std::size_t>(p)];
      auto pose = read_pose(poses.data() + 16 * p);
      if (!pose || (up && !std::isfinite(norm(*up)))) {
        row.result.status = TouchStatus::kBadPose;
        row.result.hand = Pose<double>::identity();
        continue;
      }
      // The hand shrinks in place of an object that grows.
      const TouchOptions own = scale == 1 ? bare : sized_options(1 / scale, bare);
      const JawClosing sized(object, own);
      pose->p = (1 / scale) * pose->p;
      row.result = sized.close(*pose * draw_error(own, static_cast<std::uint64_t>(g)), up);
      if (row.result.status == TouchStatus::kTouched)
        for (int side = 0; side < 2; ++side) {
          row.contacts[side] = sized.contacts(row.result.patch[side]);
          const Pose<double>& at = row.result.hand;
          for (PadContact& c : row.contacts[side])
            c.curvature = curvature_along(object, at.R * c.point + at.p, column(at.R, 2));
          row.result.patch[side].cells = {};
        }
      row.resize_object(scale);
    }
  });
  return Sets(o, count).collect(rows, body);
}

}  // namespace garra::grasp
