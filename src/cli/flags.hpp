// Checks of flag values: NaN and infinity are rejected, 1e6 and 1_000_000 are whole numbers. Also names files in
// errors, and defines the common flags of commands that compute many samples at once, or simulate.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "base/files/units.hpp"
#include "cli/command_line.hpp"
#include "garra/batch/parallel.hpp"
#include "garra/core/error.hpp"

namespace garra::cli {

/// A finite number > 0, and one in [0, 1].
[[nodiscard]] Check positive_number();
[[nodiscard]] Check share();

/// For `transform`: a whole number >= 1, also written as 1e6 or 1_000_000.
[[nodiscard]] Check whole_number();

/// For `transform` of --seed: a whole number from 0 to `most`, also written as 1e6.
[[nodiscard]] Check seed(std::uint64_t most = UINT64_MAX);

/// For `transform` of --threads: a whole number from 0 on. A value above `most` is reduced to it, with a warning on
/// stderr.
[[nodiscard]] Check thread_count(int most = most_threads());

/// The finite number in a text; throws Error(kUsage) with this problem and remedy if there is none.
[[nodiscard]] double number_or_refuse(const std::string& text, const std::string& problem, const std::string& remedy);

/// Joins "0 30 deg, 0" to one word per quantity: a unit belongs to the number before it.
[[nodiscard]] std::vector<std::string> one_per_quantity(const std::vector<std::string>& given);
/// Converter of a word, with or without a unit, to SI units. Throws Error(kUsage) with `problem` and a remedy.
struct FlagQuantity {
  double value;
  bool has_unit;
};
[[nodiscard]] FlagQuantity flag_quantity(const std::string& word, const io::Dimension& dimension,
                                         const std::string& problem);

/// Calls `work`. Its errors about arrays (kInvalidFile) get the name of the file that the arrays are from. `usage`: so
/// do errors of kUsage, where `work` sees no flags.
template <class Work>
decltype(auto) name_file(const std::string& file, const Work& work, bool usage = false) {
  try {
    return work();
  } catch (const Error& error) {
    if (file.empty() || (error.code() != ExitCode::kInvalidFile && !(usage && error.code() == ExitCode::kUsage))) throw;
    throw Error(ExitCode::kInvalidFile, file + ": " + error.what());
  }
}

/// Common flags of commands that compute many samples at once.
struct BatchFlags {
  std::string device = "auto", format = "human";
  int threads = 0;          ///< of the processor; 0: all
  double max_unsolved = 1;  ///< share of the samples; 1: any number may be unsolved
};
/// --threads of the processor
void add_threads(Command command, int& threads, const std::string& help = "processor threads, 0 for all",
                 int most = most_threads());
/// --set KEY=VALUE, repeatable
void add_overrides(Command command, std::vector<std::string>& overrides, const std::string& help);
/// --effort of the contact solver
void add_effort(Command command, std::string& effort);
/// --device --threads --max-unsolved --format; `unsolved` completes "exit code 4 where a larger share ...".
void add_batch_flags(Command command, BatchFlags& flags, const std::string& unsolved);

/// Throws Error(kTooManyUnsolved) where a larger share than `allowed` is unsolved: "2 of 10 " + `what`.
struct Unsolved {
  std::int64_t count, all;
};
void check_unsolved(double allowed, const Unsolved& unsolved, const std::string& what, const std::string& remedy);

/// Throws if an output cannot be written, or is the input (`what` names it). "" is no output.
void check_output(const std::string& input, const std::string& output, const std::string& what);

/// --duration, --times, --output-interval of simulations, whose options have `duration` and `times`.
template <class Options>
void add_output_times(Command command, Options& options, double& every) {
  command.add_option("--duration", options.duration, "end [s]", positive_number());
  const Option times = command.add_option("--times", options.times, "outputs [s]").delimiter(',').type_name("T,...");
  command.add_option("--output-interval", every, "outputs at 0, this, twice this, ... [s]")
      .check(positive_number())
      .excludes(times);
}

/// The output times of --output-interval; none if it was not given.
template <class Options>
void set_output_times(double every, Options& options) {
  if (every <= 0) return;
  if (options.duration / every > 1e7) throw Error(ExitCode::kUsage, "--output-interval asks for more than 1e7 outputs");
  // 1e-12: rounding of until / every must not lose the last output.
  const auto last = static_cast<std::int64_t>(std::floor(options.duration / every * (1 + 1e-12)));
  for (std::int64_t k = 0; k <= last; ++k)
    // min: the last one may pass the end by rounding.
    options.times.push_back(std::min(options.duration, static_cast<double>(k) * every));
}

}  // namespace garra::cli
