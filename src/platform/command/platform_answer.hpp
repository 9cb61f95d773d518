// The answers of a run in a terminal.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli/look.hpp"

namespace garra::cli {

/// From summary.json and manifest.json of a platform study.
[[nodiscard]] std::string platform_study_answer_text(const nlohmann::ordered_json& summary,
                                                     const nlohmann::ordered_json& manifest, const Look& look);

/// From summary.json and manifest.json of an experiment on a platform.
[[nodiscard]] std::string platform_experiment_answer_text(const nlohmann::ordered_json& summary);

}  // namespace garra::cli
