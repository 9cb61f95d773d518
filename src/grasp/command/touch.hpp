// `garra grasp touch`.
#pragma once

#include "cli/command_line.hpp"

namespace garra::cli {

void add_touch_command(Command grasp);

}  // namespace garra::cli
