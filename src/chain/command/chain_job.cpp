// job = "chain" in the program: nominal.h5, the answer, replay of a sample with its trajectory.
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/files/atomic_file.hpp"
#include "chain/command/chain_answer.hpp"
#include "chain/files/nominal_file.hpp"
#include "chain/files/trajectory_file.hpp"
#include "chain/study/chain_study.hpp"
#include "cli/answer_parts.hpp"
#include "cli/jobs.hpp"
#include "garra/core/error.hpp"
#include "garra/core/version.hpp"
#include "garra/io/chain_scenario.hpp"

namespace garra::cli {

namespace {

using Json = nlohmann::ordered_json;

Json numbers_to_json(std::span<const double> values) {
  Json list = Json::array();
  for (const double x : values) list.push_back(number_to_json(x));
  return list;
}

Json to_json(const chain::Study& study, const chain::Replay& r, std::int64_t sample) {
  const chain::Scenario& s = study.scenario();
  Json j = {{"sample", sample}, {"outcome", to_string(r.measured.outcome)}, {"design", r.design}, {"draw", r.draw}};
  j["swept"] = Json::object();
  for (std::size_t k = 0; k < s.sweep.size(); ++k)
    j["swept"][s.sweep[k].key] = s.designs[static_cast<std::size_t>(r.design)].values[k];
  j["inputs"] = Json::object();
  for (std::size_t k = 0; k < r.inputs.size(); ++k) j["inputs"][study.inputs()[k].name] = r.inputs[k];
  j["settling_time"] = number_to_json(r.measured.settling());
  const chain::Design& design = s.designs[static_cast<std::size_t>(r.design)];
  j["within"] = design.settles() ? Json(design.within) : Json(nullptr);
  const std::span<const double> peaks = r.measured.of_joints();
  j["peak_torque"] = numbers_to_json(peaks.first(peaks.size() / 2));
  j["peak_speed"] = numbers_to_json(peaks.last(peaks.size() / 2));
  j["work"] = number_to_json(r.measured.value[chain::kWorkOfTorques]);
  j["dissipated"] = number_to_json(r.measured.value[chain::kDissipatedEnergy]);
  j["balance"] = number_to_json(r.measured.balance);
  return j;
}

void print_values(const char* title, const Json& values) {
  if (values.empty()) return;
  std::printf("\n%s\n", title);
  for (const auto& [name, value] : values.items()) std::printf("  %-28s %12.6g\n", name.c_str(), value.get<double>());
}

std::string format_value(const Json& x) {
  char text[32];
  if (x.is_null()) return "-";
  std::snprintf(text, sizeof text, "%.6g", x.get<double>());
  return text;
}

void print_sample(const Json& j, const chain::Robot& robot) {
  std::printf("sample %lld: %s\n", j["sample"].get<long long>(), j["outcome"].get<std::string>().c_str());
  std::printf("design %lld, its sample %lld\n", j["design"].get<long long>(), j["draw"].get<long long>());
  print_values("Swept", j["swept"]);
  print_values("Inputs", j["inputs"]);
  const Json& settling = j["settling_time"];
  if (!j["within"].is_null())
    std::printf("\nSettling time     %s (asked: %.6g s)\n",
                settling.is_null() ? "never" : (format_value(settling) + " s").c_str(), j["within"].get<double>());
  std::printf("\n%-18s %12s %12s\n", "Peaks", "torque", "speed");
  for (std::size_t k = 0; k < j["peak_torque"].size(); ++k) {
    const chain::Joint& joint = robot.joint[k];
    const std::string name = joint.name.empty() ? "joint " + std::to_string(k) : joint.name;
    std::printf("  %-16s %12s %12s  %s\n", name.c_str(), format_value(j["peak_torque"][k]).c_str(),
                format_value(j["peak_speed"][k]).c_str(), joint.prismatic ? "N, m/s" : "N m, rad/s");
  }
  std::printf("\nEnergy            work %s J, dissipated %s J, balance off by %s J\n", format_value(j["work"]).c_str(),
              format_value(j["dissipated"]).c_str(), format_value(j["balance"]).c_str());
}

class ChainJob final : public StudyJob<chain::Study, chain::Scenario, io::resolved_toml> {
 public:
  using StudyJob::StudyJob;

  void write_files(const io::RunFolder& folder, const study::Total& total) const override {
    io::write_nominal(folder.file("nominal.h5"), study_.nominal(study_.best(total)));
  }
  [[nodiscard]] bool has_files(const io::RunFolder& folder) const override { return folder.has("nominal.h5"); }

  [[nodiscard]] std::string answer(const Json& summary, const Json& manifest, const std::string& run) const override {
    return chain_answer_text(summary, manifest, {run, sample_to_replay(summary)});
  }

  /// Of the best design the one that takes longest.
  [[nodiscard]] std::int64_t sample_to_replay(const Json& summary) const override {
    return summary["slowest"].empty() ? -1 : summary["slowest"][0]["sample"].get<std::int64_t>();
  }

  void replay(const ReplayArguments& a, std::int64_t sample) const override {
    if (!a.problem.empty())
      throw Error(ExitCode::kUsage, "--problem " + a.problem + ": a sample of a chain study has no contact problem",
                  "Give -o FILE for its trajectory.");
    if (!a.output.empty()) io::require_writable(a.output);
    // With outputs only where they are written: the numbers of the sample need none.
    const chain::Replay r = study_.replay(sample, !a.output.empty());
    const chain::Design& design = study_.scenario().designs[static_cast<std::size_t>(r.design)];
    if (!a.output.empty())
      io::write_trajectories(a.output, r.trajectory,
                             {study_.scenario().robot.name, to_string(design.options.method),
                              // Replays run on the host.
                              to_string(design.torque.kind), "cpu", version()});
    const Json j = to_json(study_, r, sample);
    print_replay(a.format, j, [&](const Json& shown) { print_sample(shown, study_.scenario().robot); });
  }
};

constexpr JobKind kKind = {
    .name = "chain",
    .event = "settled",
    .quantity = "p_settled",
    .of_whom = " of the best design",
    .tolerance_key = "simulation.tolerance",
    .unsolved_remedy =
        "Give a shorter simulation.step or another simulation.method, or allow it with --set "
        "sampling.max_unsolved=0.01.",
    .no_sample = "no sample has settled",
    .read = read_study_job<ChainJob, io::read_chain_scenario>,
};
const KnownJob kKnown(kKind);

}  // namespace

}  // namespace garra::cli
