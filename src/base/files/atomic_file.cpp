#include "base/files/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>

#include "base/files/process_name.hpp"
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
      return "Raise the limit on file sizes (ulimit -f), or compute fewer problems or samples.";
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

[[noreturn]] void fail(const std::string& path, int error) { throw_cannot_write(path, error); }

/// Final destination of the bytes: the file behind a symbolic link, or a device that must not be replaced by a file.
struct Target {
  std::string path;
  bool in_place;
};
Target resolve(const std::string& path) {
  std::error_code ignored;
  // weakly_canonical, because the target of a link need not exist yet.
  const fs::path followed = fs::is_symlink(path, ignored) ? fs::weakly_canonical(path, ignored) : fs::path(path);
  const std::string target = followed.empty() ? path : followed.string();
  const fs::file_status status = fs::status(target, ignored);
  if (fs::is_directory(status)) fail(path, EISDIR);
  // A rename over /dev/null or a pipe would replace it by a file.
  return {target, fs::exists(status) && !fs::is_regular_file(status)};
}

std::string parent_folder(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  return folder.empty() ? "." : folder.string();
}

/// Makes the rename itself survive a power cut. Some file systems cannot sync a folder; the data
/// are safe already.
void sync_folder(const std::string& path) {
  const int descriptor = ::open(parent_folder(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

constexpr const char* kMark = ".garra-";
constexpr const char* kEnd = ".part";

/// Parses <name>.garra-<host>-<process>.<random>.part (before 0.2 without the random part); nothing for other names.
std::optional<ProcessName> parse_writer(const std::string& name) {
  // From the end: the file's own name may hold any of these.
  const std::size_t mark = name.rfind(kMark);
  if (mark == std::string::npos || mark == 0) return std::nullopt;
  const std::size_t first = mark + std::strlen(kMark), dot = name.find('.', first);
  if (dot == std::string::npos) return std::nullopt;
  const std::string end = name.substr(dot);
  const bool random = end.size() == kMarkDigits + 1 + std::strlen(kEnd) && end.substr(kMarkDigits + 1) == kEnd &&
                      end.find_first_not_of("0123456789abcdef", 1) == kMarkDigits + 1;
  if (end != kEnd && !random) return std::nullopt;
  return parse_process(std::string_view(name).substr(first, dot - first));
}

bool is_linked(const std::string& path) {
  struct stat s {};
  return ::stat(path.c_str(), &s) == 0 && s.st_nlink > 1;
}

}  // namespace

void throw_cannot_write(const std::string& path, int error) {
  throw Error(ExitCode::kInputOutput, path + ": cannot write: " + std::strerror(error), remedy_for(error));
}

std::string temporary_name(const std::string& path) {
  return path + kMark + process_name() + "." + process_mark() + kEnd;
}

bool is_abandoned(const std::string& path) {
  const auto writer = parse_writer(fs::path(path).filename().string());
  if (!writer) return false;
  if (writer->host == host_name()) return is_dead(*writer);
  std::error_code error;
  const auto written = fs::last_write_time(path, error);
  return !error && fs::file_time_type::clock::now() - written > std::chrono::hours(24);
}

void remove_abandoned(const std::string& target) {
  const std::string begin = fs::path(target).filename().string() + kMark;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(parent_folder(target), error))
    if (entry.path().filename().string().starts_with(begin) && is_abandoned(entry.path().string()))
      ::unlink(entry.path().c_str());
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
  // Files without seek, such as pipes, take bytes in one order only.
  sequential_ = ::lseek(descriptor_, 0, SEEK_CUR) < 0;
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!name_.empty()) ::unlink(name_.c_str());
}

/// Opens a file without a name, which vanishes if the program dies; some file systems do not support that.
void AtomicFile::open_hidden() {
  // A file without name gets one through /proc/self/fd; without /proc it could never appear.
  const bool can_be_named = ::access("/proc/self/fd", X_OK) == 0;
  if (can_be_named) descriptor_ = ::open(parent_folder(target_).c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
  if (descriptor_ >= 0) return;
  name_ = temporary_name(target_);
  // The name is this process's own: an existing file is left by an earlier one of this number, not to be followed.
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

bool AtomicFile::commit(std::uint64_t size, Existing existing) {
  if (sequential_) {
    bytes_.resize(static_cast<std::size_t>(size));
    write_all(0, bytes_);
  } else if (!in_place_ && ::ftruncate(descriptor_, static_cast<off_t>(size)) != 0) {
    fail(target_, errno);
  }
  // Pipes and devices cannot be synced (EINVAL), which is harmless.
  if (::fsync(descriptor_) != 0 && errno != EINVAL && errno != EROFS) fail(target_, errno);
  // After the sync: the name must not be there before the bytes are.
  const bool appeared = in_place_ || appear(existing);
  const int rc = ::close(descriptor_);
  descriptor_ = -1;
  if (rc != 0) fail(target_, errno);
  if (!in_place_ && appeared) sync_folder(target_);
  return appeared;
}

/// Gives a nameless file a name. False if the name is taken.
bool AtomicFile::link_open_file(const std::string& name) const {
  const std::string open_file = "/proc/self/fd/" + std::to_string(descriptor_);
  if (::linkat(AT_FDCWD, open_file.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) return true;
  if (errno != EEXIST) fail(target_, errno);
  return false;
}

bool AtomicFile::appear(Existing existing) {
  if (name_.empty()) {
    // Directly if no file exists yet: a kill leaves nothing behind.
    if (link_open_file(target_)) return true;
    if (existing == Existing::kStays) return false;
    remove_abandoned(target_);
    const std::string name = temporary_name(target_);
    ::unlink(name.c_str());  // left by a program that had our number
    // Linked under a temporary name first: linkat does not replace a file, rename does.
    if (!link_open_file(name)) fail(target_, EEXIST);
    name_ = name;
  }
  if (existing == Existing::kStays) {
    const bool linked = ::link(name_.c_str(), target_.c_str()) == 0;
    const int error = errno;
    // Over NFS a link may be made and yet reported as failed. The temporary name goes with this object.
    if (linked || is_linked(name_)) return true;
    if (error == EEXIST) return false;
    // On a file system without links two processes may both write, and they write the same bytes.
    if (::access(target_.c_str(), F_OK) == 0) return false;
  }
  if (::rename(name_.c_str(), target_.c_str()) != 0) fail(target_, errno);
  name_.clear();
  return true;
}

void write_file_atomically(const std::string& path, std::span<const std::byte> bytes) {
  AtomicFile file(path);
  file.write_at(0, bytes);
  file.commit(bytes.size());
}

bool write_file_if_absent(const std::string& path, std::span<const std::byte> bytes) {
  AtomicFile file(path);
  file.write_at(0, bytes);
  return file.commit(bytes.size(), AtomicFile::Existing::kStays);
}

void require_writable(const std::string& path) {
  const Target target = resolve(path);
  const std::string asked = target.in_place ? target.path : parent_folder(target.path);
  if (::access(asked.c_str(), target.in_place ? W_OK : W_OK | X_OK) != 0) fail(path, errno);
  std::error_code ignored;
  if (!target.in_place && !fs::is_directory(asked, ignored)) fail(path, ENOTDIR);
}

}  // namespace garra::io
