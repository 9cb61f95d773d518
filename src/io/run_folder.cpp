#include "garra/io/run_folder.hpp"

#include <zlib.h>

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
  return static_cast<std::uint32_t>(crc32(crc32(0, nullptr, 0), static_cast<const Bytef*>(data), static_cast<uInt>(size)));
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

void write_bytes(const std::string& path, const void* data, std::size_t size) {
  write_file_atomically(path, {static_cast<const std::byte*>(data), size});
}

}  // namespace

std::string checksum(const std::string& bytes) {
  char text[9];
  std::snprintf(text, sizeof text, "%08x", crc(bytes.data(), bytes.size()));
  return text;
}

RunFolder RunFolder::create(const std::string& path, const std::string& scenario_file,
                            const std::vector<std::string>& overrides) {
  if (fs::exists(path + "/scenario.toml"))
    throw Error(ExitCode::kUsage, path + ": already holds a run",
                "continue it with `garra resume " + path + "`, or give another folder with -o");
  std::error_code error;
  fs::create_directories(path + "/chunks", error);
  if (error) throw Error(ExitCode::kInputOutput, path + ": cannot be made: " + error.message(), "give another folder with -o");
  RunFolder folder;
  folder.path_ = path;
  folder.overrides_ = overrides;
  folder.write_text("overrides.json", json(overrides).dump(1) + "\n");
  folder.write_text("scenario.toml", read_all(scenario_file));
  return folder;
}

RunFolder RunFolder::open(const std::string& path) {
  if (!fs::exists(path + "/scenario.toml"))
    throw Error(ExitCode::kInputOutput, path + ": no run folder (it has no scenario.toml)",
                "give the folder that `garra run` printed");
  RunFolder folder;
  folder.path_ = path;
  if (!fs::exists(path + "/overrides.json")) return folder;
  const json list = json::parse(read_all(path + "/overrides.json"), nullptr, false);
  if (!list.is_array()) throw Error(ExitCode::kInputOutput, path + "/overrides.json: damaged", "start the run anew");
  folder.overrides_ = list.get<std::vector<std::string>>();
  return folder;
}

void RunFolder::write_chunk(std::int64_t index, const study::Tally& t) const {
  const json j = {{"first", t.first}, {"count", t.count}, {"counts", t.counts}, {"sums", bytes_of(t.sums)},
                  {"closest", ranking_to_json(t.closest)}, {"worst", ranking_to_json(t.worst)}, {"kept", bytes_of(t.kept)}};
  std::vector<std::uint8_t> bytes = json::to_cbor(j);
  const std::uint32_t sum = crc(bytes.data(), bytes.size());
  for (int k = 0; k < 4; ++k) bytes.push_back(static_cast<std::uint8_t>(sum >> (8 * k)));
  write_bytes(file(chunk_name(index)), bytes.data(), bytes.size());
}

std::optional<study::Tally> RunFolder::read_chunk(std::int64_t index, bool* damaged) const {
  if (damaged != nullptr) *damaged = false;
  const std::string name = file(chunk_name(index));
  if (!fs::exists(name)) return std::nullopt;
  if (damaged != nullptr) *damaged = true;
  const std::string bytes = read_all(name);
  if (bytes.size() < 5) return std::nullopt;
  const std::size_t size = bytes.size() - 4;
  std::uint32_t sum = 0;
  for (std::size_t k = 0; k < 4; ++k) sum |= static_cast<std::uint32_t>(static_cast<std::uint8_t>(bytes[size + k])) << (8 * k);
  if (sum != crc(bytes.data(), size)) return std::nullopt;
  const json j = json::from_cbor(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size), true, false);
  if (j.is_discarded()) return std::nullopt;
  if (damaged != nullptr) *damaged = false;
  return study::Tally{j.at("first"), j.at("count"), j.at("counts").get<std::vector<std::int64_t>>(),
                      doubles_of(j.at("sums")), ranking_from_json(j.at("closest")), ranking_from_json(j.at("worst")),
                      doubles_of(j.at("kept"))};
}

std::int64_t RunFolder::chunks_present() const {
  std::int64_t n = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(file("chunks"), error))
    n += entry.path().filename().string().find_first_not_of("0123456789") == std::string::npos;
  return n;
}

void RunFolder::write_text(const std::string& name, const std::string& text) const {
  write_bytes(file(name), text.data(), text.size());
}

std::string RunFolder::read_text(const std::string& name) const { return read_all(file(name)); }

}  // namespace garra::io
