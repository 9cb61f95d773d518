// Rankings as HDF5 files, a piece at a time.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "garra/grasp_set.hpp"

namespace garra::io {

using TextAttributes = std::vector<std::pair<std::string, std::string>>;

class RankingWriter {
 public:
  /// Of so many grasps. Throws Error(kInputOutput), as do the others.
  RankingWriter(const std::string& path, std::int64_t grasps, const TextAttributes& attributes);
  ~RankingWriter();
  RankingWriter(const RankingWriter&) = delete;
  RankingWriter& operator=(const RankingWriter&) = delete;

  /// The next rows.
  void append(const grasp::Ranking& rows);
  /// The file appears, whole.
  void commit();

 private:
  struct File;
  std::unique_ptr<File> file_;
};

}  // namespace garra::io
