// The main job's answer as a person reads it in a terminal.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace garra::cli {

/// From summary.json and manifest.json of a run.
[[nodiscard]] std::string answer_text(const nlohmann::ordered_json& summary, const nlohmann::ordered_json& manifest,
                                      const std::string& run);

}  // namespace garra::cli
