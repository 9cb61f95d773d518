// A file appears whole or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace garra::io {

/// A file that grows out of sight in the target's folder and takes the target's name when it is whole; until then a
/// file of that name stays as it was, and nothing is left behind where it never comes to that, killed programs included
/// (where the file system has files without a name). Follows a symbolic link, and writes devices such as /dev/null in
/// place. What killed programs have left of the same file (is_abandoned) goes when it is next replaced. Throws
/// Error(kInputOutput) in plain words (disk full, permission, no such folder).
class AtomicFile {
 public:
  explicit AtomicFile(const std::string& path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  /// Any number of threads at once, in any order; what nobody writes is zero.
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes);
  /// Gives the file this size, syncs it and lets it appear. False where a file of that name is there and shall stay.
  enum class Existing { kReplaced, kStays };
  bool commit(std::uint64_t size, Existing existing = Existing::kReplaced);

 private:
  void open_hidden();
  void write_all(std::uint64_t offset, std::span<const std::byte> bytes);
  [[nodiscard]] bool link_open_file(const std::string& name) const;
  [[nodiscard]] bool appear(Existing existing);

  std::string target_;  ///< behind links
  std::string name_;    ///< of the file while it grows; empty where it has none
  bool in_place_ = false;
  int descriptor_ = -1;
  bool sequential_ = false;       ///< a pipe: its bytes are kept until they are all there
  std::vector<std::byte> bytes_;  ///< of a pipe
  std::mutex mutex_;              ///< of bytes_
};

/// All bytes at once.
void write_file_atomically(const std::string& path, std::span<const std::byte> bytes);

/// The same where no file of that name is there; false where one is, which stays as it is. Of several processes that
/// write at once, one is told true.
[[nodiscard]] bool write_file_if_absent(const std::string& path, std::span<const std::byte> bytes);

/// Throws Error(kInputOutput) with what the system says of `error` (errno) and its remedy.
[[noreturn]] void throw_cannot_write(const std::string& path, int error);

/// Where a file is written until it is whole: in its own folder, under a name that nobody else gives, of this process.
[[nodiscard]] std::string temporary_name(const std::string& path);

/// Whether a file has such a name and its process is dead: on this host no process has the number, of another host
/// nothing was written for a day.
[[nodiscard]] bool is_abandoned(const std::string& path);

/// What programs have left that were killed between giving a file its temporary name and its own.
void remove_abandoned(const std::string& target);

/// Throws Error(kInputOutput) where write_file_atomically would fail for want of a folder or of the
/// right to write into it: to be asked before the work whose result is to be written.
void require_writable(const std::string& path);

}  // namespace garra::io
