// Flags of commands that compute many samples at once. Without CLI11, which takes seconds to compile.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace garra::cli {

/// What commands that compute many samples at once have in common.
struct BatchFlags {
  std::string device = "auto", format = "human";
  int threads = 0;          ///< of the processor; 0: all
  double max_unsolved = 1;  ///< share of the samples; 1: any number may be unsolved
};
/// --device --threads --max-unsolved --format; `unsolved` completes "exit code 4 where a larger share ...".
void add_batch_flags(CLI::App& command, BatchFlags& flags, const std::string& unsolved);

/// Refuses an output that cannot be written, or that is the input (`what` names it). "" is no output.
void check_output(const std::string& input, const std::string& output, const std::string& what);

}  // namespace garra::cli
