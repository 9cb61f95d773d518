#include "cli/answer.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <vector>

#include "cli/progress.hpp"

namespace garra::cli {

namespace {

using Json = nlohmann::ordered_json;

template <class... T>
std::string format(const char* pattern, T... values) {
  char text[512];
  std::snprintf(text, sizeof text, pattern, values...);
  return text;
}

/// "no_solution" for a person.
std::string words(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

/// A count with its share of the whole as a bar; lines stay below 80 columns.
std::string counted(const std::string& name, std::int64_t count, double whole) {
  constexpr int width = 32;
  const double share = whole > 0 ? static_cast<double>(count) / whole : 0;
  const int full = static_cast<int>(share * width + 0.5);
  std::string bar;
  for (int k = 0; k < full; ++k) bar += "█";
  if (full == 0 && count > 0) bar = "▏";
  return format("  %-18s %12lld  %7.3f %%", name.c_str(), static_cast<long long>(count), 100 * share) +
         (bar.empty() ? "" : "  " + bar) + "\n";
}

std::string outcomes(const Json& s) {
  std::string out = "Outcomes\n";
  for (const auto& [name, count] : s["outcomes"].items()) out += counted(words(name), count, s["samples"]);
  const auto unsolved = s["outcomes"]["unsolved"].get<long long>();
  if (unsolved > 0) out += "  The unsolved samples may be any of the others: they widen the interval.\n";
  return out;
}

std::string first_to_fail(const Json& s) {
  double total = 0;
  for (const auto& c : s["contacts"]) total += c["fails_first"].get<double>();
  if (total == 0) return "";
  std::string out = "\nFails first, of the samples that do not hold\n";
  for (const auto& c : s["contacts"]) out += counted(c["name"], c["fails_first"], total);
  return out;
}

std::string influences(const Json& s) {
  std::vector<Json> list(s["inputs"].begin(), s["inputs"].end());
  std::stable_sort(list.begin(), list.end(), [](const Json& a, const Json& b) {
    return a["influence"].get<double>() > b["influence"].get<double>();
  });
  std::string out;
  for (std::size_t k = 0; k < std::min<std::size_t>(5, list.size()); ++k) {
    const double x = list[k]["influence"], noise = list[k]["noise"];
    if (x <= noise) break;
    out += format("  %-31s  %7.3f %%\n", list[k]["name"].get<std::string>().c_str(), 100 * x);
  }
  return "\nInputs that matter, by their share of the variance of held (Sobol, first order)\n" +
         (out.empty() ? "  none above the noise of this many samples\n" : out);
}

std::string quantiles(const Json& s) {
  std::string out = format("\n%-20s %10s %10s %10s\n", "Metrics", "5 %", "median", "95 %");
  for (const char* name : {"critical_friction", "friction_margin", "load_factor", "wrench_radius", "minimum_squeeze"}) {
    const Json& m = s["metrics"][name];
    const auto value = [&](const char* p) {
      const Json& q = m["quantiles"][p];
      return q.is_null() ? std::string("-") : format("%.3g", q.get<double>());
    };
    out += format("  %-18s %10s %10s %10s", words(name).c_str(), value("0.05").c_str(), value("0.5").c_str(),
                  value("0.95").c_str());
    out += (m["unit"] == "1" || m["quantiles"]["0.5"].is_null() ? "" : " " + m["unit"].get<std::string>()) + "\n";
  }
  return out;
}

/// Decimals that show two digits of the interval's half width.
std::string estimate(const Json& s) {
  const Json& held = s["held"];
  if (held["probability"].is_null()) return "  P(held) is unknown: no sample was decided\n";
  const double low = held["low"], high = held["high"], half = std::max((high - low) / 2, 1e-12);
  const int digits = std::clamp(static_cast<int>(std::ceil(-std::log10(half))) + 1, 4, 9);
  return format("  P(held) = %.*f   95 %% interval [%.*f, %.*f]\n", digits, held["probability"].get<double>(), digits,
                low, digits, high);
}

std::string sampled(const Json& s) {
  const std::string why = s["stopped_by"] == "half_width"
                              ? format(" of %lld, stopped at the asked half width", s["requested"].get<long long>())
                              : "";
  return format("  %lld samples", s["samples"].get<long long>()) + why +
         format(", seed %llu\n", s["seed"].get<unsigned long long>());
}

std::string effort(const Json& s, const Json& manifest) {
  const Json& worst = s["solver"]["worst_residual"];
  const double rate = manifest["samples_per_second"];
  std::string out =
      "\nWorst residual     " + (worst.is_null() ? std::string("-") : format("%.1e", worst.get<double>()));
  out += format(" (tolerance %.0e), %.2f Newton steps on average\n", s["solver"]["tol"].get<double>(),
                s["solver"]["mean_iterations"].get<double>());
  out += "Speed              " + (rate > 0 ? short_number(rate) + " samples/s on " : "") +
         manifest["device"].get<std::string>() + "\n";
  return out;
}

}  // namespace

std::string answer_text(const Json& s, const Json& manifest, const Look& look) {
  std::string out = "\n" + s["title"].get<std::string>() + "\n\n" + estimate(s) + sampled(s) + "\n";
  out += outcomes(s) + first_to_fail(s) + influences(s) + quantiles(s) + effort(s, manifest);
  const char* label = s["outcomes"]["held"] == s["samples"] ? "Closest sample" : "Closest failure";
  if (look.sample >= 0)
    out += format("%-18s ", label) + "garra replay " + look.run + " --sample " + std::to_string(look.sample) + "\n";
  return out;
}

}  // namespace garra::cli
