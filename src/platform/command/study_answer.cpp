// The answer of a platform study for a terminal.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/files/suggest.hpp"
#include "cli/answer_parts.hpp"
#include "platform/command/platform_answer.hpp"

namespace garra::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kNameWidth = 26;
constexpr std::size_t kMaxInputs = 6;

std::string headline_lines(const Json& s) {
  const bool exact = s["kind"] == "map" && s["map"].value("exact", false);
  std::string out = exact ? format("  %.4g %% of the nodes are feasible: all were computed, so there is no interval\n",
                                   100 * s["p_feasible"]["probability"].get<double>())
                          : estimate_line("feasible", s["p_feasible"]);
  out += "  " + std::to_string(s["samples"].get<std::int64_t>());
  if (s["kind"] == "map")
    out += format(" samples, %lld orientations at each of %lld nodes", s["map"]["orientations"].get<long long>(),
                  s["map"]["nodes"].get<long long>());
  else
    out += format(" samples of a path of %d instants", s["path"]["instants"].get<int>());
  if (s.contains("simulation"))
    out += format(", simulated with %s every %g ms", words(s["simulation"]["control"]).c_str(),
                  1000 * s["simulation"]["period"].get<double>());
  if (s["stopped_by"] == "half_width") out += ", stopped at the asked half width";
  return out + format(", seed %llu\n", s["seed"].get<unsigned long long>());
}

std::string study_outcomes(const Json& s) {
  std::string out = "\nOutcomes\n";
  for (const auto& [name, count] : s["outcomes"].items())
    if (count > 0 || name == "feasible") out += counted(words(name), count, s["samples"], kNameWidth);
  return out;
}

/// Leg that fails first, and its place on the path.
std::string first_failures(const Json& s) {
  const std::int64_t feasible = s["outcomes"]["feasible"], failed = s["samples"].get<std::int64_t>() - feasible;
  if (failed == 0) return "";
  std::string out = "\nWhat fails first\n";
  for (const Json& row : s["first_failure"]["legs"])
    for (const auto& [name, count] : row.items()) {
      if (name == "leg" || count == 0) continue;
      const std::string where = row["leg"].is_null() ? "" : "leg " + std::to_string(row["leg"].get<int>()) + ", ";
      out += counted(where + words(name), count, static_cast<double>(failed), kNameWidth);
    }
  const Json& time = s["first_failure"]["time"];
  if (time.size() < 2) return out;
  const Json& count = s["first_failure"]["count"];
  const auto most = std::max_element(count.begin(), count.end()) - count.begin();
  return out + format("  most often at %.3g s of %.3g s\n", time[static_cast<std::size_t>(most)].get<double>(),
                      time.back().get<double>());
}

std::string influences(const Json& s) {
  std::vector<Json> list(s["inputs"].begin(), s["inputs"].end());
  std::stable_sort(list.begin(), list.end(),
                   [](const Json& a, const Json& b) { return a["influence"] > b["influence"]; });
  std::string out;
  for (std::size_t k = 0; k < std::min(kMaxInputs, list.size()); ++k) {
    const double share = list[k]["influence"];
    if (!(share > list[k]["noise"].get<double>())) continue;
    out += format("  %-*s %5.1f %%  ", kNameWidth, list[k]["name"].get<std::string>().c_str(), 100 * share) +
           bar(share, 24) + "\n";
  }
  return out.empty() ? "" : "\nUncertain inputs that decide (share of the variance, each alone)\n" + out;
}

std::string quantile_line(const char* name, const Json& metric, double factor, const char* unit) {
  std::string out = format("%-28s", name);
  for (const char* p : {"0.05", "0.5", "0.95"}) {
    const Json& q = metric["quantiles"][p];
    out += q.is_null() ? format(" %10s", "-") : format(" %10.4g", factor * q.get<double>());
  }
  return out + " " + unit + "\n";
}

