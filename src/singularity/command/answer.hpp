// The analysis of one configuration for people and for programs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "garra/singularity.hpp"

namespace garra::cli {

/// The nine steps of the paper, in its words, each with what the corrected method says. With the options of the
/// analysis it also says what counted as zero, and the finite step.
[[nodiscard]] std::string singularity_text(const singularity::ScrewSet& set, const singularity::Analysis& analysis,
                                           const singularity::AnalyseOptions* options = nullptr);

/// Joints are counted from 1.
[[nodiscard]] nlohmann::ordered_json singularity_json(const singularity::Analysis& analysis,
                                                      const singularity::AnalyseOptions* options = nullptr);

/// [[direction, moment], ...], each six numbers, about the world's origin.
[[nodiscard]] nlohmann::ordered_json screws_json(const singularity::ScrewSet& set);

}  // namespace garra::cli
