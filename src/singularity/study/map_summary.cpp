// summary.json of a map of singularities.
#include <cmath>

#include "singularity/map/arm.hpp"
#include "singularity/map/map_outcomes.hpp"
#include "singularity/study/map_study.hpp"
#include "study/summary.hpp"

namespace garra::singularity {

namespace {

using study::at;
using study::Json;
using study::number;
using study::Tally;

Json vector_json(const Vec3<double>& v) { return {v[0], v[1], v[2]}; }

Json robot_json(const chain::Robot& robot, int generic_rank) {
  Json j = {{"name", robot.name}, {"joints", robot.joints}};
  for (std::size_t k = 0; k < robot.joint.size(); ++k) {
    const chain::Joint& joint = robot.joint[k];
    j["names"].push_back(joint.name.empty() ? "joint " + std::to_string(k) : joint.name);
    j["prismatic"].push_back(joint.prismatic);
  }
  j["generic_rank"] = generic_rank;
  return j;
}

Json task_json(const std::optional<TaskGrid>& task) {
  if (!task) return nullptr;
  Json orientation = nullptr;
  if (task->orientation) {
    orientation = Json::array();
    for (int r = 0; r < 3; ++r) {
      const Mat3<double>& R = *task->orientation;
      orientation.push_back({R(r, 0), R(r, 1), R(r, 2)});
    }
  }
  return {{"low", vector_json(task->low)},
          {"high", vector_json(task->high)},
          {"points", task->points},
          {"orientation", orientation},
          {"starts", task->starts}};
}

Json sampling_json(const MapScenario& s) {
  constexpr const char* kinds[] = {"fixed", "grid", "uniform"};
  Json ranges = Json::array();
  for (std::size_t j = 0; j < s.joint.size(); ++j) {
    const JointSource& joint = s.joint[j];
    ranges.push_back({{"joint", j},
                      {"kind", kinds[static_cast<int>(joint.kind)]},
                      {"low", joint.low},
                      {"high", joint.high},
                      {"points", joint.points}});
  }
  return {{"kind", sampling_kind(s)}, {"ranges", ranges}, {"task", task_json(s.task)}};
}

Json scaling_json(const MapScaling& scaling) {
  const std::string center = scaling.center == MapScaling::Center::kNatural ? "natural"
                             : scaling.center == MapScaling::Center::kTool  ? "tool"
                                                                            : "joint " + std::to_string(scaling.joint);
  return {{"center", center}, {"length", scaling.length ? Json(*scaling.length) : Json(nullptr)}};
}

/// A histogram of docs/reference/run-folder.md. Only whole numbers are counted, so there is no mean.
Json histogram_json(const Tally& t, const study::Histogram& h, const study::ColumnWords& words) {
  return study::distribution(t, h, words, std::nullopt);
}

/// Of a quantity that is shown by its logarithm.
struct Shown {
  Json histogram, quantiles;
};
Shown shown_by_logarithm(const Tally& t, const study::Histogram& h, const study::ColumnWords& words, MapQuantity of) {
  Shown s{histogram_json(t, h, words), {}};
  for (auto& [p, x] : s.histogram["quantiles"].items()) {
    s.quantiles[p] = number(t.buckets.quantile(static_cast<int>(of), std::stod(p)));  // of the quantity itself
    if (!s.quantiles[p].is_null()) x = number(std::log10(s.quantiles[p].get<double>()));
  }
  return s;
}

/// "wrist", "elbow", "shoulder" or "": the type of the singularity next to a set's example.
std::string example_type(const MapStudy& study, const CountedSet& set) {
  if (set.example < 0) return "";
  const MapSample s = study.sample(set.example);
  return s.analysis ? singularity_type(study.scenario().robot, s.nearest.singular_q) : "";
}

Json dependent_joints_json(const MapStudy& study, const std::vector<CountedSet>& sets, std::int64_t converged) {
  constexpr std::ptrdiff_t kTyped = 8;  // the most frequent ones
  Json list = Json::array();
  for (const CountedSet& set : sets) {
    const study::Interval i = study::clopper_pearson(set.count, converged);
    const bool typed = &set - sets.data() < kTyped;
    list.push_back({{"joints", joints_json<Json>(set.joints)},
                    {"count", set.count},
                    {"share", static_cast<double>(set.count) / static_cast<double>(converged)},
                    {"low", i.low},
                    {"high", i.high},
                    {"example", set.example},
                    {"type", typed ? example_type(study, set) : ""}});
  }
  return list;
}

Json subsets_json(const std::vector<CountedSet>& sets) {
  Json list = Json::array();
  for (const CountedSet& set : sets) list.push_back({{"joints", joints_json<Json>(set.joints)}, {"count", set.count}});
  return list;
}

Json lost_json(const Tally& t, int first) {
  Json list = Json::array();
  for (int lost = 0; lost < 7; ++lost)
    if (const std::int64_t n = at(t, first + lost); n > 0) list.push_back({{"lost", lost}, {"count", n}});
  return list;
}

/// Samples of a part of the cell, and its cubes.
struct CellPart {
  std::int64_t samples = 0, near = 0;
  std::int64_t cubes = 0, tenth = 0, half = 0;  ///< cubes with kEnough samples or more; by their share of near ones

