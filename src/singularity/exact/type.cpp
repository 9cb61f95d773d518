// Wrist, elbow and shoulder: which factor of the determinant vanishes (docs/theory/singularity.md).
#include <algorithm>
#include <cmath>
#include <optional>

#include "garra/math/screw_algebra.hpp"
#include "garra/singularity.hpp"

namespace garra::singularity {

namespace {

constexpr double kParallel = 2e-3;  ///< axes count as parallel [rad]
constexpr double kMeet = 1e-3;      ///< axes meet: in parts of the arm's size
constexpr double kVanishes = 1e-2;  ///< a factor, where the arm has its structure only nearly
constexpr double kZero = 1e-6;      ///< a factor that vanishes beside a smaller one

/// Of the point p of what the screw moves.
Vec3<double> velocity_at(const Screw<double>& s, const Vec3<double>& p) { return s.v + cross(s.w, p); }

bool parallel(const Screw<double>& a, const Screw<double>& b) {
  return norm(a.w) > 0 && norm(b.w) > 0 && norm(cross(a.w, b.w)) <= kParallel;
}

/// Where the axes first ... last meet.
std::optional<Vec3<double>> meeting_point(const ScrewSet& set, int first, int last, double size) {
  const ScrewSet part{{set.screw.begin() + first, set.screw.begin() + last + 1}};
  const Vec3<double> p = natural_scaling(part).origin;
  for (const Screw<double>& s : part.screw)
    if (norm(s.w) == 0 || norm(velocity_at(s, p)) > kMeet * size) return std::nullopt;
  return p;
}

/// Factors of the determinant, of about unit size, by the part of the arm that each belongs to.
struct Factors {
  std::optional<double> wrist, elbow, shoulder;
  std::optional<double> rest;  ///< the other factor of an arm of which only the wrist is known
};

/// Axes 3 to 5 meet in W, or axes 1 to 3 are parallel and 4 meets 5 in W: the determinant is the product of
/// z3.(z4 x z5), of z1.(c1 x c2), where c are the velocities of a point of axis 3, and of c0.z1, that of W.
Factors find_six_factors(const ScrewSet& set, double size) {
  const std::vector<Screw<double>>& s = set.screw;
  const bool planar = parallel(s[1], s[2]);
  std::optional<Vec3<double>> wrist = meeting_point(set, 3, 5, size), on_axis_3 = wrist;
  if (!wrist && planar && parallel(s[2], s[3])) {
    wrist = meeting_point(set, 4, 5, size);
    on_axis_3 = screw_axis(s[3]).point;
  }
  if (!wrist) return {};
  Factors out;
  out.wrist = std::abs(dot(s[3].w, cross(s[4].w, s[5].w)));
  if (!planar || norm(s[0].w) == 0) {
    const auto unit = [&](const Screw<double>& of) {
      return (norm(of.w) == 0 ? 1.0 : 1 / size) * velocity_at(of, *wrist);
    };
    out.rest = std::abs(dot(unit(s[0]), cross(unit(s[1]), unit(s[2]))));
    return out;
  }
  out.elbow = norm(cross(velocity_at(s[1], *on_axis_3), velocity_at(s[2], *on_axis_3))) / (size * size);
  out.shoulder = std::abs(dot(velocity_at(s[0], *wrist), s[1].w)) / size;
  return out;
}

/// Axes 0 to 2 meet in the shoulder, axes 4 to 6 in the wrist.
Factors factors_of_seven(const ScrewSet& set, double size) {
  const std::vector<Screw<double>>& s = set.screw;
  const auto shoulder = meeting_point(set, 0, 2, size), wrist = meeting_point(set, 4, 6, size);
  if (!shoulder || !wrist || norm(s[3].w) == 0) return {};
  Factors out;
  out.elbow = std::abs(dot(velocity_at(s[3], *wrist), *wrist - *shoulder)) / (size * size);
  out.shoulder = norm(cross(s[0].w, s[2].w));
  out.wrist = norm(cross(s[4].w, s[6].w));
  return out;
}

Factors find_factors(const ScrewSet& set) {
  const double size = natural_scaling(set).length;
  if (set.screw.size() == 6) return find_six_factors(set, size);
  if (set.screw.size() == 7) return factors_of_seven(set, size);
  return {};
}

/// Whether the arm has the structure elsewhere, too: axes may meet by chance.
bool has(const chain::Robot& robot, std::vector<double> q, std::optional<double> Factors::*factor) {
  for (int trial = 0; trial < 2; ++trial) {
    for (std::size_t i = 0; i < q.size(); ++i) q[i] += 0.4 + 0.13 * static_cast<double>((3 * i + 1) % 5);
    if (!(find_factors(make_screws(robot, q)).*factor)) return false;
  }
  return true;
}

}  // namespace

std::string singularity_type(const chain::Robot& robot, const std::vector<double>& q) {
  const Factors here = find_factors(make_screws(robot, q));
  const std::pair<const char*, std::optional<double> Factors::*> parts[] = {
      {"wrist", &Factors::wrist}, {"elbow", &Factors::elbow}, {"shoulder", &Factors::shoulder}};
  double smallest = std::min(kVanishes, here.rest.value_or(kVanishes));
  for (const auto& [name, factor] : parts) smallest = std::min(smallest, (here.*factor).value_or(kVanishes));
  std::string out;
  for (const auto& [name, factor] : parts) {
    const double value = (here.*factor).value_or(kVanishes);
    if (value < kVanishes && value <= std::max(kZero, smallest) && has(robot, q, factor))
      out += (out.empty() ? "" : " and ") + std::string(name);
  }
  return out;
}

}  // namespace garra::singularity
