// The answer of a run in a terminal.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli/look.hpp"

namespace garra::cli {

/// From summary.json and manifest.json of a map of singularities.
[[nodiscard]] std::string singularity_map_answer_text(const nlohmann::ordered_json& summary,
                                                      const nlohmann::ordered_json& manifest, const Look& look);

}  // namespace garra::cli
