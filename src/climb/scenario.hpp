// Scenario files with job = "platform_climb".
#pragma once

#include <string>

#include "garra/io/scenario_document.hpp"
#include "garra/platform_study.hpp"

namespace garra::io {

/// Throws Error(kInvalidFile) that names file, line, key and remedy.
[[nodiscard]] climb::Scenario read_climb(const ScenarioDocument& document);

/// The scenario with every default filled in.
[[nodiscard]] std::string resolved_toml(const climb::Scenario& scenario);

}  // namespace garra::io
