// `garra chain rates`.
#pragma once

#include "cli/command_line.hpp"

namespace garra::cli {

void add_chain_rates_command(Command chain);

}  // namespace garra::cli
