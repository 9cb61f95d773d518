// bench.json: all measurements (docs/notes/solver-benchmark.md has the schema).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "contact/bench/mncp.hpp"
#include "contact/bench/record.hpp"
#include "contact/bench/sets.hpp"

namespace garra::cli {

/// A whole benchmark.
struct BenchRecord {
  std::string command, started;  ///< UTC, ISO 8601
  SetRequest request;
  MeasureOptions measure;
  double seconds = 0;                ///< [s] wall clock
  std::vector<std::string> methods;  ///< solvers in the order of the report, those of Siconos last
  std::string siconos;               ///< program; empty: not installed
  std::vector<SetRecord> sets;
  std::optional<MncpRecord> mncp;
};

/// `per_problem`: with every outcome, as in bench.json; without, as --format json prints it.
[[nodiscard]] nlohmann::ordered_json to_json(const BenchRecord& bench, bool per_problem);

}  // namespace garra::cli
