// Text parts for the answers of all jobs. Lines stay below 80 columns.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace garra::cli {

/// printf into a string, for short texts.
template <class... T>
[[nodiscard]] std::string format(const char* pattern, T... values) {
  char text[512];
  std::snprintf(text, sizeof text, pattern, values...);
  return text;
}

/// JSON has no NaN and no infinity: null.
template <class Json = nlohmann::ordered_json>
[[nodiscard]] Json number_to_json(double x) {
  return std::isfinite(x) ? Json(x) : Json(nullptr);
}

/// "no_solution" as words for people.
[[nodiscard]] std::string words(std::string name);

/// A bar, full at share 1; the thinnest one for any share above zero.
[[nodiscard]] std::string bar(double share, int width);

/// A line with a count and its share of the whole as a bar; the name takes at least `width` columns.
[[nodiscard]] std::string counted(const std::string& name, std::int64_t count, double whole, int width = 18);

/// "P(held) = 0.9015   95 % interval [0.8973, 0.9056]", for an estimate with probability, low and high. The decimals
/// show two digits of the half width.
[[nodiscard]] std::string estimate_line(const std::string& event, const nlohmann::ordered_json& estimate);

/// "  100000 samples, seed 1", and whether the run ended before the requested samples.
/// The title, else `untitled`, between empty lines.
[[nodiscard]] std::string heading(const nlohmann::ordered_json& summary, const std::string& untitled);
[[nodiscard]] std::string samples_line(const nlohmann::ordered_json& summary);

/// The inputs with the largest influence on the event, if any, from the summary.
[[nodiscard]] std::string influences_on(const std::string& event, const nlohmann::ordered_json& summary);

/// The summary's metrics: three quantiles each.
[[nodiscard]] std::string quantiles(const nlohmann::ordered_json& summary);

/// "Speed              1.2 M samples/s on ..."
[[nodiscard]] std::string speed_line(const nlohmann::ordered_json& manifest);

}  // namespace garra::cli
