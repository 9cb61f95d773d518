#include "study/files/worker_record.hpp"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/files/atomic_file.hpp"
#include "base/files/text_file.hpp"
#include "garra/core/error.hpp"

namespace garra::io {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

WorkerState parse(const std::string& name, const std::string& text) {
  // Throws json::exception if the text is not as garra writes it.
  const Json j = Json::parse(text);
  return {name,
          j.at("device").get<std::string>(),
          j.at("samples").get<std::int64_t>(),
          j.at("seconds").get<double>(),
          j.at("chunks").get<std::vector<std::int64_t>>(),
          j.at("checked").get<std::vector<std::int64_t>>(),
          j.at("ended").get<bool>()};
}

}  // namespace

void write_worker(const RunFolder& folder, const WorkerState& w) {
  std::error_code error;
  fs::create_directory(folder.file("workers"), error);
  const Json j = {{"device", w.device}, {"samples", w.samples}, {"seconds", w.seconds},
                  {"chunks", w.chunks}, {"checked", w.checked}, {"ended", w.ended}};
  folder.write_text("workers/" + w.name + ".json", j.dump() + "\n");
}

std::vector<WorkerState> read_workers(const RunFolder& folder) {
  std::vector<WorkerState> list;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder.file("workers"), error)) {
    if (entry.path().extension() != ".json") continue;
    try {
      list.push_back(parse(entry.path().stem().string(), read_file(entry.path().string(), kMaxText)));
    } catch (const nlohmann::json::exception&) {  // damaged, or being written
    } catch (const Error&) {                      // gone meanwhile
    }
  }
  std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return list;
}

std::string writer_of_chunk(const RunFolder& folder, std::int64_t chunk) {
  for (const WorkerState& w : read_workers(folder))
    if (std::find(w.chunks.begin(), w.chunks.end(), chunk) != w.chunks.end()) return w.name;
  return "";
}

}  // namespace garra::io
