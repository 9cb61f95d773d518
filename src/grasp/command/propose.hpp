// `garra grasp propose`.
#pragma once

#include "shell/command_line.hpp"

namespace garra::cli {

void add_propose_command(Command grasp);

}  // namespace garra::cli
