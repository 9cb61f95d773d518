// Words for messages: "did you mean", and text from a file made safe to print.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace garra::io {

/// Optimal string alignment distance: insertions, deletions, substitutions and swaps of neighbors.
[[nodiscard]] int edit_distance(std::string_view a, std::string_view b);

/// The nearest of the known words, or "" if none is near enough.
[[nodiscard]] std::string nearest_word(std::string_view word, const std::vector<std::string>& known);

/// `Did you mean "x"?`, else `Known here: a, b, c.`, in the words of `what_fits` ("Keys that fit
/// here").
[[nodiscard]] std::string suggest(std::string_view word, const std::vector<std::string>& known,
                                  const std::string& what_fits);

/// The text in double quotes on one line, shortened if it is long.
[[nodiscard]] std::string quoted(std::string_view text);

/// The text as one word of a shell's command: in single quotes if it has any other character than those of usual paths.
[[nodiscard]] std::string shell_word(std::string_view text);

}  // namespace garra::io
