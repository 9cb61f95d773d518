// `garra grasp rank`, and the parts that other commands with rankings share.
#pragma once

#include <string>
#include <vector>

#include "cli/command_line.hpp"

namespace garra::cli {

void add_rank_command(Command grasp);
/// `garra grasp compare`, whose Python prints the answer.
void add_compare_command(Command grasp);

inline constexpr const char* kRankingFile = "ranking.h5";  ///< of a run folder

// Attributes of a ranking.

/// Overrides joined by newlines, which none of them contains.
[[nodiscard]] std::string joined(const std::vector<std::string>& lines);

}  // namespace garra::cli
