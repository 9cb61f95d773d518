#include "cli/answer.hpp"

#include <algorithm>
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

std::string outcomes(const Json& s) {
  std::string out;
  const double n = std::max(1.0, s["samples"].get<double>());
  for (const auto& [name, count] : s["outcomes"].items()) {
    const double share = count.get<double>() / n;
    std::string bar;
    for (int k = 0; k < static_cast<int>(share * 32 + 0.5); ++k) bar += "█";
    if (bar.empty() && count > 0) bar = "▏";
    out += format("  %-18s %12lld  %7.3f %%  ", name.c_str(), count.get<long long>(), 100 * share) + bar + "\n";
  }
  return out;
}

std::string first_to_fail(const Json& s) {
  double total = 0;
  for (const auto& c : s["contacts"]) total += c["fails_first"].get<double>();
  if (total == 0) return "  no contact failed\n";
  std::string out;
  for (const auto& c : s["contacts"])
    out += format("  %s %.1f %%", c["name"].get<std::string>().c_str(), 100 * c["fails_first"].get<double>() / total);
  return out + "\n";
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
    out += format("  %-28s %6.2f %%  of the variance of `held`\n", list[k]["name"].get<std::string>().c_str(), 100 * x);
  }
  return out.empty() ? "  none above the noise of this many samples\n" : out;
}

std::string quantiles(const Json& s) {
  std::string out;
  for (const char* name : {"critical_friction", "friction_margin", "load_factor", "wrench_radius", "minimum_squeeze"}) {
    const Json& m = s["metrics"][name];
    const auto value = [&](const char* p) {
      const Json& q = m["quantiles"][p];
      return q.is_null() ? std::string("-") : format("%.3g", q.get<double>());
    };
    out += format("  %-18s %8s %8s %8s  %s\n", name, value("0.05").c_str(), value("0.5").c_str(), value("0.95").c_str(),
                  m["unit"] == "1" ? "" : m["unit"].get<std::string>().c_str());
  }
  return out;
}

}  // namespace

std::string answer_text(const Json& s, const Json& manifest, const std::string& run) {
  const Json& held = s["held"];
  std::string out = "\n" + s["title"].get<std::string>() + "\n\n";
  if (held["probability"].is_null()) {
    out += "  P(held): no sample was decided\n\n";
  } else {
    out += format("  P(held) = %.4f   95 %% interval [%.4f, %.4f]   %lld samples, seed %lld\n\n",
                  held["probability"].get<double>(), held["low"].get<double>(), held["high"].get<double>(),
                  s["samples"].get<long long>(), s["seed"].get<long long>());
  }
  out += "Outcomes\n" + outcomes(s);
  out += "\nFails first (of the samples that do not hold)\n" + first_to_fail(s);
  out += "\nInputs that matter (first-order Sobol index)\n" + influences(s);
  out += "\nMetrics                   5 %   median     95 %\n" + quantiles(s);
  const Json& worst = s["solver"]["worst_residual"];
  out += format("\nWorst residual %.1e (tolerance %.0e), %.2f Newton steps on average\n",
                worst.is_null() ? 0.0 : worst.get<double>(), s["solver"]["tol"].get<double>(),
                s["solver"]["mean_iterations"].get<double>());
  out += format("%s samples/s on %s\n", short_number(manifest["samples_per_second"].get<double>()).c_str(),
                manifest["device"].get<std::string>().c_str());
  if (!s["closest"].empty())
    out += "Closest to the border:  garra replay " + run + " --sample " + std::to_string(s["closest"][0]["sample"].get<long long>()) + "\n";
  return out;
}

}  // namespace garra::cli
