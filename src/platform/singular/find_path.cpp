// Paths of a platform without singular poses (docs/theory/platform.md, "Paths"): the straight motion, then a search
// with two trees (J. Kuffner, S. LaValle, "RRT-connect", ICRA 2000), then shorter ways. Every motion is proven as it
// is made (proven_motion.hpp).
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "garra/batch/parallel.hpp"
#include "garra/core/error.hpp"
#include "garra/core/philox.hpp"
#include "platform/singular/proven_motion.hpp"

namespace garra::platform {

namespace {

constexpr double kSingular = 1e-10;  ///< a pose is singular: sigma_min <= this times sigma_max
constexpr double kStride = 1.5;      ///< longest motion towards a random pose, in characteristic lengths
constexpr double kBack = 0.9;        ///< part of a motion to its border after which a tree goes on
constexpr int kShortcuts = 100;

struct Node {
  Place<double> place;
  int parent;
};
using Tree = std::vector<Node>;

class Planner {
 public:
  Planner(const Platform& platform, const PathSearch& search, double length)
      : keeper_(platform, search, length), search_(search), length_(length) {
    // C is no farther from a base joint than the leg and its lever.
    double reach = std::numeric_limits<double>::infinity();
    for (const Leg& leg : platform.leg) {
      middle_ = axpy(1.0 / kLegs, leg.base, middle_);
      reach = std::min(reach, leg.length_max + norm(leg.anchor) + norm(leg.base));
    }
    reach_ = reach;
  }

  [[nodiscard]] Keeper& keeper() { return keeper_; }

  /// What the ends decide; kNotFound: nothing.
  [[nodiscard]] Reach look_at_ends(const Place<double>& from, const Place<double>& to) const {
    const auto look = [&](const Place<double>& place) {
      return conditioning(length_jacobian(legs_at(keeper_.model(), place)), length_);
    };
    const Conditioning<double> a = look(from), b = look(to);
    const auto regular = [](const Conditioning<double>& c) { return c.sigma_min > kSingular * c.sigma_max; };
    if (regular(a) && regular(b) && a.determinant * b.determinant < 0) return Reach::kSeparate;
    if (search_.limits && !(keeper_.keeps_limits(from) && keeper_.keeps_limits(to))) return Reach::kOutOfLimits;
    if (!(std::min(a.sigma_min, b.sigma_min) > search_.near_singular)) return Reach::kEndIsNearSingular;
    return Reach::kNotFound;
  }

  /// Poses of a path; empty if none is found.
  [[nodiscard]] std::vector<Place<double>> search(const Place<double>& from, const Place<double>& to) {
    if (goes(from, to)) return {from, to};
    Tree trees[2] = {{{from, -1}}, {{to, -1}}};
    for (tries_ = 0; tries_ < search_.tries;) {
      const int side = static_cast<int>(tries_ % 2);  // the trees take turns
      Tree &grows = trees[side], &follows = trees[1 - side];
      const Place<double> wanted = draw(trees, tries_++);
      if (!extend(grows, nearest_node(grows, wanted), wanted, kStride * length_)) continue;
      const Place<double> reached = grows.back().place;
      if (connect(follows, reached)) return shortened(way_over(trees));
    }
    return {};
  }
  [[nodiscard]] std::int64_t tries() const { return tries_; }

  /// True if a motion is proven, from one of its ends or both: the proof comes to a limit in small steps only.
  [[nodiscard]] bool goes(const Place<double>& a, const Place<double>& b) {
    const double share = keeper_.advance({a, b});
    return share >= 1 || share + keeper_.advance({b, a}) >= 1;
  }

 private:
  [[nodiscard]] int nearest_node(const Tree& tree, const Place<double>& to) const {
    int best = 0;
    double least = std::numeric_limits<double>::infinity();
    for (int k = 0; k < static_cast<int>(tree.size()); ++k) {
      // The chord of quaternions in place of the angle: the same order, without trigonometry.
      const Place<double>& a = tree[static_cast<std::size_t>(k)].place;
      const double shift = norm(a.r - to.r), turn = 2 * length_ * std::min(norm(a.p - to.p), norm(a.p + to.p));
      const double d = std::hypot(shift, turn);
      if (d < least) least = d, best = k;
    }
    return best;
  }

