// A temporary file without a name, which vanishes when the program ends or dies.
#pragma once

#include <string>

#include "study/scratch.hpp"

namespace garra::io {

/// Scratch memory in a temporary file.
class ScratchFile final : public study::Scratch {
 public:
  /// Created in the folder of `path` with the first write. On a file system without nameless files it briefly has a
  /// name like `path`'s temporary one (is_abandoned).
  explicit ScratchFile(std::string path) : path_(std::move(path)) {}
  ~ScratchFile() override;
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  void write_at(std::uint64_t offset, std::span<const std::byte> bytes) override;
  void read_at(std::uint64_t offset, std::span<std::byte> bytes) override;

 private:
  void open();
  [[noreturn]] void fail(const char* what, int error) const;

  std::string path_;
  int descriptor_ = -1;
};

}  // namespace garra::io
