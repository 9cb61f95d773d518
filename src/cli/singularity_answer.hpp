// The analysis of one configuration for people and for programs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "garra/singularity.hpp"

namespace garra::cli {

/// The nine steps of the paper, in its words, each with what the corrected method says.
[[nodiscard]] std::string singularity_text(const singularity::ScrewSet& set, const singularity::Analysis& analysis);

/// Joints are counted from 1.
[[nodiscard]] nlohmann::ordered_json singularity_json(const singularity::Analysis& analysis);

}  // namespace garra::cli
