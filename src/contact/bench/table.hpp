// Prints a benchmark for a terminal.
#pragma once

#include <string>

#include "contact/bench/json.hpp"

namespace garra::cli {

/// Tables of every set, then the reliable solvers.
[[nodiscard]] std::string bench_text(const BenchRecord& bench);

/// Solvers that solve at least kTrusted of the tried problems of a set, the quickest first (mean time of a problem).
[[nodiscard]] std::vector<const SolverRecord*> trusted(const SetRecord& set);

}  // namespace garra::cli
