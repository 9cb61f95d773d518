// The answers of a run in a terminal.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "cli/look.hpp"
#include "garra/grasp.hpp"

namespace garra::cli {

/// " N"; "" of numbers without a unit.
[[nodiscard]] std::string after_number(const std::string& unit);
/// Prints the inputs of a sample, by name, with their units.
void print_inputs(const std::vector<grasp::Input>& inputs, const nlohmann::ordered_json& values);

/// From summary.json and manifest.json of a grasp run.
[[nodiscard]] std::string answer_text(const nlohmann::ordered_json& summary, const nlohmann::ordered_json& manifest,
                                      const Look& look);

/// From summary.json and manifest.json of a grasp run in time.
[[nodiscard]] std::string grasp_time_answer_text(const nlohmann::ordered_json& summary,
                                                 const nlohmann::ordered_json& manifest, const Look& look);

}  // namespace garra::cli
