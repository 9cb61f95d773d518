// What files say, on a terminal.
#pragma once

#include <string>

namespace garra::cli {

/// The text without what steers a terminal (C0 but for newline and tab, DEL, C1 in UTF-8): a title or a name is a
/// stranger's, and an escape sequence in it could hide or forge what we say. Each is shown as a question mark.
[[nodiscard]] std::string printable(const std::string& text);

}  // namespace garra::cli
