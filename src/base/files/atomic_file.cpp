#include "base/files/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>

#include "garra/core/error.hpp"

namespace garra::io {
namespace {

namespace fs = std::filesystem;

std::string remedy_for(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return "Free some space, or choose another place for the output.";
    case EFBIG:
      return "Raise the limit on file sizes (ulimit -f), or write fewer problems per file.";
    case EACCES:
    case EPERM:
    case EROFS:
      return "Choose a folder that you may write to.";
    case ENOENT:
    case ENOTDIR:
      return "Create the folder first, or check the path for a typing error.";
    case EISDIR:
      return "Give the name of a file, not of a folder.";
    default:
      return "Check the disk, then run the command again.";
  }
}

[[noreturn]] void fail(const std::string& path, int error) {
  throw Error(ExitCode::kInputOutput, path + ": cannot write: " + std::strerror(error), remedy_for(error));
}

/// Where the bytes go in the end: the file behind a symbolic link, or a device that must not be
/// replaced by a file.
struct Target {
  std::string path;
  bool in_place;
};
Target resolve(const std::string& path) {
  std::error_code ignored;
  // Weakly: a link to a file that is not there yet may be followed, too.
  const fs::path followed = fs::is_symlink(path, ignored) ? fs::weakly_canonical(path, ignored) : fs::path(path);
  const std::string target = followed.empty() ? path : followed.string();
  const fs::file_status status = fs::status(target, ignored);
  if (fs::is_directory(status)) fail(path, EISDIR);
  // A rename over /dev/null or a pipe would replace it by a file.
  return {target, fs::exists(status) && !fs::is_regular_file(status)};
}

std::string folder_of(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  return folder.empty() ? "." : folder.string();
}

/// Makes the rename itself survive a power cut. Some file systems cannot sync a folder; the data
/// are safe already.
void sync_folder(const std::string& path) {
  const int descriptor = ::open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

constexpr const char* kMark = ".garra-";
constexpr const char* kEnd = ".part";

/// Who wrote a temporary file.
struct Writer {
  std::string host;
  pid_t process;
};

/// Nothing where the name is none of ours: <name>.garra-<host>-<process>.part.
std::optional<Writer> writer_of(const std::string& name) {
  // From the end: the file's own name may hold any of these.
  const std::size_t mark = name.rfind(kMark), end = name.rfind(kEnd), number = name.rfind('-');
  if (mark == std::string::npos || mark == 0 || end == std::string::npos || end + std::strlen(kEnd) != name.size())
    return std::nullopt;
  const std::size_t first = mark + std::strlen(kMark);
  if (number < first || number > end) return std::nullopt;
  Writer writer{name.substr(first, number - first), 0};
  const char *from = name.data() + number + 1, *to = name.data() + end;
  const auto [stop, error] = std::from_chars(from, to, writer.process);
  const bool whole = error == std::errc{} && stop == to && writer.process > 0;
  return whole && writer.host.find('.') == std::string::npos ? std::optional(writer) : std::nullopt;
}

}  // namespace

std::string host_name() {
  char name[65] = {};
  ::gethostname(name, sizeof name - 1);
  std::string host = name;
  for (char& c : host)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '-';
  return host;
}

std::string temporary_name(const std::string& path) {
  return path + kMark + host_name() + "-" + std::to_string(::getpid()) + kEnd;
}

bool is_abandoned(const std::string& path) {
  const auto writer = writer_of(fs::path(path).filename().string());
  if (!writer) return false;
  // Signal 0 only asks; a process of another user answers EPERM and is alive.
  if (writer->host == host_name()) return ::kill(writer->process, 0) != 0 && errno == ESRCH;
  std::error_code error;
  const auto written = fs::last_write_time(path, error);
  return !error && fs::file_time_type::clock::now() - written > std::chrono::hours(1);
}

AtomicFile::AtomicFile(const std::string& path) {
  const Target target = resolve(path);
  target_ = target.path;
  in_place_ = target.in_place;
  if (!in_place_) {
    open_hidden();
    return;
  }
  descriptor_ = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor_ < 0) fail(target_, errno);
  // What cannot be sought takes bytes in one order only.
  sequential_ = ::lseek(descriptor_, 0, SEEK_CUR) < 0;
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!name_.empty()) ::unlink(name_.c_str());
}

