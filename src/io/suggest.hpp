// "Did you mean": the known word that is nearest to a misspelt one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace garra::io {

/// Optimal string alignment distance: insertions, deletions, substitutions and swaps of neighbours.
[[nodiscard]] int edit_distance(std::string_view a, std::string_view b);

/// The nearest of the known words, or "" where none is near enough to be what was meant.
[[nodiscard]] std::string nearest(std::string_view word, const std::vector<std::string>& known);

/// `Did you mean "x"?`, else `Known here: a, b, c.`, in the words of `what_fits` ("Keys that fit here").
[[nodiscard]] std::string suggest(std::string_view word, const std::vector<std::string>& known,
                                  const std::string& what_fits);

}  // namespace garra::io
