#include "base/files/csv_rows.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>

#include "base/files/text_file.hpp"

namespace garra::io {

namespace {

/// Calls use(line, its number from 1) for every line with content; # begins a remark.
void for_each_line(const std::string& text, const std::function<void(std::string_view, int)>& use) {
  int number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line(text.data() + begin, end - begin);
    line = line.substr(0, line.find('#'));
    ++number;
    if (line.find_first_not_of(" \t\r") != std::string_view::npos) use(line, number);
    begin = end + 1;
  }
}

bool between(char c) { return c == ',' || c == ' ' || c == '\t' || c == '\r'; }

/// Whether a line names columns: nothing in it begins as a number does. A row with a typing error, `0.1, 2.O`, is no
/// heading and must not be skipped.
bool is_heading(std::string_view line) {
  for (std::size_t k = 0; k < line.size(); ++k)
    if ((k == 0 || between(line[k - 1])) && std::string_view("0123456789+-.").find(line[k]) != std::string_view::npos)
      return false;
  return true;
}

/// Reads the numbers of a line, between commas or blanks; false if the line holds anything else.
bool read_row(std::string_view line, std::vector<double>& row) {
  row.clear();
  for (const char *at = line.data(), *end = at + line.size();;) {
    while (at < end && between(*at)) ++at;
    if (at == end) return true;
    double value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    if (error != std::errc{} || !(std::abs(value) < 1e300) || (next < end && !between(*next))) return false;
    row.push_back(value);
    at = next;
  }
}

}  // namespace

std::string existing_file(const Node& file, const std::string& key, const std::string& scenario) {
  const std::string path = file_beside(scenario, read_string(file, key));
  if (std::filesystem::is_regular_file(path)) return path;
  fail(file.place, key, path + ": no such file", "The path is relative to the scenario's folder.");
}

void for_each_row(const std::string& path, const CsvTable& table,
                  const std::function<void(const std::vector<double>&, const Place&)>& use) {
  const auto source = std::make_shared<const std::string>(path);
  std::vector<double> row;
  std::size_t rows = 0;
  bool first = true;
  for_each_line(read_text(path), [&](std::string_view line, int number) {
    const Place place{source, number, 1};
    const bool sound = read_row(line, row), heading = first && is_heading(line);
    first = false;
    if (heading) return;
    if (!sound || row.size() != table.columns)
      fail(place, "", sound ? std::to_string(row.size()) + " columns" : "expected numbers between commas",
           table.remedy);
    if (++rows > kMaxRows)
      fail(place, "", "more than " + std::to_string(kMaxRows) + " rows",
           "The " + table.what + " run linearly between fewer ones.");
    use(row, place);
  });
  if (rows == 0) fail({source, 1, 1}, "", "no " + table.what, table.remedy);
}

void add_time(double t, const Place& place, const std::string& key, std::vector<double>& times) {
  if (!times.empty() && t <= times.back())
    fail(place, key, "is not later than the time before it", "Write the times in growing order.");
  times.push_back(t);
}

}  // namespace garra::io
