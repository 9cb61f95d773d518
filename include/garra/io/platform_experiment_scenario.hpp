// Scenario files with job = "platform_experiment": one of the paper's experiments on a six-legged platform. The format
// is in docs/reference/scenario.md; data/scenarios holds commented examples.
#pragma once

#include <string>
#include <vector>

#include "garra/io/scenario_document.hpp"
#include "garra/platform_experiment.hpp"

namespace garra::io {

/// Reads the file. Overrides as for read_scenario(), the platform as for read_platform_scenario(). Throws Error as
/// those do.
[[nodiscard]] platform::ExperimentScenario read_platform_experiment(const std::string& path,
                                                                    const std::vector<std::string>& overrides = {});

/// The same for a parsed document with its overrides.
[[nodiscard]] platform::ExperimentScenario read_platform_experiment(const ScenarioDocument& document);

/// The same from a text; `name` stands for the file.
[[nodiscard]] platform::ExperimentScenario parse_platform_experiment(const std::string& text, const std::string& name,
                                                                     const std::vector<std::string>& overrides = {});

/// The scenario with every default filled in: a scenario file that reads back to the same experiment.
[[nodiscard]] std::string resolved_toml(const platform::ExperimentScenario& scenario);

}  // namespace garra::io
