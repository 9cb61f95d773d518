// Identifies a process in files that others read: its host, its number, and a random mark.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

namespace garra::io {

/// A process of any host, as parsed from its name.
struct ProcessName {
  std::string host;
  pid_t number = 0;
};

/// This process, "HOST-NUMBER". The host is reduced to letters, digits and hyphens, so that the text can stand in a
/// file name.
[[nodiscard]] std::string process_name();
/// Parses such a text; nothing if it is not one.
[[nodiscard]] std::optional<ProcessName> parse_process(std::string_view name);

/// Eight random hexadecimal digits, the same ones for as long as this process lives: hosts may share a name.
inline constexpr std::size_t kMarkDigits = 8;
[[nodiscard]] const std::string& process_mark();

/// Name of this machine.
[[nodiscard]] std::string host_name();

/// Whether it has certainly ended: it is of this host, which has no process of its number.
[[nodiscard]] bool is_dead(const ProcessName& process);

}  // namespace garra::io
