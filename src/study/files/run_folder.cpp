#include "garra/io/run_folder.hpp"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "base/files/atomic_file.hpp"
#include "base/files/sha256.hpp"
#include "base/files/suggest.hpp"
#include "base/files/text_file.hpp"
#include "garra/core/error.hpp"
#include "study/files/chunk_file.hpp"
#include "study/files/run_lock.hpp"

namespace garra::io {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Largest model or table [bytes].
constexpr std::size_t kMaxFile = std::size_t{1} << 30;

std::string read_all(const std::string& path) { return read_file(path, kMaxFile); }

/// The file's first `most` bytes, or nothing if it does not exist (any more).
std::optional<std::string> read_if_present(const std::string& path, std::size_t most) {
  try {
    return read_file(path, most);
  } catch (const Error&) {
    if (fs::exists(fs::symlink_status(path))) throw;
    return std::nullopt;
  }
}

bool are_equal(const std::string& found, const std::vector<std::uint8_t>& expected) {
  return std::ranges::equal(found, expected, [](char a, std::uint8_t b) { return static_cast<std::uint8_t>(a) == b; });
}

std::string chunk_name(std::int64_t index) {
  std::string digits = std::to_string(index);
  // Six digits, so that chunks sort by name.
  return "chunks/" + std::string(digits.size() < 6 ? 6 - digits.size() : 0, '0') + digits;
}

std::vector<std::string> read_overrides(const std::string& path) {
  const json list = json::parse(read_all(path), nullptr, false);
  const auto is_text = [](const json& j) { return j.is_string(); };
  if (!list.is_array() || !std::all_of(list.begin(), list.end(), is_text))
    throw Error(ExitCode::kInputOutput, path + ": damaged", "start the run anew");
  return list.get<std::vector<std::string>>();
}

/// The files in RUN/models, in the order of their names.
std::vector<fs::path> models_in(const std::string& run) {
  std::vector<fs::path> files;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(run + "/models", none))
    if (entry.is_regular_file(none)) files.push_back(entry.path());
  // The order of a directory differs between systems; the fingerprint must not.
  std::sort(files.begin(), files.end());
  return files;
}

ChunkOrigin make_origin(const std::string& fingerprint, const RunFolder::Expected& e) {
  return {fingerprint, layout_checksum(e.shape, e.columns), e.program};
}

/// Number of outcomes of a sample.
int count_outcomes(const std::vector<study::RowColumn>& columns) {
  for (const study::RowColumn& c : columns)
    if (c.name == "outcome") return static_cast<int>(c.names.size());
  return 0;
}

void write_bytes(const std::string& path, const void* data, std::size_t size) {
  write_file_atomically(path, {static_cast<const std::byte*>(data), size});
}

/// Whether a process was killed while it created a run here: only our own files, and no chunk yet.
bool is_unfinished(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path + "/chunks", error) || !fs::is_empty(path + "/chunks", error)) return false;
  const auto is_ours = [](const fs::path& file) {
    const std::string name = file.filename().string();
    // Models may be the user's own files: a folder with any is not continued.
    std::error_code none;
    return name == "chunks" || (name == "models" && fs::is_empty(file, none) && !none) || name == "overrides.json" ||
           name == RunLock::kName || is_abandoned(file.string());
  };
  const auto entries = fs::directory_iterator(path, error);
  return !error && std::all_of(begin(entries), end(entries), [&](const auto& entry) { return is_ours(entry.path()); });
}

/// A new run needs an empty folder, because other files could be overwritten. `is_ours`: we hold its lock.
void require_new(const std::string& path, const std::string& scenario_text, const std::vector<std::string>& overrides,
                 bool is_ours) {
  std::error_code error;
  if (fs::exists(path + "/scenario.toml", error)) {
    const bool same = read_all(path + "/scenario.toml") == scenario_text &&
                      fs::exists(path + "/overrides.json", error) &&
                      read_overrides(path + "/overrides.json") == overrides;
    throw Error(ExitCode::kUsage, path + ": already holds a run" + (same ? "" : " of another scenario"),
                (same ? "continue it with `garra resume " + shell_word(path) + "`, replace" : std::string("replace")) +
                    " it with --overwrite, or give another folder with -o");
  }
  const bool locked = !is_ours && fs::exists(path + "/" + RunLock::kName, error);
  if (locked || is_unfinished(path)) return;  // to lock it tells who is at work there
  for (const auto& entry : fs::directory_iterator(path, error)) {
    if (is_ours && entry.path().filename() == RunLock::kName) continue;
    throw Error(ExitCode::kUsage, path + ": is not empty, and is no run folder",
                "give a new or an empty folder with -o");
  }
}

}  // namespace

