// Screws files: the joint screws of one configuration in TOML (docs/theory/singularity.md, "Screws file").
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "garra/singularity.hpp"

namespace garra::io {

/// Contents of a screws file.
struct ScrewsFile {
  singularity::ScrewSet set;
  std::optional<int> generic_rank;
  std::optional<double> tolerance;
  std::vector<std::string> warnings;  ///< screws that are no unit screws
};

/// Throws Error: kInputOutput for a file that cannot be read; kInvalidFile ("file:line:column: key: what is wrong",
/// then the remedy) for wrong content.
[[nodiscard]] ScrewsFile read_screws(const std::string& path);

/// The same from a text; `name` stands in messages for the file.
[[nodiscard]] ScrewsFile parse_screws(const std::string& text, const std::string& name);

}  // namespace garra::io
