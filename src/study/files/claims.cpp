#include "study/files/claims.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <ctime>
#include <filesystem>

#include "base/files/atomic_file.hpp"
#include "garra/core/error.hpp"

namespace garra::io {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

/// A claim is overdue after so many times what our own slowest chunk has taken, and this [s] more: clocks of hosts
/// differ.
constexpr double kPatience = 3, kClockError = 30;
/// Without a chunk of our own to compare with [s].
constexpr double kUnknown = 3600;

std::optional<std::int64_t> number_of(std::string_view digits) {
  std::int64_t n = 0;
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), n);
  return error == std::errc{} && stop == digits.data() + digits.size() && n >= 0 ? std::optional(n) : std::nullopt;
}

/// What `name` says: host-process-random.
struct Worker {
  std::string host;
  pid_t process = 0;
};
std::optional<Worker> parse(const std::string& name) {
  const std::size_t random = name.rfind('-');
  if (random == std::string::npos || random == 0) return std::nullopt;
  const std::size_t number = name.rfind('-', random - 1);
  if (number == std::string::npos) return std::nullopt;
  const auto process = number_of(std::string_view(name).substr(number + 1, random - number - 1));
  // Printed on terminals: nothing but letters, digits and hyphens, as host_name() has them.
  const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
    return c == '-' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  });
  if (!process || !plain || *process <= 0 || *process > INT32_MAX) return std::nullopt;
  return Worker{name.substr(0, number), static_cast<pid_t>(*process)};
}

bool is_dead(const std::string& name) {
  const auto worker = parse(name);
  return worker && worker->host == host_name() && !is_alive(worker->process);
}

std::string first_bytes(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return "";
  char text[256];
  const ssize_t n = ::read(descriptor, text, sizeof text);
  ::close(descriptor);
  return n > 0 ? std::string(text, static_cast<std::size_t>(n)) : "";
}

double age_of(const std::string& path) {
  struct stat s {};
  if (::lstat(path.c_str(), &s) != 0) return 0;
  return std::difftime(std::time(nullptr), s.st_mtime);
}

}  // namespace

Claims::~Claims() {
  for (const std::int64_t chunk : mine_) ::unlink(file(chunk).c_str());
}

std::string Claims::file(std::int64_t chunk) const { return folder_ + "/" + std::to_string(chunk); }

/// False where somebody else has it, or where files cannot be made: then chunks are computed unclaimed.
bool Claims::make(std::int64_t chunk) {
  ::mkdir(folder_.c_str(), 0777);
  const int descriptor = ::open(file(chunk).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (descriptor < 0) return errno != EEXIST;
  const bool written = ::write(descriptor, worker_.data(), worker_.size()) == static_cast<ssize_t>(worker_.size());
  // An empty claim is one of nobody known: it is overdue at its time.
  static_cast<void>(written);
  ::close(descriptor);
  return true;
}

void Claims::take_over(std::int64_t chunk) {
  ::unlink(file(chunk).c_str());
  static_cast<void>(make(chunk));
}

std::optional<std::int64_t> Claims::take(const NextMissing& next_missing, const IsThere& is_there) {
  since_ = Clock::now();
  const auto have = [&](std::int64_t chunk) {
    mine_.insert(chunk);
    // Somebody may have stored it, and dropped its claim, since the caller has looked.
    if (!is_there(chunk)) return true;
    drop(chunk);
    return false;
  };
  const double overdue = slowest_ > 0 ? kPatience * slowest_ + kClockError : kUnknown;
  std::optional<std::int64_t> oldest;
  double oldest_age = -1;
  while (const auto next = next_missing()) {
    const std::int64_t chunk = *next;
    if (make(chunk)) {
      if (have(chunk)) return chunk;
      continue;
    }
    const double age = age_of(file(chunk));
    if (is_dead(first_bytes(file(chunk))) || age > overdue) {
      take_over(chunk);
      if (have(chunk)) return chunk;
      continue;
    }
    if (age > oldest_age && !is_there(chunk)) oldest = chunk, oldest_age = age;
  }
  if (oldest) {
    take_over(*oldest);
    if (!have(*oldest)) return std::nullopt;
  }
  return oldest;
}

void Claims::drop(std::int64_t chunk) {
  slowest_ = std::max(slowest_, std::chrono::duration<double>(Clock::now() - since_).count());
  mine_.erase(chunk);
  ::unlink(file(chunk).c_str());
  ::rmdir(folder_.c_str());  // where it was the last one
}

std::vector<Claims::Claim> Claims::all(const std::string& run) {
  std::vector<Claim> list;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(run + "/claims", error)) {
    const auto chunk = number_of(entry.path().filename().string());
    if (chunk) list.push_back({*chunk, first_bytes(entry.path().string()), age_of(entry.path().string())});
  }
  std::sort(list.begin(), list.end(), [](const Claim& a, const Claim& b) {
    return a.seconds != b.seconds ? a.seconds > b.seconds : a.chunk < b.chunk;
  });
  return list;
}

void Claims::remove_all(const std::string& run) {
  for (const Claim& claim : all(run)) ::unlink((run + "/claims/" + std::to_string(claim.chunk)).c_str());
  ::rmdir((run + "/claims").c_str());
}

const std::string& worker_name() {
  static const std::string name = host_name() + "-" + std::to_string(::getpid()) + "-" + process_mark();
  return name;
}

std::string describe_worker(const std::string& name) {
  const auto worker = parse(name);
  return worker ? "process " + std::to_string(worker->process) + " on host " + worker->host : "an unknown process";
}

}  // namespace garra::io
