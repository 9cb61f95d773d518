// `garra chain path`.
#pragma once

#include "cli/command_line.hpp"

namespace garra::cli {

void add_chain_path_command(Command chain);

}  // namespace garra::cli
