#include "study/files/run_record.hpp"

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <set>

#include "base/files/sha256.hpp"
#include "base/files/text_file.hpp"
#include "garra/batch/devices.hpp"
#include "garra/core/error.hpp"
#include "garra/core/version.hpp"
#include "study/files/claims.hpp"
#include "study/files/results_file.hpp"
#include "study/files/worker_record.hpp"

namespace garra::io {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::string utc_now() {
  const std::time_t t = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&t));
  return text;
}

Json read_manifest(const RunFolder& folder) {
  return folder.has("manifest.json") ? Json::parse(folder.read_text("manifest.json"), nullptr, false) : Json();
}

/// The manifest of an earlier start, if it has all entries of `fresh`; null if none can be continued.
Json earlier_manifest(const RunFolder& folder, const Json& fresh) {
  Json j = read_manifest(folder);
  if (!j.is_object()) return nullptr;
  for (const auto& [key, value] : fresh.items()) {
    const auto found = j.find(key);
    // By kind, not by value: later code may then rely on each entry.
    const bool same = found != j.end() && (value.is_number() ? found->is_number() : found->type() == value.type());
    if (!same) return nullptr;
  }
  return j;
}

/// Names of result files in the folder, whose checksums are stored.
std::vector<std::string> result_files(const RunFolder& folder) {
  std::vector<std::string> names;
  std::error_code error;
  // Files that other code may remove or add (reports, copies) are skipped.
  for (const char* sub : {"", "failures/"})
    for (const auto& entry : fs::directory_iterator(folder.file(sub), error)) {
      const std::string name = entry.path().filename().string();
      const bool is_result = name == "configurations.json" || entry.path().extension() == ".h5";
      if (is_result && entry.is_regular_file(error)) names.push_back(sub + name);
    }
  std::sort(names.begin(), names.end());
  return names;
}

/// Files of the manifest's `files` that are missing or changed.
std::vector<std::string> changed_among(const RunFolder& folder, const Json& files) {
  if (!files.is_object()) return {"manifest.json"};
  std::vector<std::string> changed;
  for (const auto& [name, sum] : files.items())
    // A manifest must not name files outside of its folder.
    if (name.find("..") != std::string::npos || !folder.has(name) || sum != "crc32:" + file_checksum(folder.file(name)))
      changed.push_back(name);
  return changed;
}

/// A text in the manifest; "" if there is none.
std::string in_manifest(const RunFolder& folder, const char* key) {
  const Json j = read_manifest(folder);
  const Json text = j.is_object() ? j.value(key, Json()) : Json();
  return text.is_string() ? text.get<std::string>() : std::string();
}

}  // namespace

Manifest::Manifest(const RunFolder& folder, const std::vector<Device>& devices, const FolderRunOptions& options)
    : folder_(folder), device_(describe(devices)) {
  const Json fresh = {{"garra", version()},
                      {"command", options.command},
                      {"scenario", "scenario.toml"},
                      {"scenario_sha", "sha256:" + sha256(folder.read_text("scenario.toml"))},
                      {"fingerprint", folder.fingerprint()},
                      {"overrides", folder.overrides()},
                      {"device", device_},
                      {"started", utc_now()},
                      {"seconds", 0.0},
                      {"samples_per_second", 0.0},
                      {"samples_computed", 0},
                      {"chunks", folder.chunks_present()},
                      {"compiler", "GCC " __VERSION__},
                      {"resumed", 0}};
  json_ = earlier_manifest(folder, fresh);
  const bool resumed = !json_.is_null();
  if (!resumed) json_ = fresh;
  if (!options.why_not_gpu.empty()) json_["why_not_gpu"] = options.why_not_gpu;
  if (!options.warnings.empty()) json_["warnings"] = options.warnings;
  if (!resumed) {
    write();
    return;
  }
  json_["resumed"] = json_["resumed"].get<std::int64_t>() + 1;
  // The earlier results are of another scenario than the folder's: without summary.json they are not taken for its own.
  if (json_["fingerprint"] == fresh["fingerprint"]) return;
  std::error_code error;
  fs::remove(folder.file("summary.json"), error);
  for (const char* key : {"scenario_sha", "fingerprint", "overrides"}) json_[key] = fresh[key];
  write();
}

void Manifest::add_files() {
  json_["files"] = Json::object();
  for (const std::string& name : result_files(folder_))
    json_["files"][name] = "crc32:" + file_checksum(folder_.file(name));
  write();
}

