// A file appears whole or not at all.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace garra::io {

/// Writes to a temporary name in the target's folder, syncs, renames. Replaces an existing file,
/// follows a symbolic link, and writes devices such as /dev/null in place. Throws
/// Error(kInputOutput) in plain words (disk full, permission, no such folder) and leaves neither a
/// partial file nor a changed target behind.
void write_file_atomically(const std::string& path, std::span<const std::byte> bytes);

/// This machine's name, of letters, digits and hyphens, so that it can stand in a file's name.
[[nodiscard]] std::string host_name();

/// Where a file is written until it is whole: in its own folder, under a name that nobody else gives, of this process.
[[nodiscard]] std::string temporary_name(const std::string& path);

/// Whether a file has such a name and its process is dead: on this host no process has the number, of another host
/// nothing was written for an hour.
[[nodiscard]] bool is_abandoned(const std::string& path);

/// Throws Error(kInputOutput) where write_file_atomically would fail for want of a folder or of the
/// right to write into it: to be asked before the work whose result is to be written.
void require_writable(const std::string& path);

}  // namespace garra::io
