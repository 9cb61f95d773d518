// The answer of a grasp study in time for a terminal.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/files/suggest.hpp"
#include "cli/answer_parts.hpp"
#include "cli/progress.hpp"
#include "grasp/command/grasp_answer.hpp"

namespace garra::cli {

namespace {

using Json = nlohmann::ordered_json;

std::string headline_lines(const Json& s) {
  const std::size_t levels = s["levels"].size();
  const double duration = s["time"]["duration"];
  std::string out = levels == 1
                        ? estimate_line(format("held for %.4g s", duration), s["held"])
                        : format("  P(held for %.4g s) at %zu levels of friction: the table below\n", duration, levels);
  for (const Json& object : levels == 1 ? s["levels"][0].value("objects", Json::array()) : Json::array())
    out += estimate_line(("held " + object["name"].get<std::string>()).c_str(), object["held"]);
  out += format("  %lld samples", s["samples"].get<long long>());
  if (levels > 1) out += format(", %lld at each level", s["samples"].get<long long>() / static_cast<long long>(levels));
  if (s["stopped_by"] == "half_width") out += ", stopped at the asked half width";
  return out + format(", seed %llu\n", s["seed"].get<unsigned long long>());
}

/// Time at which half of the samples are left, interpolated linearly; nothing if more are left at the end.
std::optional<double> median_time(const Json& time, const Json& probability) {
  for (std::size_t k = 1; k < time.size(); ++k) {
    if (probability[k].is_null() || probability[k - 1].is_null()) return {};
    const double before = probability[k - 1], after = probability[k];
    if (after > 0.5) continue;
    const double t0 = time[k - 1], t1 = time[k];
    // A fall within one interval between instants; a flat piece at one half begins at its first instant.
    return before > after ? t0 + (t1 - t0) * (before - 0.5) / (before - after) : t0;
  }
  return {};
}

std::string shown_time(const Json& level, const char* what) {
  const Json& survival = level["survival"];
  const std::optional<double> t = median_time(survival["time"], survival[what]["probability"]);
  return t ? format("%.3g s", *t) : "-";
}

std::string format_value(const Json& x) { return x.is_null() ? "-" : format("%.4f", x.get<double>()); }

std::string levels(const Json& s) {
  std::string out = format("\n%-10s %9s  %-18s %11s %12s %12s\n", "Friction", "P(held)", "95 % interval", "P(no slip)",
                           "half slip by", "half lost by");
  for (const Json& level : s["levels"]) {
    const Json& held = level["held"];
    const std::string friction =
        level["friction"].is_null() ? "as given" : format("%.4g", level["friction"].get<double>());
    out += format("  %-8s %9s  %-18s %11s %12s %12s\n", friction.c_str(), format_value(held["probability"]).c_str(),
                  ("[" + format_value(held["low"]) + ", " + format_value(held["high"]) + "]").c_str(),
                  format_value(level["no_slip"]["probability"]).c_str(), shown_time(level, "slip").c_str(),
                  shown_time(level, "drop").c_str());
  }
  return out;
}

std::string motion_outcomes(const Json& s) {
  std::string out = "\nOutcomes\n";
  std::int64_t undecided = 0;
  for (const auto& [name, count] : s["outcomes"].items()) {
    if (count > 0 || name == "held") out += counted(words(name), count, s["samples"]);
    if (name == "unsolved" || name == "non_finite") undecided += count.get<std::int64_t>();
  }
  if (undecided > 0) out += "  What became of the undecided samples is not known: they widen the interval.\n";
  return out;
}

std::string first_to_slip(const Json& s) {
  double total = 0;
  for (const Json& c : s["contacts"]) total += c["slipped_first"].get<double>();
  if (total == 0) return "";
  std::string out = "\nSlips first, of the samples that slip\n";
  for (const Json& c : s["contacts"]) out += counted(c["name"], c["slipped_first"], total);
  return out;
}

std::string quantile_line(const char* name, const Json& distribution, double factor, const char* unit) {
  if (distribution.is_null()) return "";
  std::string out = format("  %-28s", name);
  for (const char* p : {"0.05", "0.5", "0.95"}) {
    const Json& q = distribution["quantiles"][p];
    out += q.is_null() ? format(" %10s", "-") : format(" %10.3g", factor * q.get<double>());
  }
  return out + " " + unit + "\n";
}

/// Metrics of the only level; a mixture of several levels would be meaningless.
std::string metrics(const Json& s) {
  if (s["levels"].size() != 1) return "";
  const Json& level = s["levels"][0];
  return format("\n%-30s %10s %10s %10s\n", "Largest in a sample", "5 %", "median", "95 %") +
         quantile_line("displacement", level["peak_drift"], 1000, "mm") +
         quantile_line("path of a contact", level["slip_path"], 1000, "mm") +
         quantile_line("normal force", level["peak_force"], 1, "N") +
         quantile_line("joint torque over its limit", level["peak_torque"], 1, "");
}

std::string format_largest(const Json& x, const char* unit) {
  return x.is_null() ? std::string("-") : format("%.1e ", x.get<double>()) + unit;
}

/// Work of the least median peak force over the slip distance [J]; NaN if unknown, or without force.
double slip_work(const Json& s) {
  double least = NAN;
  for (const Json& level : s["levels"]) {
    if (level["peak_force"].is_null() || level["peak_force"]["quantiles"]["0.5"].is_null()) continue;
    const double work = level["peak_force"]["quantiles"]["0.5"].get<double>() * s["time"]["slip"].get<double>();
    least = std::isnan(least) ? work : std::min(least, work);
  }
  return least > 0 ? least : NAN;
}

/// Whether errors of energy and gap matter, by the criterion of the report.
std::string checked(const Json& s) {
  const Json& a = s["audit"];
  const double slip = s["time"]["slip"], most_gap = 0.01 * slip, most_energy = slip_work(s);
  if (a["energy_balance"].is_null() || a["worst_gap"].is_null() || std::isnan(most_energy) || slip <= 0) return "";
  const double energy = a["energy_balance"], gap = a["worst_gap"];
  const std::string limits = format("%.1e J (peak force x slip) and %.1e m (slip / 100)", most_energy, most_gap);
  if (energy <= most_energy && gap <= most_gap)
    return "                   small: energy and gap are below " + limits + "\n";
  return std::string("                   TOO LARGE: ") + (energy > most_energy ? "energy" : "") +
         (energy > most_energy && gap > most_gap ? " and " : "") + (gap > most_gap ? "gap" : "") + ", against " +
         limits + "; halve simulation.step and compare P(held)\n";
}

std::string audit(const Json& s) {
  const Json& a = s["audit"];
  std::string out = "\nLargest errors     energy " + format_largest(a["energy_balance"], "J") + ", momentum " +
                    format_largest(a["momentum_balance"], "N s") + ", gap " + format_largest(a["worst_gap"], "m") +
                    "\n" + checked(s);
  out += "                   residual " + format_largest(a["worst_residual"], "") +
         format("(tolerance %.0e), cone ", s["solver"]["tolerance"].get<double>()) +
         format_largest(a["worst_cone"], "N") + "\n";
  if (!a["unstable_share"].is_null())
    out += format("Unstable steps     %.3g %% of all, at worst %.3g times the bound\n",
                  100 * a["unstable_share"].get<double>(),
                  a["worst_ratio"].is_null() ? 0 : a["worst_ratio"].get<double>());
  return out;
}

std::string effort_lines(const Json& s, const Json& manifest) {
  const double steps = s["solver"]["steps"], samples = s["samples"], rate = manifest["samples_per_second"];
  std::string out = "Steps              " + short_number(steps);
  if (!s["solver"]["mean_iterations"].is_null())
    out += format(", %.2f iterations each", s["solver"]["mean_iterations"].get<double>());
  if (rate > 0 && samples > 0) out += ", " + short_number(rate * steps / samples) + " a second";
  return out + "\n" + speed_line(manifest);
}

}  // namespace

std::string grasp_time_answer_text(const Json& s, const Json& manifest, const Look& look) {
  std::string out = heading(s, "Grasp in time") + headline_lines(s) + levels(s) + motion_outcomes(s);
  out += first_to_slip(s) + influences_on("held", s) + metrics(s) + audit(s) + effort_lines(s, manifest);
  if (look.sample >= 0)
    out += "Worst sample       garra replay " + io::shell_word(look.run) + " --sample " + std::to_string(look.sample) +
           "\n";
  return out;
}

}  // namespace garra::cli
