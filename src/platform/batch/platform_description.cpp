// Checks of a platform description, and its kernel form (garra/platform.hpp).
#include <algorithm>
#include <cmath>

#include "garra/chain.hpp"
#include "garra/core/factor.hpp"
#include "garra/platform_kinematics.hpp"
#include "garra/systems/platform/legs.hpp"

namespace garra::platform {

namespace {

// Below this sine the leg and its universal joint's axis are parallel, or the anchors on one line: a leg frame would
// keep fewer than half of the digits.
constexpr double kParallel = 1e-8;
// Smallest singular value of the length Jacobian at home, turns scaled by the size of the platform.
constexpr double kSingularHome = 1e-8;
// Two anchors closer than this share of the platform's size are the same place.
constexpr double kSamePlace = 1e-12;

template <int R, int C>
bool finite_matrix(const Mat<double, R, C>& a) {
  return std::all_of(std::begin(a.m), std::end(a.m), [](double x) { return std::isfinite(x); });
}

double magnitude(const Vec3<double>& a) { return std::sqrt(dot(a, a)); }

[[noreturn]] void refuse(const Platform& p, const std::string& what, const std::string& remedy = "") {
  const std::string who = p.name.empty() ? "the platform" : "the platform \"" + p.name + "\"";
  throw Error(ExitCode::kUsage, who + ": " + what, remedy);
}

std::string leg_name(std::size_t i) { return "leg " + std::to_string(i); }

[[noreturn]] void refuse_leg(const Platform& p, std::size_t i, const std::string& what,
                             const std::string& remedy = "") {
  refuse(p, leg_name(i) + ": " + what, remedy);
}

constexpr const char* kMassRemedy =
    "Give the masses of the platform and of all tubes and rods in kg, or none of them for kinematics only.";

void check_link(const Platform& p, std::size_t i, const char* name, const Link& link) {
  const std::string of = std::string(name) + ": ";
  if (!std::isfinite(link.mass) || !std::isfinite(link.com) || !finite_matrix(link.inertia))
    refuse_leg(p, i, of + "a number is not finite");
  if (!(link.mass >= 0) || (link.mass == 0) != (p.mass == 0))
    refuse_leg(p, i, of + "the mass is not positive", kMassRemedy);
  Mat3<double> inertia = Mat3<double>::zero();
  for (int k = 0; k < 3; ++k) inertia(k, k) = link.inertia[k];
  if (!chain::is_inertia(inertia, true)) {
    refuse_leg(p, i, of + "no body has this inertia: a principal moment is negative or above the sum of the other two",
               "Give the moments about the center of mass, the last one about the leg's own axis.");
  }
}

void check_leg(const Platform& p, std::size_t i) {
  const Leg& leg = p.leg[i];
  if (!finite_matrix(leg.base)) refuse_leg(p, i, "the anchor at the base is not finite");
  if (!finite_matrix(leg.anchor)) refuse_leg(p, i, "the anchor at the platform is not finite");
  if (!finite_matrix(leg.axis)) refuse_leg(p, i, "the axis of the universal joint is not finite");
  if (magnitude(leg.axis) == 0)
    // The axis is a direction only: any nonzero length is valid, and checked() normalizes it.
    refuse_leg(p, i, "the axis of the universal joint is zero", "Give the direction that is fixed to the base.");
  check_link(p, i, "tube", leg.lower);
  check_link(p, i, "rod", leg.upper);
  if (!std::isfinite(leg.length_min) || !std::isfinite(leg.length_max))
    refuse_leg(p, i, "a length limit is not finite");
  // The shortest length is positive, since every formula of a leg divides by its length.
  if (!(leg.length_min > 0) || !(leg.length_min < leg.length_max))
    refuse_leg(p, i, "the stroke is empty", "Give 0 < shortest < longest length between the joint centers.");
  if (!(leg.universal_cone > 0) || !(leg.spherical_cone > 0))
    refuse_leg(p, i, "a cone of the joints is not positive", "Give its half angle; leave it out for no limit.");
}

/// Largest distance of anchors at one end of the legs.
double spread(const Vec3<double> (&at)[kLegs]) {
  double size = 0;
  for (int i = 1; i < kLegs; ++i) size = std::max(size, magnitude(at[i] - at[0]));
  return size;
}

/// Checks that the anchors at one end of the legs are not on a line.
void check_anchors(const Platform& p, const Vec3<double> (&at)[kLegs], const char* where) {
  const double size = spread(at);
  double area = 0;
  for (int i = 1; i < kLegs; ++i)
    for (int j = i + 1; j < kLegs; ++j) area = std::max(area, magnitude(cross(at[i] - at[0], at[j] - at[0])));
  // Twice the area of the largest triangle of anchors, relative to the platform's size: a sine, without a unit.
  if (!(area > kParallel * size * size))
    refuse(p, std::string("all anchors at the ") + where + " lie on one line", "The platform could turn about it.");
}

/// Notes joint centers that legs share: textbook platforms (6-3, 3-3, MSSM) have them, real joints
/// are millimeters apart. Two legs that share both ends are an error. Centers that differ by
/// rounding become equal.
void share_joints(Platform& p, const Vec3<double> (&base)[kLegs], const Vec3<double> (&anchor)[kLegs]) {
  const double at_base = kSamePlace * spread(base), at_platform = kSamePlace * spread(anchor);
  std::string shared[2];
  for (int i = 0; i < kLegs; ++i) {
    for (int j = i + 1; j < kLegs; ++j) {
      const bool one = !(magnitude(base[i] - base[j]) > at_base),
                 other = !(magnitude(anchor[i] - anchor[j]) > at_platform);
      const std::string pair = std::to_string(i) + " and " + std::to_string(j);
      Leg &first = p.leg[static_cast<std::size_t>(i)], &second = p.leg[static_cast<std::size_t>(j)];
      // Equal to the bit, so that share_joint() in systems/platform/limits.hpp can ask for equality.
      if (one) second.base = first.base;
      if (other) second.anchor = first.anchor;
      if (one && other)
        refuse(p, "legs " + pair + " have the same anchors at both ends: they are one leg",
               "A platform has six different legs.");
      for (const auto& [is, end] : {std::pair{one, 0}, std::pair{other, 1}})
        if (is) shared[end] += (shared[end].empty() ? "" : ", ") + pair;
    }
  }
  for (int end = 0; end < 2; ++end)
    if (!shared[end].empty())
      p.notes.push_back("legs " + shared[end] + " share a joint center at the " + (end == 0 ? "base" : "platform") +
                        "; collisions of these pairs are not looked at");
}

/// 1/|J^-1| of the length Jacobian, a lower bound of its smallest singular value; 0 if it is
/// singular.
double regularity(const Model<double>& m, const Place<double>& home) {
  const Mat3<double> A = rotation_matrix(home.p);
  double reach = 0;
  // This lever converts rotations to lengths.
  for (const LegForm<double>& leg : m.leg) reach = std::max(reach, magnitude(leg.anchor));
  Mat<double, 6, 6> J;
  for (int i = 0; i < kLegs; ++i) {
    const Vec<double, 6> row = length_row(leg_vector<double>(m.leg[i], home.r, A));
    for (int j = 0; j < 6; ++j) J(i, j) = j < 3 ? row[j] : row[j] / reach;
  }
  // sigma_min = 1/|J^-1|_2 >= 1/|J^-1|_F: a solve is enough, no singular values.
  const Lu<double, 6> lu = factor_lu(J);
  if (lu.bad_pivots > 0) return 0;
  const Mat<double, 6, 6> inverse = solve(lu, Mat<double, 6, 6>::identity());
  double sum = 0;
  for (const double x : inverse.m) sum += x * x;
  return 1 / std::sqrt(sum);
}

void check_home(const Platform& p) {
  const Model<double> m = make_model(p);
  const Place<double> home = home_place(p);
  const Mat3<double> A = rotation_matrix(home.p);
  for (std::size_t i = 0; i < p.leg.size(); ++i) {
    const LegVector<double> l = leg_vector<double>(m.leg[i], home.r, A);
    if (!(l.length >= p.leg[i].length_min && l.length <= p.leg[i].length_max)) {
      refuse_leg(p, i,
                 "its length at home is " + std::to_string(l.length) + " m, out of the stroke, " +
                     std::to_string(p.leg[i].length_min) + " to " + std::to_string(p.leg[i].length_max) + " m",
                 p.leg[i].length_min > 50 * l.length ? "Write the stroke in meters, or with its unit: \"88 mm\"."
                                                     : "Choose another home pose or stroke.");
    }
    if (!(magnitude(cross(l.z, p.leg[i].axis)) > kParallel)) {
      refuse_leg(p, i, "the axis of its universal joint is parallel to the leg at home",
                 "The joint is singular there: turn the axis, e.g. across the leg.");
    }
  }
  if (!(regularity(m, home) > kSingularHome)) {
    refuse(p, "the home pose is singular: the platform can move there with all legs locked",
           "Choose another home pose, e.g. without the turn of 90 degrees about the vertical, or other anchors.");
  }
}

}  // namespace

Platform checked(const Platform& platform) {
  Platform p = platform;
  if (!std::isfinite(p.mass) || !finite_matrix(p.inertia)) refuse(p, "mass or inertia is not finite");
  if (!(p.mass >= 0)) refuse(p, "the mass is not positive", kMassRemedy);
  if (!chain::is_inertia(p.inertia, true)) {
    refuse(p,
           "no body has this inertia: it is not symmetric, or a principal moment is negative or above the sum of the "
           "other two",
           "Give it about the center of mass, in platform axes.");
  }
  if (!finite_matrix(p.gravity)) refuse(p, "gravity is not finite");
  if (!finite_matrix(p.home) || !finite_matrix(p.home_turn)) refuse(p, "the home pose is not finite");
  if (!(dot(p.home_turn, p.home_turn) > 0)) refuse(p, "the quaternion of the home pose is zero");
  if (!std::isfinite(p.leg_radius) || p.leg_radius < 0)
    refuse(p, "the radius of the legs is negative or not finite", "Give 0 where collisions do not matter.");
  for (std::size_t i = 0; i < p.leg.size(); ++i) check_leg(p, i);
  Vec3<double> base[kLegs], anchor[kLegs];
  for (std::size_t i = 0; i < p.leg.size(); ++i) base[i] = p.leg[i].base, anchor[i] = p.leg[i].anchor;
  // A second check must not duplicate the notes.
  p.notes.clear();
  // Before the anchors are checked and after `base` and `anchor` are copied: distances are those of
  // the input.
  share_joints(p, base, anchor);
  check_anchors(p, base, "base");
  check_anchors(p, anchor, "platform");
  // A unit vector up to rounding stays unchanged: a file's numbers are restored exactly.
  const auto unit = [](auto& a) {
    const double square = dot(a, a);
    if (std::abs(square - 1) > 1e-15) a = (1 / std::sqrt(square)) * a;
  };
  for (Leg& leg : p.leg) unit(leg.axis);
  unit(p.home_turn);
  // Last: it needs unit vectors and legs that are known to have a frame.
  check_home(p);
  return p;
}

void require_masses(const Platform& platform) {
  if (!(platform.mass > 0)) refuse(platform, "forces and motion need its masses", kMassRemedy);
}

double characteristic_length(const Platform& platform) {
  Vec3<double> mean = Vec3<double>::zero();
  for (const Leg& leg : platform.leg) mean += (1.0 / kLegs) * leg.anchor;
  double squares = 0;
  for (const Leg& leg : platform.leg) squares += dot(leg.anchor - mean, leg.anchor - mean);
  return std::sqrt(squares / kLegs);
}

double characteristic_length(const Platforms& platforms, double asked) {
  return asked > 0 || platforms.empty() ? asked : characteristic_length(platforms.front());
}

namespace {

/// The machine stands as before: anchors shift against the frame, and home shifts with it.
void move_frame(Platform& p, const Vec3<double>& by) {
  for (Leg& leg : p.leg) leg.anchor = leg.anchor - by;
  p.home = p.home + rotation_matrix(normalized(p.home_turn)) * by;
}

}  // namespace

Platform with_tool(const Platform& platform, const Vec3<double>& tool) {
  if (!finite_matrix(tool)) refuse(platform, "the tool is not finite");
  Platform p = platform;
  move_frame(p, tool);
  p.mass = 0;
  p.inertia = Mat3<double>::zero();
  for (Leg& leg : p.leg) leg.lower = leg.upper = {};
  return p;
}

Platform with_payload(const Platform& platform, double mass, const Vec3<double>& com, const Mat3<double>& inertia) {
  if (!std::isfinite(mass) || !(mass >= 0) || !finite_matrix(com) || !finite_matrix(inertia) ||
      !chain::is_inertia(inertia, true)) {
    refuse(platform, "this payload is no body: a number is not finite, its mass negative or its inertia impossible",
           "Give the inertia about the payload's own center of mass, in platform axes.");
  }
  // About the common center of mass, by the parallel axes' theorem on both sides.
  const chain::Body both = chain::merge({platform.mass, Vec3<double>::zero(), platform.inertia}, {mass, com, inertia},
                                        Pose<double>::identity());
  Platform p = platform;
  p.mass = both.mass;
  p.inertia = both.inertia;
  move_frame(p, both.com);  // its origin is the center of mass
  return p;
}

Model<double> make_model(const Platform& platform) {
  Model<double> m;
  for (std::size_t i = 0; i < platform.leg.size(); ++i) {
    const Leg& leg = platform.leg[i];
    m.leg[i] = {leg.base,      leg.anchor,    leg.axis,          leg.lower.mass,   leg.upper.mass,
                leg.lower.com, leg.upper.com, leg.lower.inertia, leg.upper.inertia};
  }
  const Mat3<double>& I = platform.inertia;
  m.mass = platform.mass;
  m.xx = I(0, 0), m.yy = I(1, 1), m.zz = I(2, 2);
  m.xy = I(0, 1), m.xz = I(0, 2), m.yz = I(1, 2);
  m.gravity = platform.gravity;
  return m;
}

Limits<double> make_limits(const Platform& platform) {
  const Model<double> m = make_model(platform);
  const Place<double> home = home_place(platform);
  const Mat3<double> A = rotation_matrix(home.p);
  // cos(pi) allows every direction: no limit.
  const auto cosine = [](double cone) { return cone < 3.14159265358979323846 ? std::cos(cone) : -1; };
  Limits<double> limits;
  for (int i = 0; i < kLegs; ++i) {
    const Leg& leg = platform.leg[static_cast<std::size_t>(i)];
    const Vec3<double> z = leg_vector<double>(m.leg[i], home.r, A).z;
    limits.length_min[i] = leg.length_min;
    limits.length_max[i] = leg.length_max;
    limits.universal_axis[i] = z;
    // In platform axes: the cone of a spherical joint turns with the platform.
    limits.spherical_axis[i] = transpose_times(A, z);
    limits.universal_cos[i] = cosine(leg.universal_cone);
    limits.spherical_cos[i] = cosine(leg.spherical_cone);
  }
  limits.clearance = 2 * platform.leg_radius;
  return limits;
}

Place<double> home_place(const Platform& platform) { return {platform.home, platform.home_turn}; }

}  // namespace garra::platform
