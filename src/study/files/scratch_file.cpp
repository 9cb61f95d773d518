#include "study/files/scratch_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/files/atomic_file.hpp"
#include "garra/core/error.hpp"

namespace garra::io {

ScratchFile::~ScratchFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void ScratchFile::fail(const char* what, int error) const {
  const std::string folder = std::filesystem::path(path_).parent_path().string();
  throw Error(ExitCode::kInputOutput,
              (folder.empty() ? "." : folder) + ": cannot " + what +
                  " a temporary file: " + (error != 0 ? std::strerror(error) : "it is shorter than what was written"),
              "Free some space there, then run the command again.");
}

void ScratchFile::open() {
  const std::string folder = std::filesystem::path(path_).parent_path().string();
#ifdef O_TMPFILE
  descriptor_ = ::open(folder.empty() ? "." : folder.c_str(), O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor_ >= 0) return;
#endif
  const std::string name = temporary_name(path_);
  descriptor_ = ::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (descriptor_ < 0) fail("make", errno);
  ::unlink(name.c_str());
}

void ScratchFile::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  if (descriptor_ < 0) open();
  while (!bytes.empty()) {
    const ssize_t n = ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) fail("write", n < 0 ? errno : ENOSPC);
    bytes = bytes.subspan(static_cast<std::size_t>(n));
    offset += static_cast<std::uint64_t>(n);
  }
}

void ScratchFile::read_at(std::uint64_t offset, std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::pread(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) fail("read", n < 0 ? errno : 0);
    bytes = bytes.subspan(static_cast<std::size_t>(n));
    offset += static_cast<std::uint64_t>(n);
  }
}

}  // namespace garra::io