std::string metrics(const Json& s) {
  const Json& m = s["metrics"];
  constexpr double kDegrees = 57.29577951308232;
  std::string out = format("\n%-28s %10s %10s %10s\n", "", "5 %", "median", "95 %");
  if (!s["kinematic"].get<bool>()) out += quantile_line("Largest actuator force", m["peak_force"], 1, "N");
  out += quantile_line("Smallest stroke margin", m["stroke_margin"], 1000, "mm");
  out += quantile_line("  universal cone margin", m["universal_margin"], kDegrees, "deg");
  out += quantile_line("  spherical cone margin", m["spherical_margin"], kDegrees, "deg");
  out += quantile_line("  singular value, scaled", m["sigma_min"], 1, "");
  if (!s.contains("simulation")) return out;
  out += quantile_line("Largest distance from path", m["position_error"], 1000, "mm");
  out += quantile_line("  root mean square", m["rms_position_error"], 1000, "mm");
  out += quantile_line("  largest angle", m["angle_error"], kDegrees, "deg");
  return out + quantile_line("Saturated leg forces", m["saturated"], 100, "%");
}

std::string nodes(const Json& s) {
  if (!s.contains("nodes")) return "";
  const Json& n = s["nodes"];
  std::string out =
      format("\nNodes              %lld of %lld feasible in every orientation looked at, %lld in none\n",
             n["always"].get<long long>(), s["map"]["nodes"].get<long long>(), n["never"].get<long long>());
  if (!n["worst_force_where_always"].is_null())
    out += "                   there: " +
           (!s["kinematic"].get<bool>() ? format("force at most %.4g N, ", n["worst_force_where_always"].get<double>())
                                        : "") +
           format("singular value at least %.3g\n", n["sigma_min_where_always"].get<double>());
  return out;
}

/// Reachable volume, and how far each axis goes.
std::string travel(const Json& s) {
  if (!s.contains("travel")) return "";
  std::string out = "\nReachable volume\n";
  for (const auto& [key, text] :
       {std::pair{"every_orientation", "in every orientation"}, std::pair{"some_orientation", "in some orientation"}}) {
    const Json& r = s["reachable"][key];
    out += format("  %-22s %.4g m^3", text, r["volume"].get<double>());
    for (int c = 0; c < 3 && r["nodes"] > 0; ++c)
      out += format(",  %c %.3g to %.3g m", "xyz"[c], r["reach"][static_cast<std::size_t>(c)][0].get<double>(),
                    r["reach"][static_cast<std::size_t>(c)][1].get<double>());
    out += "\n";
  }
  out += format("\nTravel of one axis            %14s %14s %14s %14s %14s %14s\n", "x [mm]", "y [mm]", "z [mm]",
                "about x [deg]", "about y [deg]", "about z [deg]");
  for (const auto& [key, text] : {std::pair{"home", "others as at home"}, std::pair{"centered", "others centered"}}) {
    out += format("  %-28s", text);
    for (std::size_t k = 0; k < 6; ++k) {
      const Json& axis = s["travel"][key]["axes"][k];
      const double unit = k < 3 ? 1000 : 57.29577951308232;
      out += axis["backward"].is_null() ? format("%15s", "-")
                                        : format("%15s", format("%.4g..%.4g", -unit * axis["backward"].get<double>(),
                                                                unit * axis["forward"].get<double>())
                                                             .c_str());
    }
    out += "\n";
  }
  const Json &at = s["travel"]["centered"]["position"], &q = s["travel"]["centered"]["quaternion"];
  const double turn = 2 * std::acos(std::min(1.0, std::abs(q[0].get<double>())));
  return out + format("  centered: at %.4g, %.4g, %.4g m, turned by %.3g deg\n", at[0].get<double>(),
                      at[1].get<double>(), at[2].get<double>(), 57.29577951308232 * turn);
}

}  // namespace

std::string platform_study_answer_text(const Json& s, const Json& manifest, const Look& look) {
  std::string out = heading(s, "Platform " + s["platform"]["name"].get<std::string>());
  out += headline_lines(s) + study_outcomes(s) + first_failures(s) + influences(s) + metrics(s) + nodes(s) + travel(s) +
         "\n";
  out += speed_line(manifest);
  if (look.sample >= 0)
    out += "Highest force      garra replay " + io::shell_word(look.run) + " --sample " + std::to_string(look.sample) +
           "\n";
  return out;
}

}  // namespace garra::cli
