// `garra chain simulate`, a part of `garra chain`.
#pragma once

#include "cli/command_line.hpp"

namespace garra::cli {

void add_chain_simulate_command(Command chain);

}  // namespace garra::cli
