// `garra replay` of a file with many items, each with samples of its own: a ranking of grasps.
#pragma once

#include <cstdint>
#include <string>

namespace garra::cli {

struct FileReplay {
  std::string file, format;
  std::int64_t item = -1, sample = -1;
};

/// Hands over who replays such files: one constant in the file that does.
struct KnownFileReplay {
  explicit KnownFileReplay(void (*replay)(const FileReplay&));
};

}  // namespace garra::cli
