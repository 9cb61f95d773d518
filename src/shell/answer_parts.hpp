// Pieces that the answers of all jobs are put together from. Lines stay below 80 columns.
#pragma once

#include <cstdint>
#include <cstdio>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace garra::cli {

/// printf into a string; texts are short.
template <class... T>
[[nodiscard]] std::string format(const char* pattern, T... values) {
  char text[512];
  std::snprintf(text, sizeof text, pattern, values...);
  return text;
}

/// "no_solution" for a person.
[[nodiscard]] std::string words(std::string name);

/// Full at share 1; the thinnest bar there is for what is not nothing.
[[nodiscard]] std::string bar(double share, int width);

/// A line with a count and its share of the whole as a bar; the name takes at least `width` columns.
[[nodiscard]] std::string counted(const std::string& name, std::int64_t count, double whole, int width = 18);

/// "P(held) = 0.9015   95 % interval [0.8973, 0.9056]", of an estimate with probability, low and high: decimals that
/// show two digits of the half width.
[[nodiscard]] std::string estimate_line(const std::string& event, const nlohmann::ordered_json& estimate);

/// "  100000 samples, seed 1", and whether the run ended before the samples that were asked for.
[[nodiscard]] std::string samples_line(const nlohmann::ordered_json& summary);

/// The inputs that matter most to the event, if any, from the summary.
[[nodiscard]] std::string influences_on(const std::string& event, const nlohmann::ordered_json& summary);

/// The summary's metrics: three quantiles each.
[[nodiscard]] std::string quantiles(const nlohmann::ordered_json& summary);

/// "Speed              1.2 M samples/s on ..."
[[nodiscard]] std::string speed_line(const nlohmann::ordered_json& manifest);

}  // namespace garra::cli
