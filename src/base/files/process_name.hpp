// What a process calls itself in files that others read: its host, its number, and a mark of its own.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

namespace garra::io {

/// A process of any host.
struct ProcessName {
  std::string host;
  pid_t number = 0;
};

/// This process, "HOST-NUMBER", where the host is of letters, digits and hyphens, so that it can stand in a file's
/// name.
[[nodiscard]] std::string process_name();
/// What such a text says; nothing where it is none.
[[nodiscard]] std::optional<ProcessName> parse_process(std::string_view name);

/// Eight random hexadecimal digits, the same ones for as long as this process lives: hosts may share a name.
inline constexpr std::size_t kMarkDigits = 8;
[[nodiscard]] const std::string& process_mark();

/// Of this machine.
[[nodiscard]] std::string host_name();

/// Whether it is known to have ended: it is of this host, which has no process of its number.
[[nodiscard]] bool is_dead(const ProcessName& process);

}  // namespace garra::io
