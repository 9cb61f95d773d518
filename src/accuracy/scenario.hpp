// Scenario files with job = "accuracy".
#pragma once

#include <string>

#include "garra/accuracy.hpp"
#include "garra/io/scenario_document.hpp"

namespace garra::io {

/// Throws Error(kInvalidFile) that names file, line, key and remedy.
[[nodiscard]] accuracy::Scenario read_accuracy(const ScenarioDocument& document);

/// The scenario with every default filled in.
[[nodiscard]] std::string resolved_toml(const accuracy::Scenario& scenario);

}  // namespace garra::io
