// `garra grasp propose`.
#pragma once

namespace CLI {
class App;
}

namespace garra::cli {

void add_propose_command(CLI::App& grasp);

}  // namespace garra::cli
