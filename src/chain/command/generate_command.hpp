// `garra chain generate`, a part of `garra chain`.
#pragma once

#include "cli/command_line.hpp"

namespace garra::cli {

void add_chain_generate_command(Command chain);

}  // namespace garra::cli
