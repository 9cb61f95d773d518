// job = "platform" in the program: path.h5 or map.h5, the answer, replay of a sample.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/files/atomic_file.hpp"
#include "cli/answer_parts.hpp"
#include "cli/jobs.hpp"
#include "garra/core/error.hpp"
#include "garra/io/platform_scenario.hpp"
#include "platform/command/platform_answer.hpp"
#include "platform/command/study_file.hpp"

namespace garra::cli {

namespace {

using Json = nlohmann::ordered_json;
using platform::kLegs;
using platform::PlatformStudy;
using platform::StudyReplay;
using platform::StudySeries;

constexpr std::size_t kWorstInstants = 8;  ///< in the table of a replay

std::size_t row_begin(std::size_t instant) { return static_cast<std::size_t>(kLegs) * instant; }

double largest_force(const StudySeries& s, std::size_t k) {
  double most = 0;
  for (std::size_t i = 0; i < kLegs; ++i) most = std::max(most, std::abs(s.force[row_begin(k) + i]));
  return most;
}
double smallest_at(const std::vector<double>& rows, std::size_t k) {
  return *std::min_element(rows.data() + row_begin(k), rows.data() + row_begin(k + 1));
}

/// The instants of highest force, in the order of time.
std::vector<std::size_t> worst_instants(const StudySeries& s) {
  std::vector<std::size_t> list(s.time.size());
  for (std::size_t k = 0; k < list.size(); ++k) list[k] = k;
  std::stable_sort(list.begin(), list.end(),
                   [&](std::size_t a, std::size_t b) { return largest_force(s, a) > largest_force(s, b); });
  list.resize(std::min(list.size(), kWorstInstants));
  std::sort(list.begin(), list.end());
  return list;
}

Json to_json(const PlatformStudy& study, const StudyReplay& r, std::int64_t sample) {
  const auto outcome = static_cast<platform::Outcome>(static_cast<int>(r.measured.outcome));
  const bool failed = outcome != platform::Outcome::kFeasible;
  Json j = {{"sample", sample}, {"outcome", to_string(outcome)}};
  j["first_failure"] = nullptr;
  if (failed)
    j["first_failure"] = {{"instant", static_cast<int>(r.measured.instant)},
                          {"time", r.series.time[static_cast<std::size_t>(r.measured.instant)]},
                          {"leg", r.measured.leg > 0 ? Json(static_cast<int>(r.measured.leg) - 1) : Json(nullptr)}};
  j["inputs"] = Json::object();
  std::size_t next = 0;
  for (const platform::StudyUncertain& input : study.inputs()) {
    Json values = Json::array();
    for (int k = 0; k < input.slots; ++k) values.push_back(number_to_json(r.inputs[next++]));
    j["inputs"][input.name] = input.slots == 1 ? values[0] : values;
  }
  const auto& m = r.measured;
  j["peak_force"] = {{"force", number_to_json(m.peak_force)},
                     {"instant", static_cast<int>(m.peak_instant)},
                     {"leg", static_cast<int>(m.peak_leg) - 1}};
  j["smallest"] = {{"stroke_margin", number_to_json(m.stroke)},
                   {"universal_margin", number_to_json(m.universal)},
                   {"spherical_margin", number_to_json(m.spherical)},
                   {"clearance", number_to_json(m.clearance)},
                   {"sigma_min", number_to_json(m.sigma)}};
  j["instants"] = Json::array();
  for (const std::size_t k : worst_instants(r.series)) {
    Json force = Json::array();
    for (std::size_t i = 0; i < kLegs; ++i) force.push_back(number_to_json(r.series.force[row_begin(k) + i]));
    j["instants"].push_back({{"time", r.series.time[k]},
                             {"force", force},
                             {"stroke_margin", number_to_json(smallest_at(r.series.stroke, k))},
                             {"sigma_min", number_to_json(r.series.sigma_min[k])}});
  }
  return j;
}

void print_inputs(const Json& inputs) {
  if (inputs.empty()) return;
  std::printf("\nInputs\n");
  for (const auto& [name, value] : inputs.items()) {
    if (!value.is_array())
      std::printf("  %-28s %12.6g\n", name.c_str(), value.get<double>());
    else
      std::printf("  %-28s %zu numbers (--format json shows them)\n", name.c_str(), value.size());
  }
}

void print_sample(const Json& j) {
  std::printf("sample %lld: %s\n", j["sample"].get<long long>(), j["outcome"].get<std::string>().c_str());
  if (const Json& first = j["first_failure"]; !first.is_null()) {
    std::printf("first at %.6g s (instant %d)", first["time"].get<double>(), first["instant"].get<int>());
    if (!first["leg"].is_null()) std::printf(", leg %d", first["leg"].get<int>());
    std::printf("\n");
  }
  print_inputs(j["inputs"]);
  std::printf("\n%-9s %-58s %10s %8s\n", "Time [s]", "Forces of the actuators [N]", "stroke [m]", "sigma");
  const auto shown = [](const Json& x) { return x.is_null() ? NAN : x.get<double>(); };
  for (const Json& row : j["instants"]) {
    std::printf("%-9.4g", row["time"].get<double>());
    for (const Json& f : row["force"]) std::printf(" %9.2f", shown(f));
    std::printf(" %9.4f %8.4f\n", shown(row["stroke_margin"]), shown(row["sigma_min"]));
  }
  std::printf("  the instants of highest force; margin of the stroke and scaled singular value: the smallest there\n");
}

class PlatformJob final : public StudyJob<PlatformStudy, platform::Scenario, io::resolved_toml> {
 public:
  using StudyJob::StudyJob;

