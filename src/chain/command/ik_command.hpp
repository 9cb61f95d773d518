// `garra chain ik`.
#pragma once

#include "cli/command_line.hpp"

namespace garra::cli {

void add_chain_ik_command(Command chain);

}  // namespace garra::cli
