// The answers of a run in a terminal.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli/look.hpp"

namespace garra::cli {

/// From summary.json and manifest.json of a grasp run.
[[nodiscard]] std::string answer_text(const nlohmann::ordered_json& summary, const nlohmann::ordered_json& manifest,
                                      const Look& look);

/// From summary.json and manifest.json of a grasp run in time.
[[nodiscard]] std::string grasp_time_answer_text(const nlohmann::ordered_json& summary,
                                                 const nlohmann::ordered_json& manifest, const Look& look);

}  // namespace garra::cli
