#include "cli/answer_parts.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "cli/progress.hpp"
#include "cli/terminal.hpp"

namespace garra::cli {

using Json = nlohmann::ordered_json;

std::string words(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

std::string bar(double share, int width) {
  const int full = static_cast<int>(share * width + 0.5);
  std::string out;
  for (int k = 0; k < full; ++k) out += "█";
  return full == 0 && share > 0 ? "▏" : out;
}

std::string counted(const std::string& name, std::int64_t count, double whole, int width) {
  const double share = whole > 0 ? static_cast<double>(count) / whole : 0;
  const std::string drawn = bar(share, std::min(32, 50 - width));
  return format("  %-*s %12lld  %7.3f %%", width, name.c_str(), static_cast<long long>(count), 100 * share) +
         (drawn.empty() ? "" : "  " + drawn) + "\n";
}

std::string estimate_line(const std::string& event, const Json& e) {
  if (e["probability"].is_null()) return "  P(" + event + ") is unknown: no sample was decided\n";
  const double low = e["low"], high = e["high"], half = std::max((high - low) / 2, 1e-12);
  // Two digits of the half width, at least four decimals. The upper bound is for a width of 0 (all alike, many
  // samples).
  const int digits = std::clamp(static_cast<int>(std::ceil(-std::log10(half))) + 1, 4, 9);
  return "  P(" + event +
         format(") = %.*f   95 %% interval [%.*f, %.*f]\n", digits, e["probability"].get<double>(), digits, low, digits,
                high);
}

std::string heading(const Json& s, const std::string& untitled) {
  std::string title = s["title"];
  std::ranges::replace(title, '\n', ' ');  // a title is one line
  return "\n" + (title.empty() ? untitled : title) + "\n\n";
}

std::string samples_line(const Json& s) {
  const std::string why = s["stopped_by"] == "half_width"
                              ? format(" of %lld, stopped at the asked half width", s["requested"].get<long long>())
                              : "";
  return format("  %lld samples", s["samples"].get<long long>()) + why +
         format(", seed %llu\n", s["seed"].get<unsigned long long>());
}

std::string influences_on(const std::string& event, const Json& s) {
  std::vector<Json> list(s["inputs"].begin(), s["inputs"].end());
  std::stable_sort(list.begin(), list.end(), [](const Json& a, const Json& b) {
    return a["influence"].get<double>() > b["influence"].get<double>();
  });
  std::string out;
  for (std::size_t k = 0; k < std::min<std::size_t>(5, list.size()); ++k) {
    const double x = list[k]["influence"], noise = list[k]["noise"];
    // Sorted, so no larger one follows; an influence within the noise of the count is none.
    if (x <= noise) break;
    out += format("  %-31s  %7.3f %%\n", list[k]["name"].get<std::string>().c_str(), 100 * x);
  }
  const auto samples = [&](const char* what) {
    std::int64_t sum = 0;
    for (const Json& n : list[0]["bins"][what]) sum += n.get<std::int64_t>();
    return sum;
  };
  const bool alike = !list.empty() && (samples("held") == 0 || samples("held") == samples("decided"));
  const std::string none = alike ? "none: all decided samples are alike" : "none above the noise of this many samples";
  return "\nInputs that matter, by their share of the variance of " + event + " (Sobol, first order)\n" +
         (out.empty() ? "  " + none + "\n" : out);
}

std::string quantiles(const Json& s) {
  std::string out = format("\n%-20s %10s %10s %10s\n", "Metrics", "5 %", "median", "95 %");
  for (const auto& [name, m] : s["metrics"].items()) {
    const auto value = [&its = m](const char* p) {  // clang 14 takes no structured binding as it is
      const Json& q = its["quantiles"][p];
      return q.is_null() ? std::string("-") : format("%.3g", q.get<double>());
    };
    out += format("  %-18s %10s %10s %10s", words(name).c_str(), value("0.05").c_str(), value("0.5").c_str(),
                  value("0.95").c_str());
    // Without a number no unit.
    out += (m["unit"] == "1" || m["quantiles"]["0.5"].is_null() ? "" : " " + m["unit"].get<std::string>()) + "\n";
  }
  return out;
}

std::string count_text(std::size_t n, const std::string& things) {
  return std::to_string(n) + " " + things + (n == 1 ? "" : "s");
}

/// Speed line of a run that workers have computed: all of them together.
std::string worker_line(const Json& manifest) {
  const Json& all = manifest["campaign"];
  return "Speed              " + short_number(all["samples_per_second"]) + " samples/s by " +
         count_text(all["workers"], "worker") + " on " + count_text(all["machines"], "machine") + ", " +
         manifest["workers"][0]["device"].get<std::string>() + (all["workers"] == 1 ? "\n" : " and others\n");
}

std::string speed_line(const Json& manifest) {
  if (manifest.contains("campaign") && manifest["samples_computed"] == 0) return worker_line(manifest);
  const double rate = manifest["samples_per_second"];
  return "Speed              " + (rate > 0 ? short_number(rate) + " samples/s on " : "") +
         manifest["device"].get<std::string>() + "\n";
}

}  // namespace garra::cli
