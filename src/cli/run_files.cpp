#include "cli/run_files.hpp"

#include <ctime>
#include <filesystem>

#include "garra/core/error.hpp"
#include "io/results_file.hpp"

namespace garra::cli {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

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

void write_results(const io::RunFolder& folder, const study::Study& study, std::int64_t chunks, std::int64_t rows) {
  io::SampleTableWriter table(folder.file("results.h5"), study.columns(), static_cast<std::uint64_t>(rows));
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

}  // namespace garra::cli
