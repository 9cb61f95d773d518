// `garra grasp rank`, and the parts that other commands with rankings share.
#pragma once

#include <string>
#include <vector>

#include "cli/command_line.hpp"
#include "garra/grasp_set.hpp"

namespace garra::cli {

void add_rank_command(Command grasp);

inline constexpr const char* kRankingFile = "ranking.h5";  ///< of a run folder

// Attributes of a ranking.

/// The study's uncertainties as JSON for the ranking's page; names as in SetStudy and Python.
[[nodiscard]] std::string study_json(const grasp::SetStudy& study);
/// Overrides joined by newlines, which none of them contains.
[[nodiscard]] std::string joined(const std::vector<std::string>& lines);

}  // namespace garra::cli
