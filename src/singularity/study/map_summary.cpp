// summary.json of a map of singularities.
#include <cmath>

#include "singularity/map/map_outcomes.hpp"
#include "singularity/study/map_study.hpp"
#include "study/summary.hpp"

namespace garra::singularity {

namespace {

using study::at;
using study::Json;
using study::number;
using study::Tally;

Json joints_json(std::uint32_t set) {
  Json list = Json::array();
  for (int j = 0; set >> j != 0; ++j)
    if ((set >> j & 1) != 0) list.push_back(j);
  return list;
}

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
Shown shown_by_logarithm(const Tally& t, study::Histogram h, const study::ColumnWords& words, MapQuantity of) {
  h.buckets = static_cast<int>(of);
  Shown s{histogram_json(t, h, words), {}};
  s.quantiles = s.histogram["quantiles"];
  for (auto& [p, x] : s.histogram["quantiles"].items())
    if (!x.is_null()) x = number(std::log10(x.get<double>()));
  return s;
}

Json dependent_joints_json(const std::vector<CountedSet>& sets, std::int64_t converged) {
  Json list = Json::array();
  for (const CountedSet& set : sets) {
    const study::Interval i = study::clopper_pearson(set.count, converged);
    list.push_back({{"joints", joints_json(set.joints)},
                    {"count", set.count},
                    {"share", static_cast<double>(set.count) / static_cast<double>(converged)},
                    {"low", i.low},
                    {"high", i.high},
                    {"example", set.example}});
  }
  return list;
}

Json subsets_json(const std::vector<CountedSet>& sets) {
  Json list = Json::array();
  for (const CountedSet& set : sets) list.push_back({{"joints", joints_json(set.joints)}, {"count", set.count}});
  return list;
}

Json lost_json(const Tally& t, int first) {
  Json list = Json::array();
  for (int lost = 0; lost < 7; ++lost)
    if (const std::int64_t n = at(t, first + lost); n > 0) list.push_back({{"lost", lost}, {"count", n}});
  return list;
}

Json voxels_json(const MapLayout& l, const Tally& t) {
  const VoxelGrid& v = l.voxels;
  if (v.size() == 0) return nullptr;
  std::int64_t occupied = 0, with_near = 0;
  for (int k = 0; k < v.size(); ++k) {
    occupied += at(t, l.voxel + k * VoxelGrid::kCounts) > 0;
    with_near += at(t, l.voxel + k * VoxelGrid::kCounts + 1) > 0;
  }
  return {{"low", vector_json(v.low)}, {"side", v.side},         {"n", {v.nx, v.ny, v.nz}},
          {"occupied", occupied},      {"with_near", with_near}, {"outside", at(t, l.outside)}};
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
            {"dependent_joints", dependent_joints_json(study.dependent_joints(t), converged)},
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
  Json j = {{"schema", study::kSummarySchema},
            {"job", "singularity"},
            {"title", s.title},
            {"seed", s.plan.seed},
            {"samples", t.count},
            {"requested", s.plan.samples},
            {"stopped_by", stopped_by}};
  j["robot"] = robot_json(s.robot, l.generic_rank);
  j["sampling"] = sampling_json(s);
  j["near"] = s.measure.near;
  j["tolerance"] = s.measure.tolerance;
  j["precision"] = s.measure.precision == Precision::kSingle ? "fp32" : "fp64";
  j["scaling"] = scaling_json(s.measure.scaling);
  study::put_outcomes(j, kOutcomeWords, t, l.outcome);
  const study::Estimate e = estimate(t);
  j["p_near"] = {
      {"probability", number(e.probability)}, {"low", e.interval.low}, {"high", e.interval.high}, {"confidence", 0.95}};
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
  j["voxels"] = voxels_json(l, t);
  return j.dump(1) + "\n";
}

}  // namespace garra::singularity
