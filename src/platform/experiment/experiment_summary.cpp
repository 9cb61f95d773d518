// summary.json of an experiment.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "platform/experiment/experiment_study.hpp"
#include "study/summary.hpp"

namespace garra::platform {

namespace {

using Kind = Experiment::Kind;
using study::Json;
using study::number;

Json numbers_to_json(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double x : values) list.push_back(number(x));
  return list;
}

Json three(const Vec3<double>& v) { return {v[0], v[1], v[2]}; }

Json flops_json(const ForwardFlops& f) { return {{"dense", f.dense}, {"full", f.full}, {"minimal", f.minimal}}; }

/// Per segment.
Json flops_json(const std::vector<ForwardFlops>& list) {
  Json j = {{"dense", Json::array()}, {"full", Json::array()}, {"minimal", Json::array()}};
  for (const ForwardFlops& f : list) {
    j["dense"].push_back(f.dense);
    j["full"].push_back(f.full);
    j["minimal"].push_back(f.minimal);
  }
  return j;
}

Json path_json(const PathExperiment& e) {
  int solved = 0;
  for (int k = 0; k < e.segments(); ++k) solved += e.solved(k);
  return {{"parts", e.equal_lengths ? "lengths" : "pose"},
          {"segments", e.segments()},
          {"solved", solved},
          {"iterations_full", e.full.iterations},
          {"iterations_minimal", e.minimal.iterations},
          {"difference", numbers_to_json(e.difference)},
          {"flops", flops_json(e.flops)}};
}

/// Row k of what is shown.
Json end_json(const ShownPath& shown, std::size_t k) {
  const auto slice = [k](const std::vector<double>& of, std::size_t width) {
    return numbers_to_json({of.data() + k * width, of.data() + (k + 1) * width});
  };
  return {{"position", slice(shown.pose.position, 3)},
          {"quaternion", slice(shown.pose.quaternion, 4)},
          {"lengths", slice(shown.at.lengths, 6)}};
}

Json smallest(const std::vector<double>& values) {
  return values.empty() ? Json(nullptr) : number(*std::min_element(values.begin(), values.end()));
}

/// Smallest margins on the displayed path; negative beyond a limit, which does not stop an
/// experiment.
Json margins_json(const InverseKinematics& at) {
  return {{"stroke_margin", smallest(at.stroke_margin)},
          {"universal_margin", smallest(at.universal_margin)},
          {"spherical_margin", smallest(at.spherical_margin)},
          {"clearance", smallest(at.clearance)},
          {"sigma_min", smallest(at.sigma_min)}};
}

/// The paper's "a single solution of forward kinematics in all cases", tested on this platform.
void put_modes(const std::vector<ModesOnPath>& list, Json& j) {
  Json poses = Json::array();
  std::int64_t most = 0, most_within = 0;
  for (const ModesOnPath& of : list) {
    poses.push_back({{"segment", of.segment}, {"modes", of.modes}, {"within", of.within}, {"missing", of.missing}});
    most = std::max(most, of.modes);
    most_within = std::max(most_within, of.within);
  }
  const auto result = [](std::int64_t n) { return n <= 1 ? "holds" : "does not hold"; };
  j["claim"] = {{"statement", "a single solution of forward kinematics in all cases"},
                {"result", result(most)},
                {"result_within", result(most_within)}};
  j["modes"] = poses;
}

void put_paths(const ExperimentStudy& study, Json& j) {
  const Experiment& e = study.scenario().experiment;
  if (e.kind == Kind::kMove) {
    j["translation"] = three(e.translation);
    j["rotation"] = {{"axis", three(e.axis)}, {"angle", e.angle}};
  } else {
    j["travel"] = e.travel;
  }
  j["tolerance"] = e.tolerance;
  const ShownPath shown = study.shown_path();
  j["start"] = end_json(shown, 0);
  j["end"] = end_json(shown, shown.pose.position.size() / 3 - 1);
  j["smallest"] = margins_json(shown.at);
  j["paths"] = Json::array();
  for (const PathExperiment& path : study.results().paths) j["paths"].push_back(path_json(path));
  put_modes(study.results().modes, j);
}

Json form_json(Integrator method, const Trajectories& t) {
  return {{"method", to_string(method)},
          {"status", to_string(t.status[0])},
          {"steps", t.steps[0]},
          {"corrections", t.corrections[0]},
          {"worst_drift", number(t.worst_drift[0])},
          {"worst_balance", number(t.worst_balance[0])},
          {"end_time", t.end_time[0]},
          {"end_position", numbers_to_json(t.end_pose.position)},
          {"end_quaternion", numbers_to_json(t.end_pose.quaternion)},
          {"drift", numbers_to_json(t.drift)},
          {"balance", numbers_to_json(t.balance)}};
}

/// Whether corrections bring the end of a motion nearer to the reference; null: there was none.
Json improvement(const SteppedMotion& m) {
  if (m.full.corrections[0] == 0) return nullptr;
  return m.error_full < m.error_uncorrected;
}

Json step_json(const SteppedMotion& m) {
  return {{"step", m.step},
          {"steps", m.full.steps[0]},
          {"corrections", m.full.corrections[0]},
          {"worst_drift", number(m.full.worst_drift[0])},
          {"worst_drift_uncorrected", number(m.uncorrected.worst_drift[0])},
          {"error_full", number(m.error_full)},
          {"error_uncorrected", number(m.error_uncorrected)},
          {"error_minimal", number(m.error_minimal)},
          {"corrections_improve", improvement(m)},
          {"flops",
           {{"dense", numbers_to_json(m.flops.dense)},
            {"full", numbers_to_json(m.flops.full)},
            {"minimal", numbers_to_json(m.flops.minimal)},
            {"corrections", m.flops.corrections}}}};
}

void put_motion(const ExperimentStudy& study, Json& j) {
  const Experiment& e = study.scenario().experiment;
  const FreeMotion& all = study.results().motion;
  const SteppedMotion& m = study.shown_motion();
  j["forces"] = numbers_to_json(all.force);
  j["duration"] = e.duration;
  j["step"] = m.step;
  j["correct_above"] = e.correct_above;
  j["time"] = m.full.times;
  j["full"] = form_json(Integrator::kHybrid, m.full);
  j["minimal"] = form_json(Integrator::kRk4, m.minimal);
  j["difference"] = numbers_to_json(m.difference);
  j["flops_per_evaluation"] = flops_json(all.flops);
  j["steps"] = Json::array();
  for (const SteppedMotion& of : all.steps) j["steps"].push_back(step_json(of));
}

}  // namespace

std::string ExperimentStudy::summary(const study::Total& t, const std::string& stopped_by) const {
  Json j = {
      {"schema", study::kSummarySchema}, {"job", "platform_experiment"}, {"kind", name_of(scenario_.experiment.kind)},
      {"title", scenario_.title},        {"samples", t.count},           {"requested", plan_.samples},
      {"stopped_by", stopped_by},        {"solved", t.counts[0]}};
  j["platform"] = {{"name", scenario_.platform.name}, {"gravity", three(scenario_.platform.gravity)}};
  if (is_motion())
    put_motion(*this, j);
  else
    put_paths(*this, j);
  return j.dump(1) + "\n";
}

}  // namespace garra::platform
