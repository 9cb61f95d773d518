// `garra replay` of a file with many items, each with samples of its own: a ranking of grasps.
#pragma once

#include <cstdint>
#include <string>

namespace garra::cli {

/// A sample to replay of one item in a file.
struct FileReplay {
  std::string file, format;
  std::int64_t item = -1, sample = -1;
};

/// Registers the replay of such files: one constant in the file that implements it.
struct KnownFileReplay {
  void (*replay)(const FileReplay&);
  const char* name;  ///< name of the file in a run folder

  KnownFileReplay(void (*replay)(const FileReplay&), const char* name);
};

}  // namespace garra::cli
