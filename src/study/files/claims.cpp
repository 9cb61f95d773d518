#include "study/files/claims.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <filesystem>

#include "base/files/number.hpp"
#include "base/files/process_name.hpp"

namespace garra::io {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

/// A claim is overdue after kPatience times the duration of our slowest chunk, plus kClockError [s]. Clocks of hosts
/// differ by up to kClockError; a claim dated further ahead has unknown age.
constexpr double kPatience = 3, kClockError = 30;
/// Limit without a chunk of our own to compare with [s].
constexpr double kUnknown = 3600;

/// Parses a worker's name: host-process-random.
std::optional<ProcessName> parse_worker(const std::string& name) {
  return parse_process(std::string_view(name).substr(0, name.rfind('-')));
}

std::string first_bytes(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return "";
  char text[256];
  const ssize_t n = ::read(descriptor, text, sizeof text);
  ::close(descriptor);
  return n > 0 ? std::string(text, static_cast<std::size_t>(n)) : "";
}

/// Modification time; nothing if there is no such file.
std::optional<std::time_t> read_file_date(const std::string& path) {
  struct stat s {};
  return ::lstat(path.c_str(), &s) == 0 ? std::optional(s.st_mtime) : std::nullopt;
}

/// Seconds since `date`, at least 0; nothing if it lies ahead by more than the clock error.
std::optional<double> seconds_since(std::time_t date) {
  const double age = std::difftime(std::time(nullptr), date);
  return age < -kClockError ? std::nullopt : std::optional(std::max(age, 0.0));
}

}  // namespace

bool is_of_dead(const std::string& name) {
  const auto worker = parse_worker(name);
  return worker && is_dead(*worker);
}

Claims::~Claims() {
  for (const std::int64_t chunk : mine_) ::unlink(file(chunk).c_str());
  ::rmdir(folder_.c_str());  // if no other claims are left
}

std::string Claims::file(std::int64_t chunk) const { return folder_ + "/" + std::to_string(chunk); }

/// False if another process has it. True if files cannot be created: chunks are then computed unclaimed.
bool Claims::make(std::int64_t chunk) {
  ::mkdir(folder_.c_str(), 0777);
  const int descriptor = ::open(file(chunk).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (descriptor < 0) return errno != EEXIST;
  const bool written = ::write(descriptor, worker_.data(), worker_.size()) == static_cast<ssize_t>(worker_.size());
  // An empty claim belongs to an unknown worker; it becomes overdue as usual.
  static_cast<void>(written);
  ::close(descriptor);
  return true;
}

void Claims::take_over(std::int64_t chunk) {
  ::unlink(file(chunk).c_str());
  static_cast<void>(make(chunk));
}

/// The claim's age by its date, or by our own clock since we first saw this date, whichever is longer. The date of
/// another host's clock may lie ahead.
double Claims::age(std::int64_t chunk) {
  const auto date = read_file_date(file(chunk));
  if (!date) return 0;
  const Sighting now{*date, Clock::now()};
  Sighting& first = seen_.try_emplace(chunk, now).first->second;
  if (first.date != now.date) first = now;
  return std::max(seconds_since(*date).value_or(0), std::chrono::duration<double>(now.at - first.at).count());
}

std::optional<std::int64_t> Claims::take(const NextMissing& next_missing, const IsThere& is_there) {
  since_ = Clock::now();
  const auto have = [&](std::int64_t chunk) {
    mine_.insert(chunk);
    // Another process may have stored it and dropped its claim since the caller's look.
    if (!is_there(chunk)) return true;
    drop(chunk);
    return false;
  };
  const double overdue = slowest_ > 0 ? kPatience * slowest_ + kClockError : kUnknown;
  std::optional<std::int64_t> oldest;
  double oldest_age = -1;  // no age is negative
  while (const auto next = next_missing()) {
    const std::int64_t chunk = *next;
    if (make(chunk)) {
      if (have(chunk)) return chunk;
      continue;
    }
    const double age_of_claim = age(chunk);
    if (is_of_dead(first_bytes(file(chunk))) || age_of_claim > overdue) {
      take_over(chunk);
      if (have(chunk)) return chunk;
      continue;
    }
    if (age_of_claim > oldest_age && !is_there(chunk)) oldest = chunk, oldest_age = age_of_claim;
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
}

std::vector<Claims::Claim> Claims::all(const std::string& run) {
  std::vector<Claim> list;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(run + "/claims", error)) {
    const auto chunk = whole_number(entry.path().filename().string());
    const auto date = read_file_date(entry.path().string());
    if (chunk && date) list.push_back({*chunk, first_bytes(entry.path().string()), seconds_since(*date)});
  }
  // Unknown ages come last.
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
  static const std::string name = process_name() + "-" + process_mark();
  return name;
}

std::string machine_name(const std::string& name) {
  const auto worker = parse_worker(name);
  return worker ? worker->host : name;
}

std::string describe_worker(const std::string& name) {
  const auto worker = parse_worker(name);
  return worker ? "process " + std::to_string(worker->number) + " on host " + worker->host : "an unknown process";
}

}  // namespace garra::io
