// Scenario files with job = "platform": a six-legged platform, a path of it or a map of its workspace, and what is
// uncertain. The format is in docs/reference/scenario.md; data/scenarios holds commented examples.
#pragma once

#include <string>
#include <vector>

#include "garra/io/scenario_document.hpp"
#include "garra/platform_study.hpp"

namespace garra::io {

/// Reads the file. Overrides as for read_scenario(). The platform is looked for in models/ beside the scenario, then as
/// read_platform() does. Throws Error as these functions do.
[[nodiscard]] platform::Scenario read_platform_scenario(const std::string& path,
                                                        const std::vector<std::string>& overrides = {});

/// The same for a parsed document with its overrides.
[[nodiscard]] platform::Scenario read_platform_scenario(const ScenarioDocument& document);

/// The same from a text; `name` stands for the file, in messages and as the base for finding the platform.
[[nodiscard]] platform::Scenario parse_platform_scenario(const std::string& text, const std::string& name,
                                                         const std::vector<std::string>& overrides = {});

/// The scenario with every default filled in: a scenario file that reads back to the same study.
[[nodiscard]] std::string resolved_toml(const platform::Scenario& scenario);

}  // namespace garra::io