  /// Adds the pose that a motion from a node towards `to` reaches; false: hardly any.
  bool extend(Tree& tree, int node, const Place<double>& to, double most) {
    const Place<double> from = tree[static_cast<std::size_t>(node)].place;
    const StraightMotion whole(from, to);
    const double length = whole.length(length_);
    if (!(length > 0)) return false;
    const Place<double> end = length > most ? whole.at(most / length) : to;
    const StraightMotion motion(from, end);
    const double share = keeper_.advance(motion);
    if (share < 1 && share * motion.length(length_) < 0.02 * length_) return false;
    tree.push_back({share < 1 ? motion.at(kBack * share) : end, node});
    return true;
  }

  bool connect(Tree& tree, const Place<double>& to) {
    const int node = nearest_node(tree, to);
    if (goes(tree[static_cast<std::size_t>(node)].place, to)) {
      tree.push_back({to, node});
      return true;
    }
    static_cast<void>(extend(tree, node, to, std::numeric_limits<double>::infinity()));
    return false;
  }

  /// Every other pose anywhere, the rest about a node.
  [[nodiscard]] Place<double> draw(const Tree* trees, std::int64_t k) const {
    const auto index = SampleIndex<double>::consecutive(static_cast<std::uint64_t>(k));
    double u[8];
    for (std::uint32_t d = 0; d < 4; ++d) uniform_pair<double>(search_.seed, index, d, u[2 * d], u[2 * d + 1]);
    if (u[6] < 0.5) {
      Place<double> place{middle_, {{1, 0, 0, 0}}};
      for (int i = 0; i < 3; ++i) place.r[i] += reach_ * (2 * u[i] - 1);
      // Uniform (K. Shoemake, "Uniform random rotations", 1992).
      const double a = std::sqrt(1 - u[3]), b = std::sqrt(u[3]), one = 2 * M_PI * u[4], two = 2 * M_PI * u[5];
      place.p = {{b * std::cos(two), a * std::sin(one), a * std::cos(one), b * std::sin(two)}};
      return place;
    }
    const Tree& tree = trees[u[6] < 0.75 ? 0 : 1];
    const Place<double>& about =
        tree[std::min(tree.size() - 1, static_cast<std::size_t>(u[7] * static_cast<double>(tree.size())))].place;
    Place<double> place = about;
    for (int i = 0; i < 3; ++i) place.r[i] += 2 * length_ * (2 * u[i] - 1);
    place.p = normalized(product(quaternion_of_turn(2 * vec3(2 * u[3] - 1, 2 * u[4] - 1, 2 * u[5] - 1)), about.p));
    return place;
  }

  /// From the root of the first tree over the common pose, the last of both trees, to the root of the second.
  [[nodiscard]] static std::vector<Place<double>> way_over(const Tree* trees) {
    std::vector<Place<double>> way;
    for (int k = static_cast<int>(trees[0].size()) - 1; k >= 0; k = trees[0][static_cast<std::size_t>(k)].parent)
      way.push_back(trees[0][static_cast<std::size_t>(k)].place);
    std::reverse(way.begin(), way.end());
    for (int k = trees[1].back().parent; k >= 0; k = trees[1][static_cast<std::size_t>(k)].parent)
      way.push_back(trees[1][static_cast<std::size_t>(k)].place);
    return way;
  }

