// What a map is before its first sample: where joint values come from, ranges of histograms, the voxels' box.
#include "singularity/map/prepare.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "garra/core/error.hpp"

namespace garra::singularity {

namespace {

constexpr std::int64_t kPilot = 4096;  ///< even samples that ranges are made from
constexpr double kFullTurn = 6.283185307179586;

[[noreturn]] void refuse(const std::string& problem, const std::string& remedy = {}) {
  throw Error(ExitCode::kUsage, problem, remedy);
}

std::string joint_name(const chain::Robot& robot, int joint) {
  const std::string& name = robot.joint[static_cast<std::size_t>(joint)].name;
  return "joint " + std::to_string(joint) + (name.empty() ? "" : " (" + name + ")");
}

void check_sources(const MapScenario& s) {
  if (s.joint.size() != static_cast<std::size_t>(s.robot.joints))
    refuse("joints: " + std::to_string(s.joint.size()) + " sources for " + std::to_string(s.robot.joints) + " joints");
  for (int j = 0; j < s.robot.joints; ++j) {
    const JointSource& source = s.joint[static_cast<std::size_t>(j)];
    const std::string name = joint_name(s.robot, j);
    if (!std::isfinite(source.low) || !std::isfinite(source.high)) refuse(name + ": its range is not finite");
    if (source.low > source.high) refuse(name + ": its range is reversed", "Write the smaller value first.");
    if (source.kind == JointSource::Kind::kGrid && source.points < 1) refuse(name + ": a grid needs points");
  }
}

/// Root of x^(d+1) = x + 1 above 1: its powers fill d dimensions evenly (M. Roberts' additive recurrence).
long double recurrence_root(int dimensions) {
  long double x = 1.5;
  // A fixed point iteration, contracting for every number of dimensions: 100 rounds are far beyond double's digits.
  for (int k = 0; k < 100; ++k) x = std::pow(1 + x, 1 / static_cast<long double>(dimensions + 1));
  return x;
}

void set_recurrence(Sampler& s) {
  int dimensions = 0;
  for (int j = 0; j < s.joints; ++j) dimensions += s.uniform[j];
  // Only joints that are drawn are dimensions: one that is held would spoil the evenness of the others.
  const long double root = recurrence_root(std::max(1, dimensions));
  long double part = 1;
  for (int j = 0; j < s.joints; ++j) {
    if (!s.uniform[j]) continue;
    part /= root;
    // As integers modulo 2^64: sample i is i * advance + start exactly, without a sum that rounds.
    s.advance[j] = static_cast<std::uint64_t>(std::ldexp(part, 64));
    // The start depends on the seed, so that sequences of different seeds differ.
    const auto block = random_block<double>(s.seed, {static_cast<std::uint64_t>(j), 0}, 0x65766e);
    s.start[j] = block.word[0] << 32 | block.word[1];
  }
}

void check_task(const TaskGrid& t) {
  for (int k = 0; k < 3; ++k) {
    const auto at = static_cast<std::size_t>(k);
    if (!std::isfinite(t.low[k]) || !std::isfinite(t.high[k])) refuse("task: its box is not finite");
    if (t.low[k] > t.high[k]) refuse("task: low is above high", "Write the smaller coordinates first.");
    if (t.points[at] < 1) refuse("task: points must be 1 or more in each direction");
  }
  if (t.starts < 1) refuse("task: starts must be 1 or more");
}

void set_task(const MapScenario& scenario, Sampler& s) {
  const TaskGrid& t = *scenario.task;
  check_task(t);
  if (!scenario.robot.coupled.empty())
    refuse("task: not for arms with helical joints", "Give ranges of the joints instead.");
  s.task = true;
  s.starts = t.starts;
  s.any_orientation = !t.orientation;
  if (t.orientation) s.orientation = *t.orientation;
  // Without an orientation asked for, an arm of fewer freedoms could reach hardly any random one.
  s.reach.position_only = !t.orientation && compute_generic_rank(scenario.robot) < 6;
  for (int k = 0; k < 3; ++k) {
    const std::int64_t points = t.points[static_cast<std::size_t>(k)];
    // One point at the middle of its range.
    s.task_points[k] = points;
    s.task_low[k] = points > 1 ? t.low[k] : 0.5 * (t.low[k] + t.high[k]);
    s.task_step[k] = points > 1 ? (t.high[k] - t.low[k]) / static_cast<double>(points - 1) : 0;
  }
}

Sampler make_sampler(const MapScenario& scenario) {
  Sampler s;
  s.joints = scenario.robot.joints;
  s.seed = scenario.plan.seed;
  s.sequence = scenario.sequence;
  std::int64_t stride = 1;
  // From the last joint back: the last one runs fastest.
  for (int j = s.joints - 1; j >= 0; --j) {
    const JointSource& source = scenario.joint[static_cast<std::size_t>(j)];
    s.low[j] = source.low;
    s.span[j] = source.high - source.low;
    s.uniform[j] = source.kind == JointSource::Kind::kUniform;
    s.points[j] = source.kind == JointSource::Kind::kGrid ? source.points : 1;
    s.stride[j] = stride;
    if (source.kind == JointSource::Kind::kFixed) s.span[j] = 0;
    // A joint's sources have 1 point where they are not on a grid, so the product is the number of nodes.
    stride *= s.points[j];
  }
  set_recurrence(s);
  if (scenario.task) set_task(scenario, s);
  return s;
}

/// Even samples over all ranges, grids included.
Sampler pilot_sampler(Sampler s) {
  // Whatever the scenario's sequence, seed and grid: ranges depend on the arm and the joints' ranges only.
  s.sequence = Sequence::kLowDiscrepancy;
  s.seed = 0;
  s.task = false;
  for (int j = 0; j < s.joints; ++j) {
    s.uniform[j] = s.span[j] > 0;
    s.points[j] = 1;
  }
  set_recurrence(s);
  std::fill(std::begin(s.start), std::end(s.start), 0);
  return s;
}

CountRules make_rules(const MapScenario& scenario) {
  // A search ends to rounding; a arrival on the limit itself is within. [rad or m]
  constexpr double kSlack = 1e-9;
  CountRules r;
  r.near = scenario.measure.near;
  r.tolerance = scenario.measure.tolerance;
  r.task = scenario.task.has_value();
  for (int j = 0; j < scenario.robot.joints; ++j) {
    const auto at = static_cast<std::size_t>(j);
    const JointSource& source = scenario.joint[at];
    // A joint that goes all the way around has no outside.
    const bool turns = !scenario.robot.joint[at].prismatic && source.high - source.low >= kFullTurn - kSlack;
    r.low[j] = turns ? -INFINITY : source.low - kSlack;
    r.high[j] = turns ? INFINITY : source.high + kSlack;
  }
  return r;
}

/// What the pilot has shown.
struct Pilot {
  Measures measures;
  std::vector<double> distance;  ///< of near ones that converged, rising
};

Pilot fly(const MapArm& arm, const MapScenario& scenario, const Sampler& sampler) {
  // One thread of the host whatever the run's device: histograms and voxels must not depend on it.
  const Device one{Executor::kLanes, 1, 0};
  Pilot pilot;
  std::vector<double> q, near;
  for (std::int64_t i = 0; i < kPilot; ++i) {
    const auto row = arm.configuration(sampler, i);
    q.insert(q.end(), row.begin(), row.end());
  }
  arm.measure(q, Precision::kDouble, one, pilot.measures);
  const auto joints = static_cast<std::ptrdiff_t>(scenario.robot.joints);
  for (std::int64_t i = 0; i < kPilot; ++i) {
    if (!(pilot.measures.inverse_condition[static_cast<std::size_t>(i)] <= scenario.measure.near)) continue;
    near.insert(near.end(), q.begin() + i * joints, q.begin() + (i + 1) * joints);
  }
  if (!scenario.nearest) return pilot;
  NearSingularities found;
  arm.nearest(near, refine_options(scenario.measure), one, found);
  for (const double x : found.distance)
    if (std::isfinite(x)) pilot.distance.push_back(x);
  std::sort(pilot.distance.begin(), pilot.distance.end());
  return pilot;
}

/// The next number above with one digit after the point, in units of the leading power of ten.
double round_up(double x) {
  if (!(x > 0) || !std::isfinite(x)) return 1;
  const double power = std::pow(10, std::floor(std::log10(x)));
  return std::ceil(10 * x / power - 1e-9) / 10 * power;
}

double largest_of_all(const std::vector<double>& values) {
  double out = 0;
  for (const double x : values)
    if (std::isfinite(x)) out = std::max(out, x);
  return out;
}

/// A round side with which about `voxels` of them fill the longest side of a box.
double voxel_side(const Vec3<double>& low, const Vec3<double>& high, int voxels) {
  double longest = 1e-3;
  // A millimeter at least: an arm whose tool does not move has a box of no size.
  for (int k = 0; k < 3; ++k) longest = std::max(longest, high[k] - low[k]);
  // Some room, for the samples reach a little farther than the pilot's.
  return round_up(1.05 * longest / voxels);
}

/// Voxels around the targets of a task grid: as large as a whole number of the widest gap between neighbors, and half a
/// gap beyond the outermost, so that targets lie within voxels and none between two targets stays empty. Gaps of many
/// voxels stay gaps.
VoxelGrid voxels_of_targets(const TaskGrid& task, int voxels) {
  constexpr double kBridged = 4;  // voxels
  const double least_side = voxel_side(task.low, task.high, voxels);
  double gap[3], widest = 0;
  for (int k = 0; k < 3; ++k) {
    const auto n = static_cast<double>(task.points[static_cast<std::size_t>(k)] - 1);
    gap[k] = n > 0 ? (task.high[k] - task.low[k]) / n : 0;
    // Beyond four voxels a gap is a gap: voxels large enough to bridge it would blur the rest.
    if (gap[k] > kBridged * least_side) gap[k] = 0;
    widest = std::max(widest, gap[k]);
  }
  VoxelGrid v;
  v.side = widest > 0 ? widest * std::max(1.0, std::ceil(least_side / widest - 1e-9)) : least_side;
  int* n[3] = {&v.nx, &v.ny, &v.nz};
  // Directions with one target, or with gaps that are not bridged, get a voxel around each.
  for (int k = 0; k < 3; ++k) {
    const double beyond = gap[k] > 0 ? gap[k] : v.side;
    *n[k] = std::max(1, static_cast<int>(std::ceil((task.high[k] - task.low[k] + beyond) / v.side - 1e-9)));
    v.low[k] = task.low[k] - 0.5 * beyond;
  }
  return v;
}

VoxelGrid make_voxels(const MapScenario& scenario, const Measures& measures) {
  VoxelGrid v;
  if (scenario.voxels == 0) return v;
  if (scenario.task) return voxels_of_targets(*scenario.task, scenario.voxels);
  Vec3<double> low{{INFINITY, INFINITY, INFINITY}}, high{{-INFINITY, -INFINITY, -INFINITY}};
  for (std::size_t i = 0; i < measures.tool.size(); ++i) {
    if (!std::isfinite(measures.tool[i])) continue;
    const int k = static_cast<int>(i % 3);
    low[k] = std::min(low[k], measures.tool[i]);
    high[k] = std::max(high[k], measures.tool[i]);
  }
  v.side = voxel_side(low, high, scenario.voxels);
  const auto count = [&](int k) {
    // At most twice the number asked for along a side: the memory of a chunk file is bounded.
    return std::min(2 * scenario.voxels, static_cast<int>((high[k] - low[k]) / v.side) + 2);
  };
  v.nx = count(0);
  v.ny = count(1);
  v.nz = count(2);
  const int n[3] = {v.nx, v.ny, v.nz};
  // The cubes are centered on the box: what is too much stands out evenly.
  for (int k = 0; k < 3; ++k) v.low[k] = 0.5 * (low[k] + high[k]) - 0.5 * v.side * n[k];
  return v;
}

/// Hands out places in a flat array.
struct Places {
  int next = 0;
  int take(int size) {
    const int at = next;
    next += size;
    return at;
  }
  study::Histogram make_histogram(double low, double high, int bins) {
    const study::Histogram h{low, high, bins, next};
    take(h.size());
    return h;
  }
};

MapLayout make_layout(const MapScenario& scenario, int generic_rank, const Pilot& pilot) {
  MapLayout l;
  l.joints = scenario.robot.joints;
  l.generic_rank = generic_rank;
  l.voxels = make_voxels(scenario, pilot.measures);
  const int sets = 1 << l.joints;
  const double top = std::log10(largest_of_all(pilot.measures.sigma_min));
  // The 99th percentile: one far arrival must not coarsen the histogram of all. 0.5 where nothing converged.
  const double farthest = pilot.distance.empty() ? 0.5 : pilot.distance[pilot.distance.size() * 99 / 100];
  Places counts, least;
  l.outcome = counts.take(kMapOutcomes);
  l.log_sigma = counts.make_histogram(-6, std::isfinite(top) ? std::ceil(10 * top + 0.5) / 10 : 0, 200);
  l.log_condition = counts.make_histogram(0, 6, 200);
  l.manipulability = counts.make_histogram(0, round_up(1.1 * largest_of_all(pilot.measures.manipulability)), 200);
  l.outside = counts.take(1);
  l.voxel = counts.take(l.voxels.size() * VoxelGrid::kCounts);
  l.near = counts.take(kNearOutcomes);
  l.outside_range = counts.take(1);
  l.lost = counts.take(7);
  l.distance = counts.make_histogram(0, round_up(1.2 * farthest), 100);
  l.dependent_joints = counts.take(sets);
  l.subset = counts.take(sets);
  l.subsets = counts.take(l.joints + 1);
  l.escape = counts.take(2 * l.joints);
  l.no_escape = counts.take(1);
  l.rechecked = counts.take(1);
  l.missed = counts.take(1);
  l.false_near = counts.take(1);
  l.counts = counts.next;
  l.manipulability.buckets = static_cast<int>(MapQuantity::kManipulability);
  l.distance.buckets = static_cast<int>(MapQuantity::kDistance);
  l.least_sigma = least.take(l.voxels.size());
  l.least_minus = least.take(l.voxels.size());
  l.least_example = least.take(sets);
  l.least_error = least.take(1);
  l.least = least.next;
  return l;
}

}  // namespace

/// Throws Error(kUsage), naming the option, for options that no arm can be measured with.
void check_options(const chain::Robot& robot, const MeasureOptions& o) {
  if (!(o.near > 0 && o.near < 1)) refuse("near: must be between 0 and 1");
  if (!(o.tolerance >= 1e-13 && o.tolerance < o.near))
    refuse("tolerance: must be between 1e-13 and near", "1e-10 suits arms in double precision.");
  if (o.scaling.length && !(*o.scaling.length > 0 && std::isfinite(*o.scaling.length)))
    refuse("length: must be positive");
  if (o.scaling.center == MapScaling::Center::kJoint && (o.scaling.joint < 0 || o.scaling.joint >= robot.joints))
    refuse("center: the arm has joints 0 to " + std::to_string(robot.joints - 1));
}

std::unique_ptr<PreparedMap> prepare_map(const MapScenario& scenario) {
  auto out = std::make_unique<PreparedMap>();
  // The arm first: it refuses options and arms without a kernel before the pilot costs time.
  out->arm = make_map_arm(scenario.robot, scenario.measure);
  check_sources(scenario);
  out->scenario = scenario;
  MapPlan& plan = out->plan;
  plan.sampler = make_sampler(scenario);
  plan.rules = make_rules(scenario);
  plan.nearest = scenario.nearest;
  plan.single = scenario.measure.precision == Precision::kSingle;
  plan.keep_from_first = scenario.plan.keep == "none" ? 0 : scenario.keep_from_first;
  // Last, for it needs the arm and the sampler; it is also what makes a map's layout independent of the run.
  const Pilot pilot = fly(*out->arm, scenario, pilot_sampler(plan.sampler));
  plan.layout = make_layout(scenario, compute_generic_rank(scenario.robot), pilot);
  return out;
}

}  // namespace garra::singularity
