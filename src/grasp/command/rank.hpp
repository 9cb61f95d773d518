// `garra grasp rank`, and what other ways to a ranking share with it.
#pragma once

#include <string>
#include <vector>

#include "garra/grasp_set.hpp"
#include "shell/command_line.hpp"

namespace garra::cli {

void add_rank_command(Command grasp);

inline constexpr const char* kRankingFile = "ranking.h5";  ///< of a run folder

// Attributes of a ranking.

/// What is uncertain, as the ranking's page reads it; the names are those of SetStudy and of Python.
[[nodiscard]] std::string study_json(const grasp::SetStudy& study);
/// Overrides one a line, which none of them has.
[[nodiscard]] std::string joined(const std::vector<std::string>& lines);

}  // namespace garra::cli