  void write_files(const io::RunFolder& folder, const study::Total& total) const override {
    if (is_map())
      write_platform_map(folder.file("map.h5"), study_, study_.map(total));
    else
      write_platform_path(folder.file("path.h5"), study_, study_.nominal(), &total);
  }
  [[nodiscard]] bool has_files(const io::RunFolder& folder) const override {
    return folder.has(is_map() ? "map.h5" : "path.h5");
  }

  [[nodiscard]] std::string answer(const Json& summary, const Json& manifest, const std::string& run) const override {
    return platform_study_answer_text(summary, manifest, {run, sample_to_replay(summary)});
  }

  /// The one with the highest force.
  [[nodiscard]] std::int64_t sample_to_replay(const Json& summary) const override {
    const Json& list = summary["highest_force"];
    return list.empty() ? -1 : list[0]["sample"].get<std::int64_t>();
  }

  void replay(const ReplayArguments& a, std::int64_t sample) const override {
    if (!a.problem.empty())
      throw Error(ExitCode::kUsage, "--problem " + a.problem + ": a sample of a platform study has no contact problem",
                  "Give -o FILE.h5 for its series.");
    if (!a.output.empty()) io::require_writable(a.output);
    const StudyReplay r = study_.replay(sample);
    if (!a.output.empty()) write_platform_path(a.output, study_, r.series, nullptr);
    const Json j = to_json(study_, r, sample);
    print_replay(a.format, j, print_sample);
  }

 private:
  [[nodiscard]] bool is_map() const { return study_.scenario().kind == platform::Study::kMap; }
};

constexpr JobKind kKind = {
    .name = "platform",
    .event = "feasible",
    .quantity = "p_feasible",
    .tolerance_key = "allowed.near_singular",
    .unsolved_remedy =
        "These samples have numbers that are not finite: look at the path and at the distributions, or allow it with "
        "--set "
        "sampling.max_unsolved=0.01.",
    .no_sample = "no sample is decided",
    .read = read_study_job<PlatformJob, io::read_platform_scenario>,
};
const KnownJob kKnown(kKind);

}  // namespace

}  // namespace garra::cli
