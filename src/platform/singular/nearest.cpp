// The nearest singular pose. Along a direction d of motions u = (shift; L turn) from the pose, rho(d) is the length of
// the first motion whose pose is singular: det J changes its sign. The nearest singular pose minimizes rho over all
// directions. At a minimum the normal of the singular surface has the direction d, and each step turns d towards the
// normal as far as rho falls (docs/theory/platform.md).
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "garra/core/error.hpp"
#include "garra/core/philox.hpp"
#include "garra/math/rotation_vector.hpp"
#include "garra/platform_kinematics.hpp"
#include "garra/systems/platform/conditioning.hpp"

namespace garra::platform {

namespace {

using Motion6 = Vec<double, 6>;

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kSingular = 1e-10;  ///< a pose is singular: sigma_min <= this times sigma_max
constexpr int kScan = 256;           ///< steps of a motion of the length `reach`
constexpr int kDirections = 128;     ///< besides the axes and the free motion
constexpr int kDescents = 12;        ///< from the best directions
constexpr int kSteps = 60;           ///< of a descent
constexpr std::uint64_t kSeed = 1;   // fixed: the same answer in every call

/// det J along motions from one pose.
struct Search {
  Model<double> model;
  Place<double> from;
  double length;  ///< L [m]
  double reach;   ///< [m]

  [[nodiscard]] Place<double> moved(const Motion6& u) const {
    const Vec3<double> turn = (1 / length) * vec3(u[3], u[4], u[5]);
    return {from.r + vec3(u[0], u[1], u[2]), normalized(product(quaternion_of_turn(turn), from.p))};
  }
  [[nodiscard]] double determinant_at(const Motion6& u) const {
    return determinant(factor_lu(in_lengths(length_jacobian(legs_at(model, moved(u))), length)));
  }

  /// First change of sign along d within `most`, to rounding; infinite if none is met.
  [[nodiscard]] double first_crossing(const Motion6& d, double most) const {
    const int steps = std::max(24, static_cast<int>(std::ceil(kScan * most / reach)));
    const double start = determinant_at(Motion6::zero());
    double low = 0;
    for (int k = 1; k <= steps; ++k) {
      double high = most * k / steps;
      if (determinant_at(high * d) * start > 0) {
        low = high;
        continue;
      }
      for (int i = 0; i < 60 && high - low > 1e-15 * high; ++i) {
        const double middle = (low + high) / 2;
        (determinant_at(middle * d) * start > 0 ? low : high) = middle;
      }
      return high;
    }
    return kInfinite;
  }

  /// Unit normal of the singular surface at u, on the side away from the pose that the search began at.
  [[nodiscard]] Motion6 normal(const Motion6& u, const Motion6& d) const {
    const double step = 1e-6 * length;
    Motion6 slope;
    for (int k = 0; k < 6; ++k) {
      Motion6 ahead = u, behind = u;
      ahead[k] += step;
      behind[k] -= step;
      slope[k] = determinant_at(ahead) - determinant_at(behind);
    }
    const double size = norm(slope);
    if (!(size > 0)) return d;
    return (dot(slope, d) < 0 ? -1 / size : 1 / size) * slope;
  }

