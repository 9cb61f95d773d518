#include "garra/io/run_folder.hpp"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "garra/core/error.hpp"
#include "io/atomic_file.hpp"

namespace garra::io {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::uint32_t crc(const void* data, std::size_t size) {
  return static_cast<std::uint32_t>(
      crc32(crc32(0, nullptr, 0), static_cast<const Bytef*>(data), static_cast<uInt>(size)));
}

std::string read_all(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Error(ExitCode::kInputOutput, path + ": cannot be read", "check the path and its permissions");
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string chunk_name(std::int64_t index) {
  std::string digits = std::to_string(index);
  return "chunks/" + std::string(digits.size() < 6 ? 6 - digits.size() : 0, '0') + digits;
}

json ranking_to_json(const study::Ranking& ranking) {
  json list = json::array();
  for (const auto& e : ranking.list()) list.push_back({e.key, e.sample, e.outcome, e.value});
  return list;
}

study::Ranking ranking_from_json(const json& list) {
  study::Ranking r;
  for (const auto& e : list) r.add({e.at(0), e.at(1), e.at(2), e.at(3)});
  return r;
}

json bytes_of(const std::vector<double>& v) {
  const auto* p = reinterpret_cast<const std::uint8_t*>(v.data());
  return json::binary(std::vector<std::uint8_t>(p, p + v.size() * sizeof(double)));
}

std::vector<double> doubles_of(const json& j) {
  const auto& bytes = j.get_binary();
  std::vector<double> v(bytes.size() / sizeof(double));
  if (!v.empty()) std::memcpy(v.data(), bytes.data(), v.size() * sizeof(double));
  return v;
}

std::vector<std::string> read_overrides(const std::string& path) {
  const json list = json::parse(read_all(path), nullptr, false);
  const auto is_text = [](const json& j) { return j.is_string(); };
  if (!list.is_array() || !std::all_of(list.begin(), list.end(), is_text))
    throw Error(ExitCode::kInputOutput, path + ": damaged", "start the run anew");
  return list.get<std::vector<std::string>>();
}

study::Tally tally_from_json(const json& j) {
  study::Tally tally{j.at("first"),
                     j.at("count"),
                     j.at("counts").get<std::vector<std::int64_t>>(),
                     doubles_of(j.at("sums")),
                     ranking_from_json(j.at("closest")),
                     ranking_from_json(j.at("worst")),
                     doubles_of(j.at("kept"))};
  if (j.contains("groups"))
    for (const json& ranking : j.at("groups")) tally.groups.push_back(ranking_from_json(ranking));
  if (j.contains("least")) tally.least = doubles_of(j.at("least"));
  return tally;
}

/// The files in RUN/models, in the order of their names.
std::vector<fs::path> models_in(const std::string& run) {
  std::vector<fs::path> files;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(run + "/models", none))
    if (entry.is_regular_file(none)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

/// The document of a chunk file, or nothing where its checksum or its form is wrong.
std::optional<json> parse_chunk(const std::string& bytes) {
  if (bytes.size() < 5) return std::nullopt;
  const std::size_t size = bytes.size() - 4;
  std::uint32_t sum = 0;
  for (std::size_t k = 0; k < 4; ++k)
    sum |= static_cast<std::uint32_t>(static_cast<std::uint8_t>(bytes[size + k])) << (8 * k);
  if (sum != crc(bytes.data(), size)) return std::nullopt;
  json j = json::from_cbor(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size), true, false);
  return j.is_object() ? std::optional(std::move(j)) : std::nullopt;
}

void write_bytes(const std::string& path, const void* data, std::size_t size) {
  write_file_atomically(path, {static_cast<const std::byte*>(data), size});
}

/// A new run has its folder to itself: what else lay there could be overwritten.
void require_new(const std::string& path) {
  std::error_code error;
  if (fs::exists(path + "/scenario.toml", error))
    throw Error(ExitCode::kUsage, path + ": already holds a run",
                "continue it with `garra resume " + path + "`, or give another folder with -o");
  const fs::directory_iterator entries(path, error);
  if (!error && entries != fs::directory_iterator())
    throw Error(ExitCode::kUsage, path + ": is not empty, and is no run folder",
                "give a new or an empty folder with -o");
}

}  // namespace

std::string checksum(const std::string& bytes) {
  char text[9];
  std::snprintf(text, sizeof text, "%08x", crc(bytes.data(), bytes.size()));
  return text;
}

RunFolder RunFolder::create(const std::string& path, const std::string& scenario_file,
                            const std::vector<std::string>& overrides, const std::vector<std::string>& models) {
  require_new(path);
  std::error_code error;
  fs::create_directories(path + "/chunks", error);
  if (error)
    throw Error(ExitCode::kInputOutput, path + ": cannot be made: " + error.message(), "give another folder with -o");
  RunFolder folder;
  folder.path_ = path;
  folder.overrides_ = overrides;
  if (!models.empty()) fs::create_directories(path + "/models", error);
  for (const std::string& model : models)
    folder.write_text("models/" + fs::path(model).filename().string(), read_all(model));
  folder.write_text("overrides.json", json(overrides).dump(1) + "\n");
  folder.write_text("scenario.toml", read_all(scenario_file));
  folder.fingerprint_ = folder.fingerprint();
  return folder;
}

RunFolder RunFolder::open(const std::string& path) {
  if (!fs::exists(path + "/scenario.toml"))
    throw Error(ExitCode::kInputOutput, path + ": no run folder (it has no scenario.toml)",
                "give the folder that `garra run` printed");
  RunFolder folder;
  folder.path_ = path;
  if (fs::exists(path + "/overrides.json")) folder.overrides_ = read_overrides(path + "/overrides.json");
  folder.fingerprint_ = folder.fingerprint();
  return folder;
}

std::string RunFolder::fingerprint() const {
  std::string all = json(overrides_).dump() + read_text("scenario.toml");
  for (const fs::path& model : models_in(path_)) all += model.filename().string() + read_all(model.string());
  return checksum(all);
}

void RunFolder::write_chunk(std::int64_t index, const study::Tally& t) const {
  json j = {{"scenario", fingerprint_},
            {"first", t.first},
            {"count", t.count},
            {"counts", t.counts},
            {"sums", bytes_of(t.sums)},
            {"closest", ranking_to_json(t.closest)},
            {"worst", ranking_to_json(t.worst)},
            {"kept", bytes_of(t.kept)}};
  for (const study::Ranking& ranking : t.groups) j["groups"].push_back(ranking_to_json(ranking));
  if (!t.least.empty()) j["least"] = bytes_of(t.least);
  std::vector<std::uint8_t> bytes = json::to_cbor(j);
  const std::uint32_t sum = crc(bytes.data(), bytes.size());
  for (int k = 0; k < 4; ++k) bytes.push_back(static_cast<std::uint8_t>(sum >> (8 * k)));
  write_bytes(file(chunk_name(index)), bytes.data(), bytes.size());
}

std::optional<study::Tally> RunFolder::read_chunk(std::int64_t index, Chunk* state) const {
  Chunk ignored;
  Chunk& found = state != nullptr ? *state : ignored;
  const std::string name = file(chunk_name(index));
  found = Chunk::kMissing;
  if (!fs::exists(name)) return std::nullopt;
  found = Chunk::kDamaged;
  const auto document = parse_chunk(read_all(name));
  if (!document) return std::nullopt;
  found = Chunk::kForeign;
  if (document->value("scenario", "") != fingerprint_) return std::nullopt;
  found = Chunk::kPresent;
  return tally_from_json(*document);
}

std::int64_t RunFolder::chunks_present() const {
  std::int64_t n = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(file("chunks"), error))
    n += entry.path().filename().string().find_first_not_of("0123456789") == std::string::npos;
  return n;
}

void RunFolder::remove_leftovers() const {
  std::error_code error;
  for (const std::string& folder : {path_, file("chunks"), file("failures")})
    for (const auto& entry : fs::directory_iterator(folder, error))
      if (is_abandoned(entry.path().string())) fs::remove(entry.path(), error);
}

void RunFolder::require_no_links() const {
  std::error_code error;
  for (const std::string& folder : {path_, file("chunks"), file("failures"), file("models")})
    for (const auto& entry : fs::directory_iterator(folder, error))
      if (entry.is_symlink(error))
        throw Error(ExitCode::kInputOutput, entry.path().string() + ": is a symbolic link",
                    "garra writes only inside of a run folder: put the file itself there, or move the link away");
}

void RunFolder::write_text(const std::string& name, const std::string& text) const {
  write_bytes(file(name), text.data(), text.size());
}

std::string RunFolder::read_text(const std::string& name) const { return read_all(file(name)); }

}  // namespace garra::io
