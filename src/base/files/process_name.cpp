#include "base/files/process_name.hpp"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <random>

#include "base/files/number.hpp"

namespace garra::io {

namespace {

/// Only these characters are printed on terminals, or written into names.
bool is_plain(char c) { return c == '-' || std::isalnum(static_cast<unsigned char>(c)) != 0; }

}  // namespace

std::string process_name() { return host_name() + "-" + std::to_string(::getpid()); }

std::optional<ProcessName> parse_process(std::string_view name) {
  const std::size_t hyphen = name.rfind('-');
  if (hyphen == std::string_view::npos) return std::nullopt;
  const auto number = whole_number(name.substr(hyphen + 1));
  const std::string_view host = name.substr(0, hyphen);
  if (!number || *number <= 0 || *number > INT_MAX || host.empty() || !std::all_of(host.begin(), host.end(), is_plain))
    return std::nullopt;
  return ProcessName{std::string(host), static_cast<pid_t>(*number)};
}

const std::string& process_mark() {
  static const std::string mark = [] {
    char digits[kMarkDigits + 1];
    std::snprintf(digits, sizeof digits, "%08x", static_cast<unsigned>(std::random_device()()));
    return std::string(digits);
  }();
  return mark;
}

std::string host_name() {
  char name[65] = {};
  ::gethostname(name, sizeof name - 1);
  std::string host = name;
  for (char& c : host)
    if (!is_plain(c)) c = '-';
  return host;
}

bool is_dead(const ProcessName& process) {
  // Signal 0 only tests; a process of another user answers EPERM and is alive.
  return process.host == host_name() && ::kill(process.number, 0) != 0 && errno == ESRCH;
}

}  // namespace garra::io
