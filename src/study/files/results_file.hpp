// results.h5: the samples that a run kept, one row each (docs/reference/run-folder.md).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "garra/study/tally.hpp"

namespace garra::io {

/// Writes the table piece by piece, so that its size is limited by the disk and not by the memory: HDF5 lays the file
/// out under a temporary name, the rows then go to their places by plain writes, whose failure on a full disk is an
/// error like any other. The file appears under its own name whole, at commit, or not at all.
class SampleTableWriter {
 public:
  /// So many rows will be appended, of so many numbers each; 0: no more than the columns are of.
  struct Rows {
    std::uint64_t count;
    std::size_t numbers = 0;
  };
  /// Throws Error(kInputOutput), as do the others.
  SampleTableWriter(const std::string& path, const std::vector<study::RowColumn>& columns, const Rows& rows);
  ~SampleTableWriter();
  SampleTableWriter(const SampleTableWriter&) = delete;
  SampleTableWriter& operator=(const SampleTableWriter&) = delete;

  /// Whole rows, in the order of samples, each as its columns say.
  void append(std::span<const double> rows);
  /// Checks that the file can be read back, then gives it its name.
  void commit();

 private:
  struct File;
  std::unique_ptr<File> file_;
};

}  // namespace garra::io
