// Scenario files with job = "chain": a robot, uncertain inputs, a torque, and a sweep of designs. The format is in
// docs/reference/scenario.md; data/scenarios holds a commented example.
#pragma once

#include <string>
#include <vector>

#include "garra/chain_study.hpp"
#include "garra/io/scenario_document.hpp"

namespace garra::io {

/// Reads the file. Overrides as for read_scenario(). The robot is looked for in models/ beside the file, where a run
/// folder has its copy, then as the scenario says: by name in data/robots, or by file relative to the scenario. Throws
/// Error as read_scenario() and read_robot().
[[nodiscard]] chain::Scenario read_chain_scenario(const std::string& path,
                                                  const std::vector<std::string>& overrides = {});

/// The same for a parsed document with its overrides.
[[nodiscard]] chain::Scenario read_chain_scenario(const ScenarioDocument& document);

/// The same from a text; `name` stands for the file, in messages and as the base for finding the robot.
[[nodiscard]] chain::Scenario parse_chain_scenario(const std::string& text, const std::string& name,
                                                   const std::vector<std::string>& overrides = {});

/// The scenario with every default filled in: a scenario file that reads back to the same designs. Outside of [sweep]
/// it shows the first design.
[[nodiscard]] std::string resolved_toml(const chain::Scenario& scenario);

}  // namespace garra::io
