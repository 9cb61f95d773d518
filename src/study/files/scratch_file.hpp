// A file for a while: it has no name, and is gone with the program however that ends.
#pragma once

#include <string>

#include "study/scratch.hpp"

namespace garra::io {

class ScratchFile final : public study::Scratch {
 public:
  /// In the folder of `path`, made when the first bytes are written. Where a file system has no files without a name,
  /// it has one like `path`'s temporary one for a moment (is_abandoned).
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
