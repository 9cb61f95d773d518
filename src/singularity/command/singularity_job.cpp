// job = "singularity" in the program: map.h5, configurations.json, the answer, replay of a sample.
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/answer_parts.hpp"
#include "cli/jobs.hpp"
#include "garra/core/error.hpp"
#include "garra/io/singularity_scenario.hpp"
#include "singularity/command/answers.hpp"
#include "singularity/command/singularity_answer.hpp"
#include "singularity/files/map_file.hpp"
#include "singularity/study/map_study.hpp"

namespace garra::cli {

namespace {

using namespace singularity;
using Json = nlohmann::ordered_json;

constexpr double kDegree = M_PI / 180;

/// What configurations.json says of a singularity and of the sample that led to it.
Json singularity_to_json(const MapSample& s, const chain::Robot& robot) {
  return {{"joints", joints_json<Json>(s.nearest.dependent_joints[0])},
          {"sample", s.sample},
          {"q", s.q},
          {"singular_q", s.nearest.singular_q},
          {"distance", s.nearest.distance[0]},
          {"type", singularity_type(robot, s.nearest.singular_q)},
          {"screws", screws_json(s.screws)},
          {"analysis", singularity_json(*s.analysis, &s.options)},
          {"text", singularity_text(s.screws, *s.analysis, &s.options)}};
}

Json configurations_json(const std::vector<ChosenConfiguration>& chosen, const chain::Robot& robot) {
  Json list = Json::array();
  for (const ChosenConfiguration& c : chosen) {
    if (!c.sample.analysis) continue;  // the search has not converged: there is nothing to show
    Json item = {{"why", c.why}, {"joints", nullptr}, {"share", c.share ? Json(*c.share) : Json(nullptr)}};
    item.update(singularity_to_json(c.sample, robot));
    list.push_back(item);
  }
  return {{"configurations", list}};
}

io::MapVoxels collect_voxels(const MapStudy& study, const study::Total& total) {
  const VoxelGrid& grid = study.layout().voxels;
  VoxelValues v = study.voxels(total);
  return {grid.low,
          grid.side,
          {grid.nx, grid.ny, grid.nz},
          std::move(v.count),
          std::move(v.near),
          std::move(v.sigma_min),
          std::move(v.sigma_max),
          std::move(v.sigma_p10),
          std::move(v.sigma_p50)};
}

io::MapSlice evaluated(const MapScenario& scenario, const Slice& slice) {
  SliceResult r = evaluate_slice(scenario, slice, {});
  return {std::move(r.slice),
          std::move(r.measures),
          std::move(r.locus_x),
          std::move(r.locus_y),
          std::move(r.locus_dependent_joints),
          std::move(r.locus_escape)};
}

Json to_json(const MapSample& s, const chain::Robot& robot) {
  Json j = {{"sample", s.sample}, {"outcome", to_string(s.outcome)}};
  if (s.q.empty()) {
    const chain::InverseKinematics& found = s.search;
    if (found.success.empty()) return j;
    j["nearest_pose"] = {{"q", found.q},
                         {"reached", found.success[0] != 0},
                         {"position_error", number_to_json(found.position_error[0])},
                         {"rotation_error", number_to_json(found.rotation_error[0])}};
    return j;
  }
  const Measures& m = s.measures;
  j["q"] = s.q;
  j["sigma_min"] = number_to_json(m.sigma_min[0]);
  j["inverse_condition"] = number_to_json(m.inverse_condition[0]);
  j["manipulability"] = number_to_json(m.manipulability[0]);
  for (const double x : m.tool) j["tool"].push_back(number_to_json(x));
  add_tool_speed(robot, tool_speed(robot, s.q), j);
  j["nearest"] = s.analysis ? singularity_to_json(s, robot) : Json(nullptr);
  if (!s.analysis) return j;
  const NearSingularities& near = s.nearest;
  j["nearest"].erase("sample");
  j["nearest"].erase("q");
  j["nearest"]["lost"] = near.lost[0];
  j["nearest"]["subsets"] = near.subsets[0];
  j["nearest"]["escape"] = {{"joint", near.escape_joint[0]},
                            {"order", near.escape_order[0]},
                            {"rate", number_to_json(near.escape_rate[0])},
                            {"sign", near.escape_sign[0]}};
  return j;
}

std::string joint_name(const chain::Robot& robot, std::size_t j) {
  const std::string& name = robot.joint[j].name;
  return "joint " + std::to_string(j) + (name.empty() ? "" : ", " + name);
}

void print_joints(const MapSample& s, const chain::Robot& robot) {
  std::printf("\n%-34s %14s %14s\n", "Joints", "sample", s.analysis ? "singular at" : "");
  for (std::size_t j = 0; j < s.q.size(); ++j) {
    const bool slides = robot.joint[j].prismatic;
    const double unit = slides ? 1 : kDegree;
    std::printf("  %-32s %14.6g", joint_name(robot, j).c_str(), s.q[j] / unit);
    if (s.analysis) std::printf(" %14.6g", s.nearest.singular_q[j] / unit);
    std::printf(" %s\n", slides ? "m" : "deg");
  }
}

/// What other searches find where a sample's own has not arrived.
void print_search(const MapSample& s, const chain::Robot& robot) {
  const chain::InverseKinematics& found = s.search;
  if (found.success[0] != 0)
    std::printf("  other starts reach it, at\n");
  else
    std::printf("  the nearest pose found is %.3g m and %.3g deg away, at\n", found.position_error[0],
                found.rotation_error[0] / kDegree);
  for (std::size_t j = 0; j < found.q.size(); ++j) {
    const bool slides = robot.joint[j].prismatic;
    std::printf("  %-32s %14.6g %s\n", joint_name(robot, j).c_str(), found.q[j] / (slides ? 1 : kDegree),
                slides ? "m" : "deg");
  }
}

/// `tolerance`: the map's, which says what is singular.
void print_map_sample(const MapSample& s, const chain::Robot& robot, double tolerance) {
  std::printf("sample %lld: %s\n", static_cast<long long>(s.sample), to_string(s.outcome));
  if (s.q.empty()) {
    std::printf("  from this start the search for joint values has not reached the target\n");
    if (!s.search.success.empty()) print_search(s, robot);
    return;
  }
  print_joints(s, robot);
  const Measures& m = s.measures;
  std::printf("\nSmallest singular value  %.6g, %.6g of the largest\n", m.sigma_min[0], m.inverse_condition[0]);
  std::printf("Manipulability           %.6g (product of the singular values)\n", m.manipulability[0]);
  std::printf("Tool point               (%.6g, %.6g, %.6g) m\n", m.tool[0], m.tool[1], m.tool[2]);
  std::fputs(tool_speed_text(robot, tool_speed(robot, s.q), 25).c_str(), stdout);
  if (!s.analysis) {
    std::printf("Nearest singularity      none was found from here\n");
    return;
  }
  const std::string type = singularity_type(robot, s.nearest.singular_q);
  std::printf("Nearest singularity      %s%.6g deg of joint motion away\n", type.empty() ? "" : (type + ", ").c_str(),
              s.nearest.distance[0] / kDegree);
  std::printf(
      "                         singular to %g of the largest, the map's tolerance; lost freedoms and sets are "
      "decided\n"
      "                         by %g, as the map does: double roots are found to the root of rounding only\n",
      tolerance, s.options.tolerance);
  std::printf("\nThe analysis there:\n%s", singularity_text(s.screws, *s.analysis, &s.options).c_str());
}

class SingularityJob final : public StudyJob<MapStudy, MapScenario, io::resolved_toml> {
 public:
  using StudyJob::StudyJob;

