// The answer of a run in a terminal.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli/look.hpp"

namespace garra::cli {

/// From summary.json and manifest.json of a chain run.
[[nodiscard]] std::string chain_answer_text(const nlohmann::ordered_json& summary,
                                            const nlohmann::ordered_json& manifest, const Look& look);

}  // namespace garra::cli
