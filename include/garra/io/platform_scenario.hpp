// Scenario files with job = "platform": a six-legged platform, a path of it or a map of its workspace, and what is
// uncertain. The format is in docs/reference/scenario.md; data/scenarios holds commented examples.
#pragma once

#include <string>
#include <vector>

#include "garra/io/scenario_document.hpp"
#include "garra/platform_study.hpp"

namespace garra::io {

/// Reads the file. Overrides as for read_scenario(). The platform is looked for in models/ beside the scenario, then as
/// read_platform() does. Throws Error as those do.
[[nodiscard]] platform::Scenario read_platform_scenario(const std::string& path,
                                                        const std::vector<std::string>& overrides = {});

/// The same of a document that was parsed before, with the overrides that it was given.
[[nodiscard]] platform::Scenario read_platform_scenario(const ScenarioDocument& document);

/// The same from a text; `name` stands for the file, in messages and where the platform is looked for.
[[nodiscard]] platform::Scenario parse_platform_scenario(const std::string& text, const std::string& name,
                                                         const std::vector<std::string>& overrides = {});

/// The scenario with every default filled in: a scenario file that reads back to the same study.
[[nodiscard]] std::string resolved_toml(const platform::Scenario& scenario);

}  // namespace garra::io
