// `garra grasp rank`.
#pragma once

namespace CLI {
class App;
}

namespace garra::cli {

void add_rank_command(CLI::App& grasp);

}  // namespace garra::cli
