// The analysis of one configuration for people and for programs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "garra/singularity.hpp"
#include "garra/singularity_map.hpp"

namespace garra::cli {

/// Two lines before the nine steps: how far the nearest singularity is and of what type, and the condition number.
[[nodiscard]] std::string vicinity_text(const singularity::Analysis& analysis, const singularity::Vicinity& near);
/// Lines about the joint speeds that a motion of the tool takes, and the tool speed that the joints' limits allow;
/// `width` of the labels.
[[nodiscard]] std::string tool_speed_text(const chain::Robot& robot, const singularity::ToolSpeed& speed,
                                          int width = 21);
/// The same for programs: `tool_speed`, null where the arm is singular.
void add_tool_speed(const chain::Robot& robot, const singularity::ToolSpeed& speed, nlohmann::ordered_json& to);
/// Largest by smallest singular value, of an arm that is not singular.
[[nodiscard]] double condition_number(const singularity::Analysis& analysis);
/// The same for programs: `nearest` and `condition`.
void add_vicinity(const singularity::Analysis& analysis, const singularity::Vicinity& near, nlohmann::ordered_json& to);

/// The nine steps of the paper, in its words and its notation ($1: the screw of joint 0), each with what the corrected
/// method says. With the options of the analysis it also says what counted as zero, and the finite step.
[[nodiscard]] std::string singularity_text(const singularity::ScrewSet& set, const singularity::Analysis& analysis,
                                           const singularity::AnalyzeOptions* options = nullptr);

/// Joints are counted from 0.
[[nodiscard]] nlohmann::ordered_json singularity_json(const singularity::Analysis& analysis,
                                                      const singularity::AnalyzeOptions* options = nullptr);

/// [[direction, moment], ...], each six numbers, about the world's origin.
[[nodiscard]] nlohmann::ordered_json screws_json(const singularity::ScrewSet& set);

}  // namespace garra::cli
