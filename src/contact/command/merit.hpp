// `garra contact merit`.
#pragma once

#include "cli/command_line.hpp"

namespace garra::cli {

/// Adds the command to `garra contact`.
void add_contact_merit_command(Command contact);

}  // namespace garra::cli
