// results.h5: the samples that a run kept, one row each (docs/run-folder.md).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace garra::io {

/// What a row holds: index, outcome, residual, margin, inputs [draws], c [forces], a [forces].
struct SampleColumns {
  int draws = 0, forces = 0;
  std::vector<std::string> input_names, outcome_names;

  [[nodiscard]] std::size_t width() const { return 4 + static_cast<std::size_t>(draws + 2 * forces); }
};

/// Writes the table piece by piece, so that its size is limited by the disk and not by the memory: HDF5 lays the file
/// out under a temporary name, the rows then go to their places by plain writes, whose failure on a full disk is an
/// error like any other. The file appears under its own name whole, at commit, or not at all.
class SampleTableWriter {
 public:
  /// Throws Error(kInputOutput), as do the others; `rows` is how many will be appended.
  SampleTableWriter(const std::string& path, const SampleColumns& columns, std::uint64_t rows);
  ~SampleTableWriter();
  SampleTableWriter(const SampleTableWriter&) = delete;
  SampleTableWriter& operator=(const SampleTableWriter&) = delete;

  void append(std::span<const double> rows);
  void commit();

 private:
  struct File;
  std::unique_ptr<File> file_;
};

}  // namespace garra::io
