// The run folder: inputs, chunks and results of a run, in a form that survives a kill (docs/reference/run-folder.md).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "garra/study/shape.hpp"
#include "garra/study/tally.hpp"

namespace garra::io {

class RunLock;

/// Removes a run folder and its contents; does nothing if the path holds no run. Throws Error(kUsage) if one of the
/// files in `needed` lies in it, and Error(kInputOutput) if another process works there or it cannot be removed.
void remove_run(const std::string& path, const std::vector<std::string>& needed);

/// A run folder on disk: its inputs, chunks and lock.
class RunFolder {
 public:
  /// Makes a new folder, locked, with the scenario's text and, in models/, copies of the model files that it names.
  /// Throws Error(kUsage) where it already holds a run or anything else, and Error(kInputOutput) where it cannot be
  /// made.
  [[nodiscard]] static RunFolder create(const std::string& path, const std::string& scenario_text,
                                        const std::vector<std::string>& overrides = {},
                                        const std::vector<std::string>& models = {});
  /// Opens an existing run folder. Throws Error(kInputOutput) if it is none.
  [[nodiscard]] static RunFolder open(const std::string& path);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }
  [[nodiscard]] const std::vector<std::string>& overrides() const { return overrides_; }
  [[nodiscard]] std::string scenario() const { return file("scenario.toml"); }

  /// Checksum of the inputs that the samples depend on: overrides, scenario and models.
  [[nodiscard]] const std::string& fingerprint() const { return fingerprint_; }

  /// Properties that chunks of the present study must have: names and sizes of its sums, and the program's version.
  /// Only chunks that match them, and their own sizes, are read. Without it no chunk is read.
  struct Expected {
    study::Shape shape;
    std::vector<study::RowColumn> columns;
    std::int64_t chunk = 0;  ///< samples in a chunk
    std::string program;     ///< version of garra
  };
  void expect(Expected expected) { expected_ = std::move(expected); }

  /// Writes chunk `index` whole or not at all: temporary name, sync, link; with a checksum. An existing one stays and
  /// is compared, byte for byte.
  enum class Written { kNew, kSame, kOther };
  Written write_chunk(std::int64_t index, const study::Total& chunk) const;
  /// Removes a chunk that cannot be used.
  void remove_chunk(std::int64_t index) const;
  /// Whether the chunk's file exists; its content is not checked.
  [[nodiscard]] bool has_chunk(std::int64_t index) const;
  /// foreign: of another scenario than the folder's, or of another version or layout than expected
  enum class Chunk { kPresent, kMissing, kDamaged, kForeign };
  /// The chunk, or nothing if `state` is not kPresent.
  [[nodiscard]] std::optional<study::Total> read_chunk(std::int64_t index, Chunk* state = nullptr) const;
  /// Whether the file of chunk `index` has the very bytes that this one would be written as.
  [[nodiscard]] bool is_chunk(std::int64_t index, const study::Total& chunk) const;
  [[nodiscard]] std::int64_t chunks_present() const;
  /// Removes the temporary files of our own processes that are dead, and nothing else.
  void remove_leftovers() const;
  /// Locks the folder: required before anything is written to a folder that was opened. The lock is held as long as
  /// this object and its copies live. Throws Error(kInputOutput) if another process works on the run, and as
  /// require_no_links().
  void lock();
  /// Tells other hosts that the lock is still held.
  void renew_lock() const;
  /// Throws Error(kInputOutput) if one of its files or folders is a symbolic link: an untrusted folder could make garra
  /// overwrite files outside of it. Required before anything is written.
  void require_no_links() const;

  /// Throws Error(kInputOutput) if its scenario, overrides or models have changed since it was opened.
  void require_same_inputs() const;

  /// Writes a whole text file (summary.json, manifest.json) atomically.
  void write_text(const std::string& name, const std::string& text) const;
  /// Reads a file of the folder. Throws Error(kInputOutput).
  [[nodiscard]] std::string read_text(const std::string& name) const;
  /// Whether the file exists; false if that cannot be determined.
  [[nodiscard]] bool has(const std::string& name) const;

 private:
  void fill(const std::string& scenario_text, const std::vector<std::string>& models);
  [[nodiscard]] std::string compute_fingerprint() const;

  std::string path_, fingerprint_;
  Expected expected_;
  std::shared_ptr<RunLock> lock_;
  std::vector<std::string> overrides_;
};

}  // namespace garra::io
