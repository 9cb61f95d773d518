// results.h5: the samples that a run kept, one row each (docs/reference/run-folder.md).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/files/hdf5.hpp"
#include "garra/study/tally.hpp"

namespace garra::io {

/// Writer of the table, piece by piece, so that the disk and not the memory limits its size.
class SampleTableWriter {
 public:
  /// Number of rows to append, and of numbers in each; 0: as many as the columns need.
  struct Rows {
    std::uint64_t count;
    std::size_t numbers = 0;
  };
  /// Throws Error(kInputOutput), like the other functions.
  SampleTableWriter(const std::string& path, const std::vector<study::RowColumn>& columns, const Rows& rows);

  /// Appends whole rows, in the order of samples, laid out as the columns state.
  void append(std::span<const double> rows);
  void commit();

 private:
  struct Column : study::RowColumn {
    Hdf5Stream::Place place;
  };
  template <class T>
  void write(const Column& column, std::span<const double> rows);

  std::string path_;
  Rows rows_;
  Hdf5Stream file_;
  std::vector<Column> columns_;
  std::uint64_t written_ = 0;
};

}  // namespace garra::io