void remove_run(const std::string& path, const std::vector<std::string>& needed) {
  std::error_code error;
  if (!fs::is_regular_file(path + "/scenario.toml", error) || !fs::is_directory(path + "/chunks", error)) return;
  const fs::path folder = fs::weakly_canonical(path, error);
  for (const std::string& file : needed) {
    const fs::path whole = fs::weakly_canonical(file, error);
    if (std::mismatch(folder.begin(), folder.end(), whole.begin(), whole.end()).first == folder.end())
      throw Error(ExitCode::kUsage, path + ": " + file + " lies in it, and is needed",
                  "copy it to another folder, or give another folder with -o");
  }
  { const RunLock nobody_works_there(path); }
  fs::remove_all(path, error);
  if (error) throw Error(ExitCode::kInputOutput, path + ": cannot be removed: " + error.message());
}

RunFolder RunFolder::create(const std::string& path, const std::string& scenario_text,
                            const std::vector<std::string>& overrides, const std::vector<std::string>& models) {
  require_new(path, scenario_text, overrides, false);
  std::error_code error;
  fs::create_directories(path, error);
  if (error)
    throw Error(ExitCode::kInputOutput, path + ": cannot be made: " + error.message(), "give another folder with -o");
  RunFolder folder;
  folder.path_ = path;
  folder.overrides_ = overrides;
  // Between the two checks: only with the lock held does the second one see a stable folder.
  folder.lock();
  require_new(path, scenario_text, overrides, true);  // another process may have been faster
  try {
    folder.fill(scenario_text, models);
  } catch (...) {  // the folder was empty: all that is in it is ours
    for (const char* name : {"scenario.toml", "overrides.json", "models", "chunks"})
      fs::remove_all(folder.file(name), error);
    throw;
  }
  return folder;
}

/// The scenario is written last, because it makes the folder a run folder.
void RunFolder::fill(const std::string& scenario_text, const std::vector<std::string>& models) {
  for (const char* name : {"chunks", "models"}) {
    std::error_code error;
    if (std::string(name) == "models" && models.empty()) continue;
    fs::create_directory(file(name), error);  // may exist, from a killed process
    if (error) throw Error(ExitCode::kInputOutput, file(name) + ": cannot be made: " + error.message());
  }
  // Copies, so that a run can be resumed and verified after the originals have changed.
  for (const std::string& model : models) write_text("models/" + fs::path(model).filename().string(), read_all(model));
  write_text("overrides.json", json(overrides_).dump(1) + "\n");
  write_text("scenario.toml", scenario_text);
  fingerprint_ = compute_fingerprint();
}

RunFolder RunFolder::open(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path + "/scenario.toml", error))
    throw Error(ExitCode::kInputOutput, path + ": no run folder (it has no scenario.toml)",
                "give the folder that `garra run` printed");
  RunFolder folder;
  folder.path_ = path;
  if (folder.has("overrides.json")) folder.overrides_ = read_overrides(path + "/overrides.json");
  folder.fingerprint_ = folder.compute_fingerprint();
  return folder;
}

std::string RunFolder::compute_fingerprint() const {
  std::string all = json(overrides_).dump() + read_text("scenario.toml");
  for (const fs::path& model : models_in(path_)) all += model.filename().string() + read_all(model.string());
  return sha256(all);
}

RunFolder::Written RunFolder::write_chunk(std::int64_t index, const study::Total& chunk) const {
  const std::vector<std::uint8_t> bytes = encode_chunk(chunk, make_origin(fingerprint_, expected_));
  for (;;) {
    if (write_file_if_absent(file(chunk_name(index)), std::as_bytes(std::span(bytes)))) return Written::kNew;
    const auto stored = read_if_present(file(chunk_name(index)), bytes.size() + 1);
    // Another process's copy was removed since: this one takes its place.
    if (!stored) continue;
    return are_equal(*stored, bytes) ? Written::kSame : Written::kOther;
  }
}

