// `garra chain generate`, a part of `garra chain`.
#pragma once

namespace CLI {
class App;
}

namespace garra::cli {

void add_chain_generate_command(CLI::App& chain);

}  // namespace garra::cli
