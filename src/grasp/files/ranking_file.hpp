// Writes rankings as HDF5 files, piece by piece.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "garra/grasp_set.hpp"

namespace garra::io {

using TextAttributes = std::vector<std::pair<std::string, std::string>>;

/// Writer of an HDF5 ranking file, one row per grasp.
class RankingWriter {
 public:
  /// Writer for `grasps` rows. Throws Error(kInputOutput), like the other functions.
  RankingWriter(const std::string& path, std::int64_t grasps, const TextAttributes& attributes);
  ~RankingWriter();
  RankingWriter(const RankingWriter&) = delete;
  RankingWriter& operator=(const RankingWriter&) = delete;

  /// Appends the next rows.
  void append(const grasp::Ranking& rows);
  /// Makes the file visible, whole.
  void commit();

 private:
  struct File;
  std::unique_ptr<File> file_;
};

}  // namespace garra::io