  /// Straight motions between random places of the way, where they are possible and shorter.
  [[nodiscard]] std::vector<Place<double>> shortened(std::vector<Place<double>> way) {
    for (int k = 0; k < kShortcuts && way.size() > 2; ++k) {
      const auto index = SampleIndex<double>::consecutive(static_cast<std::uint64_t>(k));
      double u[4];
      for (std::uint32_t d = 0; d < 2; ++d) uniform_pair<double>(~search_.seed, index, d, u[2 * d], u[2 * d + 1]);
      const double legs = static_cast<double>(way.size() - 1);
      auto i = static_cast<std::size_t>(u[0] * legs), j = static_cast<std::size_t>(u[1] * legs);
      if (i == j) continue;
      if (i > j) std::swap(i, j);
      // First with whole motions left out, which leaves fewer poses.
      const Place<double> a = k % 2 == 0 ? way[i] : StraightMotion(way[i], way[i + 1]).at(u[2]);
      const Place<double> b = k % 2 == 0 ? way[j + 1] : StraightMotion(way[j], way[j + 1]).at(u[3]);
      if (!goes(a, b)) continue;
      std::vector<Place<double>> next(way.begin(), way.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      if (k % 2 != 0) next.insert(next.end(), {a, b});
      next.insert(next.end(), way.begin() + static_cast<std::ptrdiff_t>(j) + 1, way.end());
      way = std::move(next);
    }
    return way;
  }

  Keeper keeper_;
  PathSearch search_;
  double length_;
  Vec3<double> middle_ = Vec3<double>::zero();  ///< of the base joints
  double reach_ = 0;
  std::int64_t tries_ = 0;
};

Place<double> unit_place(const Place<double>& place) {
  double sum = 0;
  for (const double x : place.r.m) sum += x;
  for (const double x : place.p.m) sum += x;
  if (!std::isfinite(sum) || !(norm(place.p) > 0))
    throw Error(ExitCode::kUsage, "a pose is not finite, or its quaternion is zero", "Give finite numbers.");
  return {place.r, normalized(place.p)};
}

void check_search(const PathSearch& search) {
  if (!(search.near_singular >= 0) || !std::isfinite(search.near_singular))
    throw Error(ExitCode::kUsage, "near_singular is below 0 or not finite", "Give 0 or more.");
  if (search.tries < 0) throw Error(ExitCode::kUsage, "tries is below 0", "Give 0 for the straight motion alone.");
}

void add_place(const Place<double>& place, Poses& to) {
  to.position.insert(to.position.end(), place.r.m, place.r.m + 3);
  to.quaternion.insert(to.quaternion.end(), place.p.m, place.p.m + 4);
}

Place<double> place_at(const Poses& poses, std::size_t row) {
  const double *r = poses.position.data() + 3 * row, *p = poses.quaternion.data() + 4 * row;
  return {{{r[0], r[1], r[2]}}, normalized<double>({{p[0], p[1], p[2], p[3]}})};
}

}  // namespace

PlannedPath find_path(const Platform& platform, const Place<double>& given_from, const Place<double>& given_to,
                      const PathSearch& search) {
  check_search(search);
  const Place<double> from = unit_place(given_from), to = unit_place(given_to);
  PlannedPath out;
  out.characteristic_length = characteristic_length({platform}, search.characteristic_length);
  Planner planner(platform, search, out.characteristic_length);
  out.reach = planner.look_at_ends(from, to);
  if (out.reach != Reach::kNotFound) return out;
  const std::vector<Place<double>> way = planner.search(from, to);
  out.tries = planner.tries();
  if (way.empty()) return out;
  // Made again, from the first pose on: the proof of what is returned, and what it met.
  planner.keeper().forget();
  add_place(way.front(), out.pose);
  bool proven = true;
  for (std::size_t k = 0; k + 1 < way.size(); ++k) {
    add_place(way[k + 1], out.pose);
    out.length += StraightMotion(way[k], way[k + 1]).length(out.characteristic_length);
    proven = planner.goes(way[k], way[k + 1]) && proven;
  }
  if (!proven) out.pose = {}, out.length = 0;
  if (!proven) return out;
  static_cast<void>(planner.goes(way.back(), way.back()));  // its last pose
  out.reach = Reach::kReachable;
  out.sigma_min = planner.keeper().least_sigma();
  out.proof_steps = planner.keeper().visits();
  return out;
}

Poses poses_along(const PlannedPath& path, int count) {
  Poses to;
  const std::size_t n = path.pose.position.size() / 3;
  if (n == 0) return to;
  const double apart = path.length / std::max(1, count - 1);
  add_place(place_at(path.pose, 0), to);
  double next = apart;  // from the beginning of the current motion
  for (std::size_t k = 0; k + 1 < n; ++k) {
    const StraightMotion motion(place_at(path.pose, k), place_at(path.pose, k + 1));
    const double length = motion.length(path.characteristic_length);
    for (; next < length * (1 - 1e-12); next += apart) add_place(motion.at(next / length), to);
    add_place(place_at(path.pose, k + 1), to);
    // A place at a pose of the path itself is that pose.
    next = next - length < 1e-9 * apart ? apart : next - length;
  }
  return to;
}

std::vector<Reach> reach_of_modes(const Platforms& platforms, const AssemblyModes& modes, const PathSearch& search,
                                  const Device& device) {
  check_search(search);
  std::vector<Reach> to(modes.status.size(), Reach::kNotFound);
  std::vector<std::size_t> sample_of;
  for (std::size_t sample = 0; sample + 1 < modes.first.size(); ++sample)
    sample_of.insert(sample_of.end(), static_cast<std::size_t>(modes.first[sample + 1] - modes.first[sample]), sample);
  batch::parallel_for(solve_threads(device), static_cast<std::int64_t>(to.size()), [&](std::int64_t row) {
    const auto k = static_cast<std::size_t>(row);
    const Platform& platform = platforms[platforms.size() > 1 ? sample_of[k] : 0];
    to[k] = find_path(platform, home_place(platform), place_at(modes.pose, k), search).reach;
  });
  return to;
}

}  // namespace garra::platform
