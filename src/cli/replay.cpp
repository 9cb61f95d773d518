// `garra replay`: one sample of a run again, with its matrices, iterations and certificate.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/run_files.hpp"
#include "garra/core/error.hpp"
#include "garra/io/problem_file.hpp"
#include "garra/io/run_folder.hpp"
#include "garra/io/scenario.hpp"
#include "systems/grasp_study.hpp"

namespace garra::cli {

namespace {

using Json = nlohmann::ordered_json;

struct ReplayArguments {
  std::string run, format = "human", problem;
  std::int64_t sample = -1;
};

Json rows(const std::vector<double>& v, std::size_t width) {
  Json out = Json::array();
  for (std::size_t k = 0; k < v.size(); k += width)
    out.push_back(std::vector<double>(v.begin() + static_cast<std::ptrdiff_t>(k),
                                      v.begin() + static_cast<std::ptrdiff_t>(k + width)));
  return out;
}

Json to_json(const grasp::Study& study, const grasp::Replay& r, std::int64_t sample) {
  static constexpr const char* state[3] = {"stick", "slip", "break"};
  Json j;
  j["sample"] = sample;
  j["outcome"] = grasp::to_string(r.outcome);
  for (std::size_t k = 0; k < r.inputs.size(); ++k) j["inputs"][study.inputs()[k].name] = r.inputs[k];
  j["contacts"] = Json::array();
  for (std::size_t k = 0; k < r.mu.size(); ++k)
    j["contacts"].push_back({{"friction", r.mu[k]},
                             {"state", state[r.states[k]]},
                             {"c", {r.c[3 * k], r.c[3 * k + 1], r.c[3 * k + 2]}},
                             {"a", {r.a[3 * k], r.a[3 * k + 1], r.a[3 * k + 2]}}});
  j["A"] = rows(r.A, r.b.size());
  j["b"] = r.b;
  j["iterations"] = r.iterations;
  j["residual"] = r.residual;
  j["tol"] = study.scenario().tol;
  static constexpr const char* metric[grasp::kMetrics] = {"friction_margin", "critical_friction", "load_factor",
                                                          "wrench_radius", "minimum_squeeze"};
  for (int k = 0; k < grasp::kMetrics; ++k)
    j["metrics"][metric[k]] = std::isfinite(r.metric[k]) ? Json(r.metric[k]) : Json(nullptr);
  return j;
}

void print(const Json& j) {
  std::printf("sample %lld: %s\n\nInputs\n", j["sample"].get<long long>(), j["outcome"].get<std::string>().c_str());
  for (const auto& [name, value] : j["inputs"].items())
    std::printf("  %-28s %12.6g\n", name.c_str(), value.get<double>());
  std::printf("\nContacts        friction  state        c_n        c_t        c_o        a_n        a_t        a_o\n");
  int k = 0;
  for (const auto& c : j["contacts"]) {
    std::printf("  contact %-4d %10.4f  %-5s", ++k, c["friction"].get<double>(), c["state"].get<std::string>().c_str());
    for (const char* key : {"c", "a"})
      for (const auto& v : c[key]) v.is_null() ? std::printf(" %10s", "-") : std::printf(" %10.4g", v.get<double>());
    std::printf("\n");
  }
  std::printf("\nMetrics\n");
  for (const auto& [key, value] : j["metrics"].items()) {
    std::string name = key;
    std::replace(name.begin(), name.end(), '_', ' ');
    value.is_null() ? std::printf("  %-28s %12s\n", name.c_str(), "-")
                    : std::printf("  %-28s %12.6g\n", name.c_str(), value.get<double>());
  }
  std::printf("\na = A c + b; columns: A | b\n");
  for (std::size_t r = 0; r < j["b"].size(); ++r) {
    for (const auto& v : j["A"][r]) std::printf(" %9.4f", v.get<double>());
    std::printf("  | %9.4f\n", j["b"][r].get<double>());
  }
  std::printf("\nCertificate: residual %.3e (tolerance %.0e) after %.0f Newton steps\n", j["residual"].get<double>(),
              j["tol"].get<double>(), j["iterations"].get<double>());
}

std::int64_t default_sample(const io::RunFolder& folder) {
  if (!std::filesystem::exists(folder.file("summary.json")))
    throw Error(ExitCode::kUsage, folder.path() + ": the run is not finished, so its closest failure is not known",
                "Give --sample I, or finish it with `garra resume " + folder.path() + "`.");
  const std::int64_t sample = sample_to_replay(Json::parse(folder.read_text("summary.json")));
  if (sample < 0) throw Error(ExitCode::kUsage, folder.path() + ": no sample lies near the border", "Give --sample I.");
  return sample;
}

void replay(const ReplayArguments& a) {
  const auto folder = io::RunFolder::open(a.run);
  const grasp::Study study(io::read_scenario(folder.scenario(), folder.overrides()));
  const std::int64_t sample = a.sample < 0 ? default_sample(folder) : a.sample;
  const std::int64_t samples = study.scenario().plan.samples;
  if (sample >= samples)
    throw Error(ExitCode::kUsage,
                "--sample " + std::to_string(sample) + ": the run has " + std::to_string(samples) + " samples",
                "Give a number from 0 to " + std::to_string(samples - 1) + ".");
  const auto r = study.replay(sample);
  if (!a.problem.empty()) io::write_problems(a.problem, {static_cast<int>(r.mu.size()), 1, r.A, r.b, r.mu});
  const Json j = to_json(study, r, sample);
  if (a.format == "json")
    std::printf("%s\n", j.dump(1).c_str());
  else
    print(j);
}

}  // namespace

void add_replay_command(CLI::App& app) {
  auto a = std::make_shared<ReplayArguments>();
  CLI::App* c = app.add_subcommand("replay", "Re-create one sample of a run: inputs, matrices, forces, certificate");
  c->add_option("RUN", a->run, "run folder")->required();
  c->add_option("--sample", a->sample, "number of the sample (default: the closest failure)")
      ->check(CLI::NonNegativeNumber);
  c->add_option("--problem", a->problem, "also write A, b, mu to this problem file (HDF5)");
  c->add_option("--format", a->format, "human or json")->capture_default_str()->check(CLI::IsMember({"human", "json"}));
  c->footer("Examples:\n  garra replay run-three_puma_sphere\n  garra replay grasp --sample 4711 --problem hard.h5");
  c->callback([a] { replay(*a); });
}

}  // namespace garra::cli
