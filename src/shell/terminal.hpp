// What files say, on a terminal, and the keys that stop a command there.
#pragma once

#include <string>

namespace garra::cli {

/// The text without what steers a terminal (C0 but for newline and tab, DEL, C1 in UTF-8): a title or a name is a
/// stranger's, and an escape sequence in it could hide or forge what we say. Each is shown as a question mark.
[[nodiscard]] std::string printable(const std::string& text);

/// From now on SIGINT and SIGTERM do not end the program: is_stopped() says that one has come, and a loop that asks can
/// leave what it has done in order.
void stop_on_signals();
[[nodiscard]] bool is_stopped();

}  // namespace garra::cli
