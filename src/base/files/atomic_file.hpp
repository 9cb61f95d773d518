// Writes files atomically: a file appears whole or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace garra::io {

/// A file that is written in the target's folder and takes the target's name when it is complete. Until then an
/// existing file of that name stays unchanged. Failures and kills leave no file behind if the file system supports
/// nameless files; otherwise the next replacement of the file removes the leftovers of killed programs (is_abandoned).
/// Follows a symbolic link, and writes devices such as /dev/null in place. Throws Error(kInputOutput) with a plain
/// reason (disk full, permission, no such folder).
class AtomicFile {
 public:
  explicit AtomicFile(const std::string& path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  /// For any number of threads at once, in any order; gaps are zero.
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes);
  /// Sets the file's size, syncs it and makes it visible. False if a file of that name exists and shall stay.
  enum class Existing { kReplaced, kStays };
  bool commit(std::uint64_t size, Existing existing = Existing::kReplaced);

 private:
  void open_hidden();
  void write_all(std::uint64_t offset, std::span<const std::byte> bytes);
  [[nodiscard]] bool link_open_file(const std::string& name) const;
  [[nodiscard]] bool appear(Existing existing);

  std::string target_;  ///< behind links
  std::string name_;    ///< of the growing file; empty if it has none
  bool in_place_ = false;
  int descriptor_ = -1;
  bool sequential_ = false;       ///< a pipe: its bytes are kept until they are all there
  std::vector<std::byte> bytes_;  ///< of a pipe
  std::mutex mutex_;              ///< of bytes_
};

/// Writes all bytes at once.
void write_file_atomically(const std::string& path, std::span<const std::byte> bytes);

/// The same if no file of that name exists; else returns false and leaves it unchanged. Exactly one of several
/// concurrent writers gets true.
[[nodiscard]] bool write_file_if_absent(const std::string& path, std::span<const std::byte> bytes);

/// Throws Error(kInputOutput) with the system's message for `error` (errno) and its remedy.
[[noreturn]] void throw_cannot_write(const std::string& path, int error);

/// Name of the incomplete file: in the target's folder, unique to this process.
[[nodiscard]] std::string temporary_name(const std::string& path);

/// Whether a file has such a name and its process is dead. A process of this host is dead if its number is free; one of
/// another host, if nothing was written for a day.
[[nodiscard]] bool is_abandoned(const std::string& path);

/// Removes files of programs that were killed between giving a file its temporary name and its own.
void remove_abandoned(const std::string& target);

/// Throws Error(kInputOutput) if write_file_atomically would fail because the folder is missing or not writable. To be
/// called before the work whose result is to be written.
void require_writable(const std::string& path);

}  // namespace garra::io