  void write_files(const io::RunFolder& folder, const study::Total& total) const override {
    std::vector<io::MapSlice> slices;
    for (const Slice& slice : study_.slices(total)) slices.push_back(evaluated(study_.scenario(), slice));
    io::write_map(folder.file("map.h5"), collect_voxels(study_, total), slices);
    const Json configurations = configurations_json(study_.configurations(total), study_.scenario().robot);
    folder.write_text("configurations.json", configurations.dump(1) + "\n");
  }
  [[nodiscard]] bool has_files(const io::RunFolder& folder) const override {
    return folder.has("map.h5") && folder.has("configurations.json");
  }

  [[nodiscard]] std::string answer(const Json& summary, const Json& manifest, const std::string& run) const override {
    return singularity_map_answer_text(summary, manifest, {run, sample_to_replay(summary)});
  }

  /// The nearest to a singularity.
  [[nodiscard]] std::int64_t sample_to_replay(const Json& summary) const override {
    return summary["worst"].empty() ? -1 : summary["worst"][0]["sample"].get<std::int64_t>();
  }

  void replay(const ReplayArguments& a, std::int64_t sample) const override {
    if (!a.problem.empty() || !a.output.empty())
      throw Error(ExitCode::kUsage,
                  (a.problem.empty() ? "-o " + a.output : "--problem " + a.problem) +
                      ": a sample of a map is one configuration, without a file of its own",
                  "Give --format json for all its numbers, or `garra singularity ROBOT --at Q --report FILE.html`.");
    const MapSample s = study_.sample(sample);
    if (a.format == "json")
      std::printf("%s\n", to_json(s, study_.scenario().robot).dump(1).c_str());
    else
      print_map_sample(s, study_.scenario().robot, study_.scenario().measure.tolerance);
  }
};

constexpr JobKind kKind = {
    .name = "singularity",
    .event = "near",
    .quantity = "p_near",
    .tolerance_key = "measure.tolerance",
    .unsolved_remedy =
        "These configurations are not finite: look at the ranges of [joints], or allow it with --set "
        "sampling.max_unsolved=0.01.",
    .no_sample = "no sample is near a singularity",
    .read = read_study_job<SingularityJob, io::read_singularity_scenario>,
};
const KnownJob kKnown(kKind);

}  // namespace

}  // namespace garra::cli