  /// Turns d towards the normal while the way to the first singular pose becomes shorter.
  void descend(Motion6& d, double& rho) const {
    for (int step = 0; step < kSteps; ++step) {
      const Motion6 n = normal(rho * d, d);
      bool shorter = false;
      for (double share = 1; share > 1e-4 && !shorter; share /= 2) {
        Motion6 next = axpy(share, n - d, d);
        next = (1 / norm(next)) * next;
        // A crossing that is not shorter does not count.
        const double crossing = first_crossing(next, rho);
        shorter = crossing < rho * (1 - 1e-12);
        if (shorter) d = next, rho = crossing;
      }
      if (!shorter) return;
    }
  }
};

struct Way {
  Motion6 d;
  double rho;
};

Motion6 unit_motion(int k, double sign) {
  Motion6 d = Motion6::zero();
  d[k] = sign;
  return d;
}

Motion6 random_direction(int k) {
  const auto index = SampleIndex<double>::consecutive(static_cast<std::uint64_t>(k));
  Motion6 d;
  for (std::uint32_t pair = 0; pair < 3; ++pair) {  // Box and Muller: all directions alike
    double u, v;
    uniform_pair<double>(kSeed, index, pair, u, v);
    const double radius = std::sqrt(-2 * std::log(u));
    d[2 * static_cast<int>(pair)] = radius * std::cos(2 * M_PI * v);
    d[2 * static_cast<int>(pair) + 1] = radius * std::sin(2 * M_PI * v);
  }
  return (1 / norm(d)) * d;
}

void require_finite(const Place<double>& place) {
  double sum = 0;
  for (const double x : place.r.m) sum += x;
  for (const double x : place.p.m) sum += x;
  if (!std::isfinite(sum) || !(norm(place.p) > 0))
    throw Error(ExitCode::kUsage, "the pose is not finite, or its quaternion is zero", "Give finite numbers.");
}

std::uint32_t broken_limits(const Platform& platform, const Place<double>& place) {
  InverseOptions options;
  options.limits = true;
  const Poses pose{{place.r.m, place.r.m + 3}, {place.p.m, place.p.m + 4}};
  return inverse_kinematics({platform}, pose, {}, options).mask[0];
}

/// Directions to begin with; the first twelve are the axes.
std::vector<Way> first_ways(const Search& search, const Motion6& free_motion) {
  std::vector<Way> ways;
  for (int k = 0; k < 6; ++k)
    for (const double sign : {1.0, -1.0}) ways.push_back({unit_motion(k, sign), 0});
  for (const double sign : {1.0, -1.0}) ways.push_back({sign * free_motion, 0});
  for (int k = 0; k < kDirections; ++k) ways.push_back({random_direction(k), 0});
  for (Way& way : ways) way.rho = search.first_crossing(way.d, search.reach);
  return ways;
}

}  // namespace

NearestSingularPose nearest_singular_pose(const Platform& platform, const Place<double>& given,
                                          double characteristic_length) {
  require_finite(given);
  NearestSingularPose out;
  out.length = platform::characteristic_length({platform}, characteristic_length);
  Search search{make_model(platform), {given.r, normalized(given.p)}, out.length, M_PI * out.length};
  const Legs<double> legs = legs_at(search.model, search.from);
  for (const LegVector<double>& leg : legs.leg) search.reach = std::max(search.reach, norm(leg.d));
  out.reach = search.reach;
  const Conditioning<double> here = conditioning(length_jacobian(legs), out.length);
  if (here.sigma_min <= kSingular * here.sigma_max) {
    out.found = true;
    out.place = search.from;
    out.mask = broken_limits(platform, out.place);
    return out;  // the way along each axis is 0
  }
  std::vector<Way> ways = first_ways(search, here.free_motion);
  for (std::size_t k = 0; k < 6; ++k)
    for (std::size_t side = 0; side < 2; ++side) {
      const double way = ways[2 * k + side].rho;
      out.along_axes[k][side] = k < 3 ? way : way / out.length;
    }
  std::stable_sort(ways.begin(), ways.end(), [](const Way& a, const Way& b) { return a.rho < b.rho; });
  Way best = ways[0];
  for (int k = 0; k < kDescents && std::isfinite(ways[static_cast<std::size_t>(k)].rho); ++k) {
    Way way = ways[static_cast<std::size_t>(k)];
    search.descend(way.d, way.rho);
    if (way.rho < best.rho) best = way;
  }
  if (!std::isfinite(best.rho)) return out;
  const Motion6 u = best.rho * best.d;
  out.found = true;
  out.distance = best.rho;
  out.shift = vec3(u[0], u[1], u[2]);
  out.turn = (1 / out.length) * vec3(u[3], u[4], u[5]);
  out.place = search.moved(u);
  out.mask = broken_limits(platform, out.place);
  return out;
}

Mat<double, 6, 6> stiffness(const Platform& platform, const Place<double>& place,
                            const std::array<double, kLegs>& leg_stiffness) {
  require_finite(place);
  for (const double k : leg_stiffness)
    if (!(k >= 0) || std::isinf(k))
      throw Error(ExitCode::kUsage, "the stiffness of a leg is below 0 or not finite", "Give newtons per meter.");
  const Mat<double, 6, 6> J =
      length_jacobian(legs_at(make_model(platform), Place<double>{place.r, normalized(place.p)}));
  Mat<double, 6, 6> K = Mat<double, 6, 6>::zero();
  for (int leg = 0; leg < kLegs; ++leg)
    for (int i = 0; i < 6; ++i)
      for (int j = 0; j < 6; ++j) K(i, j) += leg_stiffness[static_cast<std::size_t>(leg)] * J(leg, i) * J(leg, j);
  return K;
}

}  // namespace garra::platform
