// Checks of flag values that CLI11 does not make: NaN and infinity are no numbers here, 1e6 and 1_000_000 are whole.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace garra::cli {

/// A finite number > 0, and one in [0, 1].
[[nodiscard]] CLI::Validator positive_number();
[[nodiscard]] CLI::Validator share();

/// For `transform`: a whole number >= 1, also written as 1e6 or 1_000_000.
[[nodiscard]] CLI::Validator whole_number();

/// For `transform` of --threads: a whole number from 0 on. More than most_threads() is said on stderr and cut to it.
[[nodiscard]] CLI::Validator thread_count();

/// The finite number that a text is, or throws Error(kUsage) with this problem and remedy.
[[nodiscard]] double number_or_refuse(const std::string& text, const std::string& problem, const std::string& remedy);

/// What is wrong with an unknown subcommand or flag, with the nearest known one; "" where all of them are known.
[[nodiscard]] std::string unknown_word(const CLI::App& app, int argc, const char* const* argv);

}  // namespace garra::cli