  static constexpr std::int64_t kEnough = 8;
  void add(std::int64_t cube_samples, std::int64_t cube_near) {
    samples += cube_samples;
    near += cube_near;
    if (cube_samples < kEnough) return;
    ++cubes;
    tenth += 10 * cube_near >= cube_samples;
    half += 2 * cube_near >= cube_samples;
  }
  [[nodiscard]] Json json() const {
    return {{"samples", samples}, {"near", near}, {"cubes", cubes}, {"tenth", tenth}, {"half", half}};
  }
};

/// Distance from the first joint's axis; NaN if that joint slides.
double axis_distance(const Screw<double>& axis, const Vec3<double>& point) {
  const double w = norm(axis.w);
  return w > 0 ? norm(axis.v - cross(point, axis.w)) / w : NAN;
}

Vec3<double> cube_center(const VoxelGrid& v, int k) {
  const double x = k % v.nx, y = k / v.nx % v.ny, z = k / v.nx / v.ny;
  return v.low + v.side * Vec3<double>{{x + 0.5, y + 0.5, z + 0.5}};
}

/// Where in the cell of the tool samples are near: share of the cubes, by distance from the first joint's axis, and the
/// cube with the largest share.
Json cell_json(const MapLayout& l, const Tally& t, const chain::Robot& robot) {
  constexpr int kShells = 5;
  const VoxelGrid& v = l.voxels;
  const Screw<double> axis = make_screws(robot, std::vector<double>(robot.joint.size())).screw[0];
  const auto samples = [&](int k) { return at(t, l.voxel + k * VoxelGrid::kCounts); };
  const auto near = [&](int k) { return at(t, l.voxel + k * VoxelGrid::kCounts + 1); };
  double farthest = 0;
  for (int k = 0; k < v.size(); ++k)
    if (samples(k) > 0) farthest = std::fmax(farthest, axis_distance(axis, cube_center(v, k)));
  CellPart all, shell[kShells];
  int worst = -1;
  for (int k = 0; k < v.size(); ++k) {
    if (samples(k) == 0) continue;
    all.add(samples(k), near(k));
    const double distance = axis_distance(axis, cube_center(v, k));
    if (distance >= 0)
      shell[std::min(kShells - 1, static_cast<int>(kShells * distance / farthest))].add(samples(k), near(k));
    if (samples(k) >= CellPart::kEnough && (worst < 0 || near(k) * samples(worst) > near(worst) * samples(k)))
      worst = k;
  }
  Json j = all.json();
  j["by_distance"] = Json::array();
  for (int k = 0; k < kShells && farthest > 0; ++k) {
    Json part = {{"low", farthest * k / kShells}, {"high", farthest * (k + 1) / kShells}};
    part.update(shell[k].json());
    j["by_distance"].push_back(part);
  }
  j["worst"] = nullptr;
  if (worst >= 0)
    j["worst"] = {{"center", vector_json(cube_center(v, worst))}, {"samples", samples(worst)}, {"near", near(worst)}};
  return j;
}

Json voxels_json(const MapLayout& l, const Tally& t, const chain::Robot& robot) {
  const VoxelGrid& v = l.voxels;
  if (v.size() == 0) return nullptr;
  std::int64_t occupied = 0, with_near = 0;
  for (int k = 0; k < v.size(); ++k) {
    occupied += at(t, l.voxel + k * VoxelGrid::kCounts) > 0;
    with_near += at(t, l.voxel + k * VoxelGrid::kCounts + 1) > 0;
  }
  return {{"low", vector_json(v.low)},     {"side", v.side},         {"n", {v.nx, v.ny, v.nz}},
          {"occupied", occupied},          {"with_near", with_near}, {"outside", at(t, l.outside)},
          {"cell", cell_json(l, t, robot)}};
}

Json single_precision_json(const MapLayout& l, const Tally& t) {
  const double error = -t.least[static_cast<std::size_t>(l.least_error)];
  return {{"rechecked", at(t, l.rechecked)},
          {"missed", at(t, l.missed)},
          {"false_near", at(t, l.false_near)},
          {"largest_error", number(error)}};
}

Json nearest_json(const MapStudy& study, const study::Total& t) {
  const MapLayout& l = study.layout();
  const std::int64_t converged = at(t, l.near + static_cast<int>(NearOutcome::kConverged));
  Json j = {{"converged", converged},
            {"diverged", at(t, l.near + static_cast<int>(NearOutcome::kDiverged))},
            {"outside_range", at(t, l.outside_range)},
            {"distance", histogram_json(t, l.distance, {"distance", "rad", "Distance to the singularity"})},
            {"lost_freedoms", lost_json(t, l.lost)},
            {"dependent_joints", dependent_joints_json(study, study.dependent_joints(t), converged)},
            {"subsets", subsets_json(study.subsets(t))}};
  for (int k = 0; k <= l.joints; ++k) j["subsets_per_configuration"].push_back(at(t, l.subsets + k));
  for (int k = 0; k < l.joints; ++k)
    j["escape"].push_back(
        {{"joint", k}, {"order_1", at(t, l.escape + 2 * k)}, {"order_2", at(t, l.escape + 2 * k + 1)}});
  j["no_single_joint"] = at(t, l.no_escape);
  return j;
}

}  // namespace

std::string MapStudy::summary(const study::Total& t, const std::string& stopped_by) const {
  const MapScenario& s = scenario_;
  const MapLayout& l = layout();
  Json j = study::summary_head("singularity", s.title, s.plan, t, stopped_by);
  j["robot"] = robot_json(s.robot, l.generic_rank);
  std::vector<bool> moves;
  for (const JointSource& joint : s.joint) moves.push_back(s.task || joint.kind != JointSource::Kind::kFixed);
  j["robot"]["point_rank"] = compute_point_rank(s.robot, moves);
  j["sampling"] = sampling_json(s);
  j["near"] = s.measure.near;
  j["tolerance"] = s.measure.tolerance;
  j["precision"] = s.measure.precision == Precision::kSingle ? "fp32" : "fp64";
  j["scaling"] = scaling_json(s.measure.scaling);
  study::put_outcomes(j, kOutcomeWords, t, l.outcome);
  j["p_near"] = study::to_json(estimate(t));
  j["p_near"]["confidence"] = 0.95;
  const Shown sigma = shown_by_logarithm(t, l.log_sigma, {"log_sigma", "log10", "Smallest singular value"},
                                         MapQuantity::kSigma),
              condition = shown_by_logarithm(t, l.log_condition, {"log_condition", "log10", "Condition number"},
                                             MapQuantity::kCondition);
  j["histograms"] = {
      {"log_sigma", sigma.histogram},
      {"log_condition", condition.histogram},
      {"manipulability", histogram_json(t, l.manipulability, {"manipulability", "1", "Manipulability"})}};
  j["quantiles"] = {{"sigma_min", sigma.quantiles}, {"condition", condition.quantiles}};
  j["nearest"] = s.nearest ? nearest_json(*this, t) : Json(nullptr);
  if (s.measure.precision == Precision::kSingle) j["single_precision"] = single_precision_json(l, t);
  j["worst"] = Json::array();
  for (const auto& worst : t.worst.list())
    j["worst"].push_back({{"sample", worst.sample}, {"inverse_condition", worst.value}});
  j["voxels"] = voxels_json(l, t, s.robot);
  return j.dump(1) + "\n";
}

}  // namespace garra::singularity
