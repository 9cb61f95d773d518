// The answer of `garra grasp analyze` for people and for programs.
#pragma once

#include <cstdint>
#include <string>

#include "garra/grasp_analysis.hpp"

namespace garra::cli {

/// An analysis with the words for its answer.
struct AnalysisAnswer {
  grasp::Analysis analysis;
  std::string title, device, output;  ///< output empty: nothing was written
  double seconds = 0;
  bool limited = false;  ///< torque_limit cuts off torques of the command
};

/// Number of solved instants.
[[nodiscard]] std::int64_t count_solved(const grasp::Analysis& analysis);
/// One instant: a table of its contacts; several: counts of contact modes.
[[nodiscard]] std::string analysis_text(const AnalysisAnswer& answer);
/// The answer as JSON, with all numbers if there is one instant.
[[nodiscard]] std::string analysis_json(const AnalysisAnswer& answer);

}  // namespace garra::cli
