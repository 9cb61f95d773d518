// Quasi-static closing of a parallel jaw (docs/howto/grasp-poses.md).
#include "grasp/touch/jaw.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "garra/math/rotation_vector.hpp"

namespace garra::grasp {
namespace {

constexpr double kCoarse = 3;        ///< cells of the palm, and while the object turns, are larger by this factor
constexpr double kSteepest = 0.2;    ///< cosine: surfaces that are steeper to the pad bear no force
constexpr double kFirstTouch = 0.9;  ///< the normal is that of cells with more than this share of the deepest's weight
constexpr double kBorder = 0.75;     ///< the middle of a cell at a pad's edge is nearer to it, in sides of a cell
constexpr int kMaxSteps = 60;        ///< turns of an object
constexpr double kMaxStep = 0.15;    ///< of a turn [rad]
constexpr double kSmallestStep = 4e-3;  ///< the object rests where turns change their sense below this [rad]
constexpr double kRounding = 1e-6;      ///< of the line between the pads' forces [rad]
constexpr double kStanding = 0.3;       ///< cosine: a table prevents turns about axes farther from its normal

Vec3<double> x_axis(double x) { return vec3(x, 0.0, 0.0); }

/// Angle of a rotation [rad].
double rotation_angle(const Mat3<double>& R) {
  const Vec3<double> sine = vec3(R(2, 1) - R(1, 2), R(0, 2) - R(2, 0), R(1, 0) - R(0, 1));
  return std::atan2(norm(sine), R(0, 0) + R(1, 1) + R(2, 2) - 1);
}

/// Centers of n equal parts of [low, high].
double cell_center(double low, double high, int n, int i) { return low + (high - low) * (i + 0.5) / n; }
int cell_count(double length, double cell) {
  return std::clamp(static_cast<int>(std::ceil(length / cell - 1e-9)), 1, 200);
}

}  // namespace

mesh::RayGrid JawClosing::to_grid(const Pose<double>& hand, const Rays& r) {
  mesh::RayGrid grid;
  const Vec3<double> u = (1.0 / r.nu) * r.u, v = (1.0 / r.nv) * r.v;
  grid.from = hand.R * (r.corner + 0.5 * (u + v)) + hand.p;
  grid.u = hand.R * u;
  grid.v = hand.R * v;
  grid.nu = r.nu;
  grid.nv = r.nv;
  grid.along = hand.R * r.along;
  grid.most = r.most;
  return grid;
}

std::vector<mesh::GridHit> JawClosing::cast(const Pose<double>& hand, const Rays& rays) const {
  std::vector<mesh::GridHit> out;
  object_.hits(to_grid(hand, rays), mesh::Crossing::kAny, out);
  return out;
}

/// Shift of the object along x after which both fingers are beside it.
JawClosing::Fit JawClosing::fit(const Pose<double>& hand) const {
  const ParallelJaw& jaw = o_.jaw;
  const double half = jaw.opening / 2, start = half + o_.max_push;
  double reach[2] = {-start, -start};  // outermost surface on each side, along the side's direction
  Fit out;
  for (int side = 0; side < 2; ++side) {
    const double sign = side == 0 ? 1 : -1;
    const Rays rays{vec3(sign * start, -jaw.pad_width / 2, jaw.palm),
                    vec3(0.0, jaw.pad_width, 0.0),
                    vec3(0.0, 0.0, jaw.tip - jaw.palm),
                    cell_count(jaw.pad_width, o_.cell),
                    cell_count(jaw.tip - jaw.palm, o_.cell),
                    x_axis(-sign),
                    2 * start};
    for (const mesh::GridHit& hit : cast(hand, rays)) {
      if (!std::isfinite(hit.distance)) continue;
      out.touches = true;
      if (dot(hit.normal, hand.R * x_axis(-sign)) > 0) {  // the finger starts within the object
        out.collides = true;
        out.depth = std::max(out.depth, o_.max_push + std::min(hit.distance, jaw.opening));
        continue;
      }
      reach[side] = std::max(reach[side], start - hit.distance);
    }
  }
  const double lowest = reach[1] - half, highest = half - reach[0];  // of the shift
  out.shift = std::clamp(0.0, std::min(lowest, highest), std::max(lowest, highest));
  if (lowest > highest) {
    out.collides = true;
    out.shift = (lowest + highest) / 2;
  }
  out.depth = std::max({out.depth, lowest, -highest, 0.0});
  out.collides |= std::abs(out.shift) > o_.max_push;
  return out;
}

/// Depth of fingers and palm in the object [m]; 0 if they are free.
double JawClosing::obstacle(const Pose<double>& hand) const {
  const ParallelJaw& jaw = o_.jaw;
  double depth = 0;
  const auto probe = [&](const Vec3<double>& corner, double length, double width, double cell, double high) {
    if (!(high > corner[2])) return;
    const Rays rays{corner,
                    x_axis(length),
                    vec3(0.0, width, 0.0),
                    cell_count(length, cell),
                    cell_count(width, cell),
                    vec3(0.0, 0.0, 1.0),
                    high - corner[2]};
    for (const mesh::GridHit& hit : cast(hand, rays))
      if (std::isfinite(hit.distance)) depth = std::max(depth, rays.most - hit.distance);
  };
  for (const double x : {jaw.opening / 2, -jaw.opening / 2 - jaw.thickness})
    probe(vec3(x, -jaw.pad_width / 2, jaw.palm), jaw.thickness, jaw.pad_width, o_.cell, jaw.tip);
  probe(vec3(-jaw.palm_length / 2, -jaw.palm_width / 2, 0.0), jaw.palm_length, jaw.palm_width, kCoarse * o_.cell,
        jaw.palm);
  return depth;
}

/// Cells of the pads within `depth` of first touch. The pressure is proportional to the depth (Winkler's foundation).
std::array<Patch, 2> JawClosing::press(const Pose<double>& hand, double cell) const {
  const ParallelJaw& jaw = o_.jaw;
  // Rays start behind the pads: a face that a finger has pushed is in the plane of its pad.
  const double start = jaw.opening / 2 + o_.depth;
  const int ny = cell_count(jaw.pad_width, cell), nz = cell_count(jaw.pad_height, cell);
  const Rays rays{vec3(start, -jaw.pad_width / 2, jaw.tip - jaw.pad_height),
                  vec3(0.0, jaw.pad_width, 0.0),
                  vec3(0.0, 0.0, jaw.pad_height),
                  ny,
                  nz,
                  x_axis(-1),
                  2 * start};
  std::array<std::vector<mesh::GridHit>, 2> hits;
  object_.spans(to_grid(hand, rays), hits[0], hits[1]);
  std::array<Patch, 2> out;
  for (int side = 0; side < 2; ++side) {
    const double sign = side == 0 ? 1 : -1;
    Patch& patch = out[static_cast<std::size_t>(side)];
    double first = -start;
    for (int i = 0; i < ny; ++i)
      for (int j = 0; j < nz; ++j) {
        const mesh::GridHit& hit = hits[static_cast<std::size_t>(side)][static_cast<std::size_t>(i * nz + j)];
        if (!std::isfinite(hit.distance)) continue;
        const Vec3<double> normal = transpose(hand.R) * hit.normal;
        if (sign * normal[0] < kSteepest) continue;
        const double y = cell_center(-jaw.pad_width / 2, jaw.pad_width / 2, ny, i);
        const double z = cell_center(jaw.tip - jaw.pad_height, jaw.tip, nz, j);
        patch.cells.push_back({y, z, start - hit.distance, normal});
        first = std::max(first, sign * patch.cells.back().x);
      }
    spread(sign * first, jaw.pad_width / ny, jaw.pad_height / nz, patch);
  }
  return out;
}

/// Keeps the cells that bear force, and computes center and moments. `x`: of first touch; dy, dz: sides of a cell.
void JawClosing::spread(double x, double dy, double dz, Patch& patch) const {
  std::erase_if(patch.cells, [&](const PadCell& c) { return std::abs(x - c.x) >= o_.depth; });
  double sum = 0;
  for (PadCell& c : patch.cells) {
    c.weight = o_.depth - std::abs(x - c.x);
    sum += c.weight;
    patch.y += c.weight * c.y;
    patch.z += c.weight * c.z;
  }
  if (sum == 0) return;
  patch.x = x;
  patch.y /= sum;
  patch.z /= sum;
  for (PadCell& c : patch.cells) {
    c.weight /= sum;
    const double y = c.y - patch.y, z = c.z - patch.z;
    patch.yy += c.weight * y * y;
    patch.yz += c.weight * y * z;
    patch.zz += c.weight * z * z;
  }
  patch.yy += dy * dy / 12;
  patch.zz += dz * dz / 12;
}

/// Turns the object about axes across x until the line between the pads' forces lies in the friction cones of both
/// pads. A standing object turns about the table's normal only.
TouchStatus JawClosing::turn(Result& r, const std::optional<Vec3<double>>& up) const {
  double limit = kMaxStep, cell = kCoarse * o_.cell;
  const Mat3<double> first = r.hand.R;
  Vec3<double> former = Vec3<double>::zero();
  for (int step = 0; step < kMaxSteps; ++step) {
    auto [a, b] = press(r.hand, cell);
    const auto misses = [&] { return a.cells.empty() || b.cells.empty(); };
    if (misses() && cell > o_.cell) {
      cell = o_.cell;  // the object may be next to a pad's border
      std::array<Patch, 2> fine = press(r.hand, cell);
      a = std::move(fine[0]), b = std::move(fine[1]);
    }
    if (misses())
      return step > 0                             ? TouchStatus::kPushedAway
             : a.cells.empty() && b.cells.empty() ? TouchStatus::kNoTouch
                                                  : TouchStatus::kOneSide;
    const double y = a.y - b.y, z = a.z - b.z, offset = std::hypot(y, z), width = std::max(a.x - b.x, 1e-4);
    if (offset == 0) return TouchStatus::kTouched;
    const double excess = offset - o_.closing_friction * width;
    if (excess <= kRounding * width) return TouchStatus::kTouched;
    Vec3<double> axis = vec3(0.0, -z / offset, y / offset);
    if (up) {
      const Vec3<double> n = transpose(r.hand.R) * *up;
      const double along = dot(axis, n);
      if (std::abs(along) < kStanding) return TouchStatus::kTouched;
      axis = (along > 0 ? 1.0 : -1.0) * n;
    }
    if (dot(axis, former) < 0) limit /= 3;
    if (limit < kSmallestStep) return TouchStatus::kTouched;
    former = axis;
    const double angle = std::min(limit, std::max(0.8 * excess / width, kSmallestStep));
    // The hand turns the other way about the middle of the two forces.
    const Vec3<double> middle = vec3((a.x + b.x) / 2, (a.y + b.y) / 2, (a.z + b.z) / 2);
    const Mat3<double> R = rotation_matrix(quaternion_of_turn(-angle * axis));
    r.hand = r.hand * Pose<double>{R, middle - R * middle};
    r.rotation = r.hand.R * transpose(first);
    r.turn = rotation_angle(r.rotation);
    if (r.turn > o_.max_turn) return TouchStatus::kPushedAway;
  }
  return TouchStatus::kTouched;
}

JawClosing::Result JawClosing::close(const Pose<double>& hand, const std::optional<Vec3<double>>& up) const {
  Result r;
  r.hand = hand;
  const Fit f = fit(hand);
  r.collision = f.depth;
  if (!f.collides) {
    r.shift = f.shift;
    r.hand.p = r.hand.p + r.hand.R * x_axis(-f.shift);
  }
  r.collision = std::max(r.collision, obstacle(r.hand));
  if (f.collides || r.collision > f.depth) {
    r.status = TouchStatus::kCollision;
    return r;
  }
  r.status = o_.close ? turn(r, up) : TouchStatus::kTouched;
  if (r.status != TouchStatus::kTouched) return r;
  auto [a, b] = press(r.hand, o_.cell);
  r.patch[0] = std::move(a);
  r.patch[1] = std::move(b);
  if (!r.patch[0].cells.empty() && !r.patch[1].cells.empty()) {
    // The fingers close symmetrically: the object ends in the middle between them.
    const double middle = (r.patch[0].x + r.patch[1].x) / 2;
    r.shift -= middle;
    r.hand.p = r.hand.p + r.hand.R * x_axis(middle);
    for (Patch& patch : r.patch) {
      patch.x -= middle;
      for (PadCell& c : patch.cells) c.x -= middle;
    }
  }
  const bool none = r.patch[0].cells.empty() && r.patch[1].cells.empty();
  if (r.patch[0].cells.empty() || r.patch[1].cells.empty())
    r.status = none ? TouchStatus::kNoTouch : r.turn > 0 ? TouchStatus::kPushedAway : TouchStatus::kOneSide;
  return r;
}

/// The flat of the pad touches the object inside the pad: a ball, an edge of the object. The pad's edge touches where
/// the surface comes nearer beyond it, and then the normal is the surface's.
Vec3<double> JawClosing::normal_of(const Patch& patch) const {
  const auto deepest = std::ranges::max_element(patch.cells, {}, &PadCell::weight);
  Vec3<double> normal = Vec3<double>::zero();
  for (const PadCell& c : patch.cells)
    normal = normal + std::max(0.0, c.weight - kFirstTouch * deepest->weight) * c.normal;
  const auto keep = [&](double at, double low, double high, int axis) {
    const double border = kBorder * (high - low) / cell_count(high - low, o_.cell);
    const bool touches_edge = (at < low + border && normal[axis] > 0) || (at > high - border && normal[axis] < 0);
    if (!touches_edge) normal[axis] = 0;
  };
  keep(deepest->y, -o_.jaw.pad_width / 2, o_.jaw.pad_width / 2, 1);
  keep(deepest->z, o_.jaw.tip - o_.jaw.pad_height, o_.jaw.tip, 2);
  return (1 / norm(normal)) * normal;
}

std::vector<PadContact> JawClosing::contacts(const Patch& patch) const {
  const double mean = (patch.yy + patch.zz) / 2, spread = std::hypot((patch.yy - patch.zz) / 2, patch.yz);
  const double angle = 0.5 * std::atan2(2 * patch.yz, patch.yy - patch.zz);
  const double c = std::cos(angle), s = std::sin(angle);
  // Two pairs of points on the principal axes have the moments mean +- spread.
  const double first = std::sqrt(2 * (mean + spread)), second = std::sqrt(2 * std::max(mean - spread, 0.0));
  std::vector<std::array<double, 2>> places;
  if (o_.soft)
    places = {{patch.y, patch.z}};
  else
    places = {{patch.y + first * c, patch.z + first * s},
              {patch.y - first * c, patch.z - first * s},
              {patch.y - second * s, patch.z + second * c},
              {patch.y + second * s, patch.z - second * c}};
  const Vec3<double> normal = normal_of(patch);
  std::vector<PadContact> out(places.size(), {Vec3<double>::zero(), normal, {}});
  for (std::size_t k = 0; k < places.size(); ++k) {
    double near = std::numeric_limits<double>::infinity();
    for (const PadCell& cell : patch.cells) {
      const double distance = std::hypot(cell.y - places[k][0], cell.z - places[k][1]);
      if (distance >= near) continue;
      near = distance;
      out[k].point = vec3(cell.x, places[k][0], places[k][1]);  // on the surface
    }
  }
  return out;
}

}  // namespace garra::grasp
