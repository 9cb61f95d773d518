// Scenario files with job = "singularity": an arm, the source of its configurations, and the measures. The format
// is in docs/reference/scenario.md; data/scenarios holds commented examples.
#pragma once

#include <string>
#include <vector>

#include "garra/io/scenario_document.hpp"
#include "garra/singularity_map.hpp"

namespace garra::io {

/// Reads the file. Overrides as for read_scenario(), the robot as for read_chain_scenario(). Throws Error as these
/// functions do, and for an arm that has no batch kernel.
[[nodiscard]] singularity::MapScenario read_singularity_scenario(const std::string& path,
                                                                 const std::vector<std::string>& overrides = {});

/// The same for a parsed document with its overrides.
[[nodiscard]] singularity::MapScenario read_singularity_scenario(const ScenarioDocument& document);

/// The same from a text; `name` stands for the file, in messages and as the base for finding the robot.
[[nodiscard]] singularity::MapScenario parse_singularity_scenario(const std::string& text, const std::string& name,
                                                                  const std::vector<std::string>& overrides = {});

/// The scenario with every default filled in: a scenario file that reads back to the same map. Only slices that are
/// left out stay out: they are chosen after the run.
[[nodiscard]] std::string resolved_toml(const singularity::MapScenario& scenario);

}  // namespace garra::io
