// The answer of `garra grasp analyse` for people and for programs.
#pragma once

#include <cstdint>
#include <string>

#include "garra/grasp_analysis.hpp"

namespace garra::cli {

/// An analysis with what is said about it.
struct AnalysisAnswer {
  grasp::Analysis analysis;
  std::string title, device, output;  ///< output empty: nothing was written
  double seconds = 0;
};

/// Instants that are.
[[nodiscard]] std::int64_t solved(const grasp::Analysis& analysis);
/// One instant: a table of its contacts; more: how many contacts do what.
[[nodiscard]] std::string analysis_text(const AnalysisAnswer& answer);
/// With all numbers where there is one instant.
[[nodiscard]] std::string analysis_json(const AnalysisAnswer& answer);

}  // namespace garra::cli
