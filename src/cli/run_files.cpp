#include "cli/run_files.hpp"

#include <algorithm>
#include <ctime>
#include <filesystem>

#include "garra/core/error.hpp"
#include "garra/io/problem_file.hpp"
#include "io/results_file.hpp"

namespace garra::cli {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using grasp::Outcome;

std::string utc_now() {
  const std::time_t t = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&t));
  return text;
}

/// The manifest of an earlier start; null where there is none that can be continued.
Json earlier_manifest(const io::RunFolder& folder) {
  if (!fs::exists(folder.file("manifest.json"))) return nullptr;
  Json j = Json::parse(folder.read_text("manifest.json"), nullptr, false);
  const bool sound = j.is_object() && j.value("seconds", Json()).is_number() &&
                     j.value("resumed", Json()).is_number() && j.value("samples_computed", Json()).is_number() &&
                     j.value("device", Json()).is_string();
  return sound ? j : Json(nullptr);
}

io::SampleColumns columns_of(const grasp::Study& study) {
  io::SampleColumns columns{study.layout().draws, 3 * study.layout().contacts, {}, {}};
  for (const auto& input : study.inputs()) columns.input_names.push_back(input.name);
  for (int k = 0; k < grasp::kOutcomes; ++k) columns.outcome_names.push_back(to_string(static_cast<Outcome>(k)));
  return columns;
}

std::vector<std::int64_t> failures_of(const study::Total& total, const std::vector<std::int64_t>& unanswered) {
  std::vector<std::int64_t> samples(unanswered.begin(),
                                    unanswered.begin() + std::min<std::ptrdiff_t>(5, std::ssize(unanswered)));
  for (const auto& e : total.closest.list()) {
    const bool known = std::find(samples.begin(), samples.end(), e.sample) != samples.end();
    if (e.outcome != static_cast<int>(Outcome::kHeld) && !known && samples.size() < 10) samples.push_back(e.sample);
  }
  return samples;
}

}  // namespace

Manifest::Manifest(const io::RunFolder& folder, const Device& device, const std::string& command)
    : folder_(folder), device_(describe(device)), json_(earlier_manifest(folder)) {
  if (!json_.is_null()) {
    json_["resumed"] = json_["resumed"].get<std::int64_t>() + 1;
    return;
  }
  json_ = {{"garra", GARRA_VERSION},
           {"command", command},
           {"scenario", "scenario.toml"},
           {"scenario_sha", "crc32:" + io::checksum(folder.read_text("scenario.toml"))},
           {"overrides", folder.overrides()},
           {"device", device_},
           {"started", utc_now()},
           {"seconds", 0.0},
           {"samples_per_second", 0.0},
           {"samples_computed", 0},
           {"chunks", folder.chunks_present()},
           {"compiler", "GCC " __VERSION__},
           {"resumed", 0}};
  write();
}

void Manifest::add(std::int64_t samples, double seconds) {
  if (samples == 0) return;
  const double all_seconds = json_["seconds"].get<double>() + seconds;
  const std::int64_t all_samples = json_["samples_computed"].get<std::int64_t>() + samples;
  const std::string devices = json_["device"].get<std::string>();
  if (all_samples == samples)
    json_["device"] = device_;
  else if (devices.find(device_) == std::string::npos)
    json_["device"] = devices + "; " + device_;
  json_["seconds"] = all_seconds;
  json_["samples_computed"] = all_samples;
  json_["samples_per_second"] = all_seconds > 0 ? static_cast<double>(all_samples) / all_seconds : 0.0;
  json_["chunks"] = folder_.chunks_present();
  write();
}

void Manifest::write() const { folder_.write_text("manifest.json", json_.dump(1) + "\n"); }

void write_results(const io::RunFolder& folder, const grasp::Study& study, std::int64_t chunks, std::int64_t rows) {
  io::SampleTableWriter table(folder.file("results.h5"), columns_of(study), static_cast<std::uint64_t>(rows));
  for (std::int64_t k = 0; rows > 0 && k < chunks; ++k) {
    const auto chunk = folder.read_chunk(k);
    if (!chunk)
      throw Error(ExitCode::kInputOutput,
                  folder.path() + ": chunk " + std::to_string(k) + " was damaged while the run ended",
                  "compute it again with `garra resume " + folder.path() + "`");
    table.append(chunk->kept);
  }
  table.commit();
}

void write_failures(const io::RunFolder& folder, const grasp::Study& study, const study::Total& total,
                    const std::vector<std::int64_t>& unanswered) {
  std::error_code error;
  fs::remove_all(folder.file("failures"), error);
  const auto samples = failures_of(total, unanswered);
  if (study.scenario().plan.keep == "none" || samples.empty()) return;
  fs::create_directories(folder.file("failures"), error);
  if (error) throw Error(ExitCode::kInputOutput, folder.file("failures") + ": cannot be made: " + error.message());
  for (const std::int64_t sample : samples) {
    const auto r = study.replay(sample);
    io::write_problems(folder.file("failures/" + std::to_string(sample) + ".h5"),
                       {static_cast<int>(r.mu.size()), 1, r.A, r.b, r.mu});
  }
}

std::int64_t sample_to_replay(const Json& summary) {
  for (const auto& e : summary["closest"])
    if (e["outcome"] != "held") return e["sample"];
  return summary["closest"].empty() ? -1 : summary["closest"][0]["sample"].get<std::int64_t>();
}

}  // namespace garra::cli
