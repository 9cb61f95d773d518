// Makes text from files safe for a terminal, and handles the keys that stop a command.
#pragma once

#include <string>

namespace garra::cli {

/// The text without terminal control characters (C0 but for newline and tab, DEL, C1 in UTF-8), each shown as a
/// question mark. A title or a name is untrusted, and an escape sequence in it could hide or forge garra's output.
[[nodiscard]] std::string printable(const std::string& text);

/// From now on SIGINT and SIGTERM do not end the program. is_stopped() reports that one has come, so that a loop can
/// end in order.
void stop_on_signals();
[[nodiscard]] bool is_stopped();

}  // namespace garra::cli
