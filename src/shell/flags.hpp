// Checks of flag values: NaN and infinity are no numbers here, 1e6 and 1_000_000 are whole. And the flags of commands
// that compute many samples at once.
#pragma once

#include <string>

#include "shell/command_line.hpp"

namespace garra::cli {

/// A finite number > 0, and one in [0, 1].
[[nodiscard]] Check positive_number();
[[nodiscard]] Check share();

/// For `transform`: a whole number >= 1, also written as 1e6 or 1_000_000.
[[nodiscard]] Check whole_number();

/// For `transform` of --threads: a whole number from 0 on. More than most_threads() is said on stderr and cut to it.
[[nodiscard]] Check thread_count();

/// The finite number that a text is, or throws Error(kUsage) with this problem and remedy.
[[nodiscard]] double number_or_refuse(const std::string& text, const std::string& problem, const std::string& remedy);

/// What commands that compute many samples at once have in common.
struct BatchFlags {
  std::string device = "auto", format = "human";
  int threads = 0;          ///< of the processor; 0: all
  double max_unsolved = 1;  ///< share of the samples; 1: any number may be unsolved
};
/// --device --threads --max-unsolved --format; `unsolved` completes "exit code 4 where a larger share ...".
void add_batch_flags(Command command, BatchFlags& flags, const std::string& unsolved);

/// Refuses an output that cannot be written, or that is the input (`what` names it). "" is no output.
void check_output(const std::string& input, const std::string& output, const std::string& what);

}  // namespace garra::cli