bool Manifest::files_are_whole() const { return changed_among(folder_, json_.value("files", Json())).empty(); }

void Manifest::add(std::int64_t samples, double seconds) {
  if (samples == 0) return;
  const double all_seconds = json_["seconds"].get<double>() + seconds;
  const std::int64_t all_samples = json_["samples_computed"].get<std::int64_t>() + samples;
  const std::string devices = json_["device"].get<std::string>();
  // The first samples: a device named before has computed none.
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

void Manifest::add_workers() {
  const std::vector<WorkerState> workers = read_workers(folder_);
  if (workers.empty()) return;
  json_["workers"] = Json::array();
  double seconds = 0, rate = 0;
  std::set<std::string> machines;
  for (const WorkerState& w : workers)
    json_["workers"].push_back({{"name", w.name},
                                {"device", w.device},
                                {"samples", w.samples},
                                {"seconds", w.seconds},
                                {"chunks", w.chunks.size()},
                                {"checked", w.checked.size()}});
  for (const WorkerState& w : workers) {
    seconds += w.seconds;
    rate += w.rate();
    machines.insert(machine_name(w.name));
  }
  json_["campaign"] = {
      {"workers", workers.size()}, {"machines", machines.size()}, {"seconds", seconds}, {"samples_per_second", rate}};
  json_["chunks"] = folder_.chunks_present();
  write();
}

void Manifest::write() const { folder_.write_text("manifest.json", json_.dump(1) + "\n"); }

Claim parse_claim(const std::string& summary) {
  Claim claim;
  const Json j = Json::parse(summary, nullptr, false);
  if (!j.is_object()) return claim;
  const Json ending = j.value("stopped_by", Json()), samples = j.value("samples", Json());
  if (samples.is_number_integer()) claim.samples = samples.get<std::int64_t>();
  for (const study::End end : {study::End::kSamples, study::End::kHalfWidth})
    if (ending == study::to_string(end)) claim.ending = study::to_string(end);
  return claim;
}

void expect_study(RunFolder& folder, const study::Study& study) {
  folder.expect({study.shape(), study.columns(), study.plan().chunk, results_version()});
}

void expect_study_of_any_version(RunFolder& folder, const study::Study& study) {
  const std::string begun_by = in_manifest(folder, "garra");
  folder.expect({study.shape(), study.columns(), study.plan().chunk, begun_by.empty() ? results_version() : begun_by});
}

void require_unchanged(const RunFolder& folder) {
  const std::string made_of = in_manifest(folder, "fingerprint");
  if (made_of.empty() || made_of == folder.fingerprint()) return;
  throw Error(ExitCode::kInputOutput,
              folder.path() +
                  ": scenario.toml, overrides.json or models/ were changed after the run: its results are of "
                  "another scenario",
              "put them back, or compute the new ones with `garra resume " + folder.path() + "`");
}

void require_same_program(const RunFolder& folder) {
  const std::string begun_by = in_manifest(folder, "garra");
  if (begun_by.empty() || same_results(begun_by, version())) return;
  throw Error(ExitCode::kInputOutput,
              folder.path() + ": was begun by garra " + begun_by + ", whose results may differ from those of garra " +
                  version(),
              "continue it with that version, or begin anew: garra run " + folder.scenario());
}

std::vector<std::string> changed_files(const RunFolder& folder) {
  const Json manifest = read_manifest(folder);
  return changed_among(folder, manifest.is_object() ? manifest.value("files", Json()) : Json());
}

void for_kept_rows(const RunFolder& folder, std::int64_t chunks,
                   const std::function<void(const std::vector<double>&)>& hear) {
  for (std::int64_t k = 0; k < chunks; ++k) {
    const auto chunk = folder.read_chunk(k);
    if (!chunk)
      throw Error(ExitCode::kInputOutput,
                  folder.path() + ": chunk " + std::to_string(k) + " was damaged while the run ended",
                  "compute it again with `garra resume " + folder.path() + "`");
    hear(chunk->kept);
  }
}

void write_results(const std::string& file, const RunFolder& folder, const study::Study& study,
                   const study::RunResult& result) {
  SampleTableWriter table(file, study.columns(), {static_cast<std::uint64_t>(result.rows), study.shape().row});
  if (result.rows > 0)
    for_kept_rows(folder, result.chunks, [&](const std::vector<double>& rows) { table.append(rows); });
  table.commit();
}

}  // namespace garra::io
