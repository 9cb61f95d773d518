// Reads tables of numbers over time beside a scenario (CSV), and checks that their times increase.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/files/toml_reader.hpp"

namespace garra::io {

inline constexpr std::size_t kMaxRows = 100'000;  ///< of a table over time

/// The path of a file that a key of the scenario names; throws if there is none.
[[nodiscard]] std::string existing_file(const Node& file, const std::string& key, const std::string& scenario);

/// Description of a table for its reader and error messages.
struct CsvTable {
  std::size_t columns;
  std::string what;    ///< content of the table
  std::string remedy;  ///< remedy for a wrong table
};

/// Calls use(row, its place) for every row, at least one and at most kMaxRows. Numbers stand between commas or blanks,
/// # begins a remark, the first line may name the columns. Throws Error with the file's line.
void for_each_row(const std::string& path, const CsvTable& table,
                  const std::function<void(const std::vector<double>&, const Place&)>& use);

/// Appends a time; throws if it is not later than the previous one.
void add_time(double t, const Place& place, const std::string& key, std::vector<double>& times);

}  // namespace garra::io