void RunFolder::remove_chunk(std::int64_t index) const {
  std::error_code error;
  fs::remove(file(chunk_name(index)), error);
}

bool RunFolder::has_chunk(std::int64_t index) const { return has(chunk_name(index)); }

std::optional<study::Total> RunFolder::read_chunk(std::int64_t index, Chunk* state) const {
  Chunk ignored;
  Chunk& found = state != nullptr ? *state : ignored;
  const std::string name = chunk_name(index);
  found = Chunk::kMissing;
  if (!has(name)) return std::nullopt;
  std::error_code error;
  const bool is_file = fs::is_regular_file(file(name), error);
  const std::size_t most = largest_chunk(expected_.shape, expected_.chunk);
  const ChunkRules rules{expected_.shape, count_outcomes(expected_.columns)};
  // One byte more than any chunk: longer files are cut, and thereby damaged.
  const auto bytes = is_file ? read_if_present(file(name), most + 1) : std::nullopt;
  if (!bytes && !has(name)) return std::nullopt;  // removed since the first look
  found = Chunk::kDamaged;
  if (!bytes) return std::nullopt;
  DecodedChunk chunk = decode_chunk(*bytes, make_origin(fingerprint_, expected_), rules);
  if (chunk.state == ChunkState::kDamaged) return std::nullopt;
  found = chunk.state == ChunkState::kSound ? Chunk::kPresent : Chunk::kForeign;
  return found == Chunk::kPresent ? std::optional(std::move(chunk.chunk)) : std::nullopt;
}

bool RunFolder::is_chunk(std::int64_t index, const study::Total& chunk) const {
  const std::vector<std::uint8_t> expected = encode_chunk(chunk, make_origin(fingerprint_, expected_));
  return are_equal(read_file(file(chunk_name(index)), expected.size() + 1), expected);
}

std::int64_t RunFolder::chunks_present() const {
  std::int64_t n = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(file("chunks"), error))
    // Only names of digits: temporary files are no chunks.
    n += entry.path().filename().string().find_first_not_of("0123456789") == std::string::npos;
  return n;
}

void RunFolder::remove_leftovers() const {
  std::error_code error;
  for (const std::string& folder : {path_, file("chunks"), file("failures"), file("workers")})
    for (const auto& entry : fs::directory_iterator(folder, error))
      if (is_abandoned(entry.path().string())) fs::remove(entry.path(), error);
}

void RunFolder::lock() {
  require_no_links();
  if (!lock_) lock_ = std::make_shared<RunLock>(path_);
}

void RunFolder::renew_lock() const {
  if (lock_) lock_->renew();
}

void RunFolder::require_no_links() const {
  std::error_code error;
  for (const std::string& folder :
       {path_, file("chunks"), file("failures"), file("models"), file("workers"), file("claims")})
    for (const auto& entry : fs::directory_iterator(folder, error))
      if (entry.is_symlink(error) || !(entry.is_regular_file(error) || entry.is_directory(error)))
        throw Error(
            ExitCode::kInputOutput,
            entry.path().string() + (entry.is_symlink(error) ? ": is a symbolic link" : ": is a pipe or a device"),
            "garra writes only inside of a run folder: put the file itself there, or move that away");
}

void RunFolder::require_same_inputs() const {
  RunFolder now;
  now.path_ = path_;
  if (has("overrides.json")) now.overrides_ = read_overrides(file("overrides.json"));
  if (now.compute_fingerprint() == fingerprint_) return;
  throw Error(ExitCode::kInputOutput, path_ + ": the scenario was changed while its samples were computed",
              "Undo the change and run `garra resume " + path_ + "`, or submit the new scenario to another folder.");
}

void RunFolder::write_text(const std::string& name, const std::string& text) const {
  write_bytes(file(name), text.data(), text.size());
}

std::string RunFolder::read_text(const std::string& name) const { return read_all(file(name)); }

bool RunFolder::has(const std::string& name) const {
  std::error_code error;
  return fs::exists(file(name), error);
}

}  // namespace garra::io
