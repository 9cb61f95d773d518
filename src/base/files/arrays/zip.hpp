// Zip archives (PKWARE APPNOTE 6.3): what is in one, and the bytes of a member from front to back. Written for files of
// strangers: what is said twice must be said alike, and no size is believed that the file cannot have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace garra::io {

/// Whether a file can be read and begins as an archive does.
[[nodiscard]] bool is_zip(const std::string& path);

struct ZipMember {
  std::string name;
  std::uint64_t size = 0;    ///< bytes of its content
  std::uint64_t start = 0;   ///< where they begin in the file
  std::uint64_t packed = 0;  ///< bytes there
  std::uint64_t header = 0;  ///< where its own header begins
  std::uint32_t crc = 0;     ///< of the content
  std::uint16_t method = 0;  ///< kStored, kDeflated or another
  std::uint16_t flags = 0;
  static constexpr std::uint16_t kStored = 0, kDeflated = 8;
  [[nodiscard]] bool is_encrypted() const { return (flags & 0x2041) != 0; }
};

/// An archive that is open.
class ZipFile {
 public:
  /// Throws Error: kInvalidFile for what is no sound archive, kInputOutput where it cannot be read.
  explicit ZipFile(std::string path);
  ~ZipFile();
  ZipFile(const ZipFile&) = delete;
  ZipFile& operator=(const ZipFile&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const std::vector<ZipMember>& members() const { return members_; }
  /// Fills `to` from this place of the file on; whether it could.
  [[nodiscard]] bool read_at(std::uint64_t offset, std::span<std::byte> to) const;

 private:
  struct Directory;
  class Fields;
  [[noreturn]] void refuse(const std::string& problem) const;
  [[nodiscard]] std::string bytes_at(std::uint64_t offset, std::uint64_t count, const char* what) const;
  [[nodiscard]] Directory find_directory() const;
  [[nodiscard]] Directory find_large_directory(std::uint64_t end) const;
  void read_directory(const Directory& directory);
  void take_local_header(ZipMember& member) const;
  void require_apart(const Directory& directory) const;

  std::string path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
  std::vector<ZipMember> members_;
};

/// The content of a member, stored or deflated. Forward it is read once; a step back of more than 64 KiB in a deflated
/// one begins again at its front.
class ZipContent {
 public:
  /// File and member stay as long.
  ZipContent(const ZipFile& file, const ZipMember& member);
  ~ZipContent();
  /// Bytes from `at` on, all within the member's size; "", or why they cannot be had.
  [[nodiscard]] std::string read(std::uint64_t at, std::span<std::byte> to);

 private:
  class Inflation;
  const ZipFile& file_;
  const ZipMember& member_;
  std::unique_ptr<Inflation> inflation_;  ///< of a deflated one
};

}  // namespace garra::io
