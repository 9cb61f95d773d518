#include "study/files/run_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <ctime>
#include <string_view>
#include <thread>

#include "base/files/atomic_file.hpp"
#include "base/files/process_name.hpp"
#include "garra/core/error.hpp"

namespace garra::io {

namespace {

constexpr double kExpires = 3600;  ///< [s] a claim of another host that is not renewed
constexpr int kMaxTries = 50;      ///< to lock the file that others find
constexpr auto kBetweenTries = std::chrono::milliseconds(10);
constexpr std::size_t kLongest = 256;

/// "process 4711 on host alpha since 2026-11-22T17:00:00Z"
std::string claim() {
  const std::time_t now = std::time(nullptr);
  char since[32];
  std::strftime(since, sizeof since, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  return "process " + std::to_string(::getpid()) + " on host " + host_name() + " since " + since + "\n";
}

/// The claim in the file, made printable; "" if there is none.
std::string claim_in(int descriptor) {
  char text[kLongest] = {};
  const ssize_t n = ::pread(descriptor, text, sizeof text - 1, 0);
  std::string claim(text, n > 0 ? static_cast<std::size_t>(n) : 0);
  claim.resize(std::min(claim.size(), claim.find('\n')));
  for (char& c : claim)
    // The text goes to a terminal, and its source is untrusted.
    if (c < ' ' || c > '~') c = '?';
  return claim;
}

/// The other host's clock may be ahead: a date that far in the future has expired as well.
bool is_fresh(std::time_t date) { return std::abs(std::difftime(std::time(nullptr), date)) < kExpires; }

/// False with the reason in errno.
bool write_whole(int descriptor, std::string_view text) {
  off_t at = 0;
  while (!text.empty()) {
    const ssize_t n = ::pwrite(descriptor, text.data(), text.size(), at);
    if (n < 0 && errno == EINTR) continue;
    if (n == 0) errno = ENOSPC;  // a write of 0 bytes sets no errno
    if (n <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(n));
    at += n;
  }
  return true;
}

bool is_of_this_host(const std::string& claim) {
  return claim.find(" on host " + host_name() + " ") != std::string::npos;
}

}  // namespace

RunLock::RunLock(const std::string& run) : run_(run), path_(run + "/" + kName) {
  for (int tries = 0; !take(); ++tries) {
    if (tries == kMaxTries) refuse("it makes the file anew again and again");
    std::this_thread::sleep_for(kBetweenTries);
  }
}

void RunLock::refuse(const std::string& holder) const {
  throw RunLocked(ExitCode::kInputOutput,
                  run_ + ": another garra is at work here" + (holder.empty() ? "" : " (" + holder + ")"),
                  "wait until it ends, or stop it; if that process is gone, delete " + path_);
}

/// False if the holder has removed the file between our opening and locking it: retry with the new one.
bool RunLock::take() {
  // Not through a link, and non-blocking for a pipe.
  descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
  struct stat ours {
  }, there{};
  if (descriptor_ < 0 || ::fstat(descriptor_, &ours) != 0 || !S_ISREG(ours.st_mode)) {
    const int error = descriptor_ < 0 ? errno : EINVAL;
    if (descriptor_ >= 0) ::close(descriptor_);
    throw Error(ExitCode::kInputOutput, path_ + ": cannot be made: " + std::strerror(error),
                "Choose a folder that you may write to.");
  }
  const bool taken = ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0;
  const bool held = !taken && errno == EWOULDBLOCK;  // otherwise the file system has no locks
  const std::string claimed = claim_in(descriptor_);
  // A claim of this host without a lock is of a dead process: taken over at once.
  if (held || (!claimed.empty() && !is_of_this_host(claimed) && is_fresh(ours.st_mtime))) {
    ::close(descriptor_);
    refuse(claimed);
  }
  // The locked file must be the one that others will find.
  if (::stat(path_.c_str(), &there) != 0 || there.st_ino != ours.st_ino) {
    ::close(descriptor_);
    return false;
  }
  if (::ftruncate(descriptor_, 0) == 0 && write_whole(descriptor_, claim())) return true;
  const int error = errno;
  ::unlink(path_.c_str());
  ::close(descriptor_);
  throw_cannot_write(path_, error);
}

RunLock::~RunLock() {
  ::unlink(path_.c_str());  // while we hold it: no other lock file can be there
  ::close(descriptor_);
}

void RunLock::renew() const { ::futimens(descriptor_, nullptr); }

}  // namespace garra::io
