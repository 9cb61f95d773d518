// Zip archives (PKWARE APPNOTE 6.3): lists the members and reads the bytes of a member from front to back. Input is
// untrusted: redundant fields must agree, and sizes that the file cannot have are rejected.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace garra::io {

/// Whether a file can be read and begins as an archive does.
[[nodiscard]] bool is_zip(const std::string& path);

/// A member of an archive, from the archive's directory.
struct ZipMember {
  std::string name;
  std::uint64_t size = 0;    ///< bytes of its content
  std::uint64_t start = 0;   ///< offset of the content in the file
  std::uint64_t packed = 0;  ///< bytes there
  std::uint64_t header = 0;  ///< offset of its own header
  std::uint32_t crc = 0;     ///< of the content
  std::uint16_t method = 0;  ///< kStored, kDeflated or another
  std::uint16_t flags = 0;
  static constexpr std::uint16_t kStored = 0, kDeflated = 8;
  [[nodiscard]] bool is_encrypted() const { return (flags & 0x2041) != 0; }
};

/// An open archive.
class ZipFile {
 public:
  /// Throws Error: kInvalidFile if the archive is not sound, kInputOutput if it cannot be read.
  explicit ZipFile(std::string path);
  ~ZipFile();
  ZipFile(const ZipFile&) = delete;
  ZipFile& operator=(const ZipFile&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const std::vector<ZipMember>& members() const { return members_; }
  /// Fills `to` from `offset` of the file on; returns whether that succeeded.
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

/// The content of a member, stored or deflated. Forward reads pass over it once. In a deflated member, a seek back of
/// more than 64 KiB restarts at its front.
class ZipContent {
 public:
  /// File and member must outlive this object.
  ZipContent(const ZipFile& file, const ZipMember& member);
  ~ZipContent();
  /// Reads bytes from `at` on, all within the member's size; returns "", or the reason for failure.
  [[nodiscard]] std::string read(std::uint64_t at, std::span<std::byte> to);

 private:
  class Inflation;
  const ZipFile& file_;
  const ZipMember& member_;
  std::unique_ptr<Inflation> inflation_;  ///< of a deflated one
};

}  // namespace garra::io