/// Without a name, so that it goes with the program; not every file system can do that.
void AtomicFile::open_hidden() {
  // A file without name gets one through /proc/self/fd; without /proc it could never appear.
  const bool can_be_named = ::access("/proc/self/fd", X_OK) == 0;
  if (can_be_named) descriptor_ = ::open(folder_of(target_).c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
  if (descriptor_ >= 0) return;
  name_ = temporary_name(target_);
  // The name is ours alone; whatever bears it is left by an earlier process of this number, and must not be followed.
  ::unlink(name_.c_str());
  descriptor_ = ::open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (descriptor_ >= 0) return;
  name_.clear();
  fail(target_, errno);
}

void AtomicFile::write_all(std::uint64_t offset, std::span<const std::byte> bytes) {
  // One call writes at most about 2 GB on Linux; smaller pieces also let a signal through between
  // them.
  constexpr std::size_t kPiece = std::size_t{1} << 26;
  while (!bytes.empty()) {
    const std::size_t piece = std::min(bytes.size(), kPiece);
    const ssize_t n = sequential_ ? ::write(descriptor_, bytes.data(), piece)
                                  : ::pwrite(descriptor_, bytes.data(), piece, static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(target_, errno);
    bytes = bytes.subspan(static_cast<std::size_t>(n));
    offset += static_cast<std::uint64_t>(n);
  }
}

void AtomicFile::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  if (!sequential_) return write_all(offset, bytes);
  const std::scoped_lock lock(mutex_);
  bytes_.resize(std::max(bytes_.size(), static_cast<std::size_t>(offset) + bytes.size()));
  std::copy(bytes.begin(), bytes.end(), bytes_.begin() + static_cast<std::ptrdiff_t>(offset));
}

void AtomicFile::commit(std::uint64_t size) {
  if (sequential_) {
    bytes_.resize(static_cast<std::size_t>(size));
    write_all(0, bytes_);
  } else if (!in_place_ && ::ftruncate(descriptor_, static_cast<off_t>(size)) != 0) {
    fail(target_, errno);
  }
  // Pipes and devices cannot be synced (EINVAL), which is no loss.
  if (::fsync(descriptor_) != 0 && errno != EINVAL && errno != EROFS) fail(target_, errno);
  // After the sync: the name must not be there before the bytes are.
  if (!in_place_) appear();
  const int rc = ::close(descriptor_);
  descriptor_ = -1;
  if (rc != 0) fail(target_, errno);
  if (!in_place_) sync_folder(target_);
}

void AtomicFile::appear() {
  if (name_.empty()) {
    const std::string name = temporary_name(target_), open_file = "/proc/self/fd/" + std::to_string(descriptor_);
    ::unlink(name.c_str());  // left by a program that had our number
    // Linked under a temporary name first: linkat does not replace a file, rename does.
    if (::linkat(AT_FDCWD, open_file.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) != 0) fail(target_, errno);
    name_ = name;
  }
  if (::rename(name_.c_str(), target_.c_str()) != 0) fail(target_, errno);
  name_.clear();
}

void write_file_atomically(const std::string& path, std::span<const std::byte> bytes) {
  AtomicFile file(path);
  file.write_at(0, bytes);
  file.commit(bytes.size());
}

void require_writable(const std::string& path) {
  const Target target = resolve(path);
  const std::string asked = target.in_place ? target.path : folder_of(target.path);
  if (::access(asked.c_str(), target.in_place ? W_OK : W_OK | X_OK) != 0) fail(path, errno);
  std::error_code ignored;
  if (!target.in_place && !fs::is_directory(asked, ignored)) fail(path, ENOTDIR);
}

}  // namespace garra::io
