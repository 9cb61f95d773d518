// `garra grasp matrices`.
#pragma once

#include "cli/command_line.hpp"

namespace garra::cli {

void add_matrices_command(Command grasp);

}  // namespace garra::cli
