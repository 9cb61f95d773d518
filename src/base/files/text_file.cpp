#include "base/files/text_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <filesystem>

#include "garra/core/error.hpp"

namespace garra::io {

namespace {

class OpenFile {
 public:
  /// Regular files only, and non-blocking: opening a pipe would wait for a writer.
  explicit OpenFile(const std::string& path) : descriptor_(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {
    struct stat status {};
    is_file_ = descriptor_ >= 0 && ::fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode);
  }
  ~OpenFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  /// Calls use(bytes, count) for the whole file, or for `most` bytes. Returns whether it could be read.
  template <class Use>
  [[nodiscard]] bool read(std::size_t most, const Use& use) const {
    std::string block(std::size_t{1} << 16, '\0');
    while (is_file_ && most > 0) {
      const ssize_t n = ::read(descriptor_, block.data(), std::min(block.size(), most));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return n == 0;
      use(block.data(), static_cast<std::size_t>(n));
      most -= static_cast<std::size_t>(n);
    }
    return is_file_;
  }

 private:
  int descriptor_;
  bool is_file_ = false;
};

}  // namespace

std::string read_file(const std::string& path, std::size_t most) {
  std::string text;
  if (OpenFile(path).read(most, [&](const char* bytes, std::size_t n) { text.append(bytes, n); })) return text;
  throw Error(ExitCode::kInputOutput, path + ": cannot be read",
              "Check the path and its permissions; it must be a file.");
}

bool is_utf8(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size()) {
    const auto lead = static_cast<unsigned char>(text[i++]);
    if (lead < 0x80) continue;
    const int more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
    if (lead < 0xc2 || lead > 0xf4) return false;
    std::uint32_t code = lead & (0x3fU >> more);
    for (int k = 0; k < more; ++k, ++i) {
      if (i == text.size() || (static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) return false;
      code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3fU);
    }
    // Overlong form, half of a UTF-16 pair, or beyond the last character.
    const std::uint32_t least = more == 3 ? 0x10000 : more == 2 ? 0x800 : 0x80;
    if (code < least || (code >= 0xd800 && code < 0xe000) || code > 0x10ffff) return false;
  }
  return true;
}

std::string read_text(const std::string& path) { return read_file(path, kMaxText + 1); }

std::string file_checksum(const std::string& path) {
  uLong sum = crc32_z(0, nullptr, 0);
  const auto add = [&](const char* bytes, std::size_t n) {
    sum = crc32_z(sum, reinterpret_cast<const Bytef*>(bytes), n);
  };
  if (!OpenFile(path).read(SIZE_MAX, add)) return {};
  char text[9];
  std::snprintf(text, sizeof text, "%08lx", sum);
  return text;
}

std::string file_beside(const std::string& scenario, const std::string& file) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(scenario).parent_path(), copy = folder / "models" / fs::path(file).filename();
  std::error_code ignored;
  return (fs::exists(copy, ignored) ? copy : folder / file).string();
}

}  // namespace garra::io
