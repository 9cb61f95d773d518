// The subcommands of the program. Each add_* registers its own; a callback finishes, or throws
// garra::Error with the exit code that the program is to end with.
#pragma once

namespace CLI {
class App;
}

namespace garra::cli {

/// `garra contact ...`
void add_contact_commands(CLI::App& app);

}  // namespace garra::cli
