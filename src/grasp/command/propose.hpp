// `garra grasp propose`.
#pragma once

#include "cli/command_line.hpp"

namespace garra::cli {

void add_propose_command(Command grasp);

}  // namespace garra::cli
