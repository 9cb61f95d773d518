// results.h5: the samples that a run kept, one row each (docs/reference/run-folder.md).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "garra/study/tally.hpp"

namespace garra::io {

/// Writer of the table, piece by piece, so that the disk and not the memory limits its size. HDF5 lays the file out
/// under a temporary name. Plain writes then store the rows, so a full disk is an ordinary error. commit() gives the
/// complete file its own name.
class SampleTableWriter {
 public:
  /// Number of rows to append, and of numbers in each; 0: as many as the columns need.
  struct Rows {
    std::uint64_t count;
    std::size_t numbers = 0;
  };
  /// Throws Error(kInputOutput), like the other functions.
  SampleTableWriter(const std::string& path, const std::vector<study::RowColumn>& columns, const Rows& rows);
  ~SampleTableWriter();
  SampleTableWriter(const SampleTableWriter&) = delete;
  SampleTableWriter& operator=(const SampleTableWriter&) = delete;

  /// Appends whole rows, in the order of samples, laid out as the columns state.
  void append(std::span<const double> rows);
  /// Checks that the file can be read back, then gives it its name.
  void commit();

 private:
  struct File;
  std::unique_ptr<File> file_;
};

}  // namespace garra::io
