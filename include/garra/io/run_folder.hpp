// The run folder: everything a run is made of and has found, in a form that survives a kill (docs/run-folder.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "garra/study/tally.hpp"

namespace garra::io {

class RunFolder {
 public:
  /// Makes a new folder with a copy of the scenario and, in models/, of the model files that it names. Throws
  /// Error(kUsage) where it already holds a run or anything else, and Error(kInputOutput) where it cannot be made.
  [[nodiscard]] static RunFolder create(const std::string& path, const std::string& scenario_file,
                                        const std::vector<std::string>& overrides,
                                        const std::vector<std::string>& models = {});
  /// Opens an existing one. Throws Error(kInputOutput) where it is none.
  [[nodiscard]] static RunFolder open(const std::string& path);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }
  [[nodiscard]] const std::vector<std::string>& overrides() const { return overrides_; }
  [[nodiscard]] std::string scenario() const { return file("scenario.toml"); }

  /// Writes chunk `index` whole or not at all: temporary name, sync, rename; with a checksum.
  void write_chunk(std::int64_t index, const study::Tally& tally) const;
  enum class Chunk { kPresent, kMissing, kDamaged, kForeign };  ///< foreign: of another scenario than the folder's
  /// The chunk, or nothing where `state` is not kPresent.
  [[nodiscard]] std::optional<study::Tally> read_chunk(std::int64_t index, Chunk* state = nullptr) const;
  [[nodiscard]] std::int64_t chunks_present() const;
  /// Removes the temporary files of our own processes that are dead, and nothing else.
  void remove_leftovers() const;
  /// Throws Error(kInputOutput) where one of its files or folders is a symbolic link: a folder that came from somebody
  /// else could make us overwrite what is outside of it. To be asked before anything is written.
  void require_no_links() const;

  /// Writes a whole text file (summary.json, manifest.json) atomically.
  void write_text(const std::string& name, const std::string& text) const;
  [[nodiscard]] std::string read_text(const std::string& name) const;

 private:
  /// What the samples depend on; each chunk carries it.
  [[nodiscard]] std::string fingerprint() const;

  std::string path_, fingerprint_;
  std::vector<std::string> overrides_;
};

/// CRC-32 of a text, as eight hexadecimal digits.
[[nodiscard]] std::string checksum(const std::string& bytes);

}  // namespace garra::io
