// The answer of a chain study for a terminal.
#include "chain/command/chain_answer.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "base/files/suggest.hpp"
#include "cli/answer_parts.hpp"

namespace garra::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMaxRows = 20;

std::string pad_text(std::string text, std::size_t width) {
  // Bytes that continue a character of UTF-8 take no room.
  const auto shown =
      static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
  return text + std::string(width > shown ? width - shown : 0, ' ');
}

/// "43.1 ms", "1.2 s"; what has no number is beyond what was measured.
std::string time_text(const Json& seconds) {
  if (seconds.is_null()) return "-";
  const double s = seconds;
  return s < 1 ? format("%.3g ms", 1000 * s) : format("%.3g s", s);
}

std::string number_text(const Json& x) { return x.is_null() ? "-" : format("%.3g", x.get<double>()); }

std::string with_unit(double value, const std::string& unit) {
  return format("%.4g", value) + (unit.empty() ? "" : " " + unit);
}

/// "vary.damping" -> "damping"
std::string short_key(const std::string& key) { return key.substr(key.find('.') + 1); }

std::string values_text(const Json& s, const Json& design) {
  std::string out;
  for (std::size_t k = 0; k < s["sweep"].size(); ++k)
    out += (k == 0 ? "" : ", ") + short_key(s["sweep"][k]["key"]) + " = " +
           with_unit(design["values"][k], s["sweep"][k]["unit"]);
  return out;
}

std::string interval_text(const Json& design) {
  return format("P = %.4f, 95 %% interval [%.4f, %.4f]", design["probability"].get<double>(),
                design["low"].get<double>(), design["high"].get<double>());
}

/// One sentence, with the torques that it costs.
std::string headline_lines(const Json& s) {
  if (s["settle"].is_null())
    return "  Motions until " + time_text(s["method"]["duration"]) + ": " +
           std::to_string(s["outcomes"]["completed"].get<std::int64_t>()) + " of " +
           std::to_string(s["samples"].get<std::int64_t>()) + " reached the end.\n";
  const std::string asked = "settles within " + time_text(s["settle"]["within"]);
  if (s["best"].is_null()) {
    const std::string whom = s["designs"].size() > 1 ? "No design " : "It never ";
    return "  " + whom + asked + ": not one of the " + std::to_string(s["samples"].get<std::int64_t>()) +
           " samples did.\n";
  }
  const Json& best = s["designs"][s["best"]["design"].get<std::size_t>()];
  const std::string values = values_text(s, best);
  std::string out = "  " + (values.empty() ? "It " : "With " + values + " it ") + asked + ":\n";
  out += "  " + interval_text(best) + "; median settling time " + time_text(best["settling_time"]["quantiles"]["0.5"]) +
         "\n\n";
  out += format("%-22s %10s %10s %10s\n", "Peak torque it needs", "median", "95 %", "99 %");
  for (std::size_t j = 0; j < best["peak_torque"].size(); ++j) {
    const Json& q = best["peak_torque"][j]["quantiles"];
    out += "  " + pad_text(s["robot"]["joint_names"][j], 20) +
           format(" %10s %10s %10s %s\n", number_text(q["0.5"]).c_str(), number_text(q["0.95"]).c_str(),
                  number_text(q["0.99"]).c_str(), s["robot"]["torque_units"][j].get<std::string>().c_str());
  }
  return out;
}

/// The rows shown: all, or evenly many and the best.
std::vector<std::size_t> shown_designs(const Json& s) {
  const std::size_t n = s["designs"].size();
  std::vector<std::size_t> list;
  for (std::size_t k = 0; k < std::min(n, kMaxRows); ++k)
    // First and last included.
    list.push_back(n <= kMaxRows ? k : k * (n - 1) / (kMaxRows - 1));
  if (s["best"].is_null()) return list;
  const auto best = s["best"]["design"].get<std::size_t>();
  if (std::find(list.begin(), list.end(), best) == list.end()) list.push_back(best);
  std::sort(list.begin(), list.end());
  return list;
}

std::string swept_heads(const Json& s) {
  std::string head = "\n   ";
  for (const auto& sweep : s["sweep"]) head += format("%11s", short_key(sweep["key"]).substr(0, 10).c_str());
  return head;
}

/// Medians of the largest of the joints' peaks.
std::string largest_of(const Json& peaks) {
  double largest = -1;
  for (const auto& joint : peaks)
    if (const Json& m = joint["quantiles"]["0.5"]; !m.is_null()) largest = std::max(largest, m.get<double>());
  return largest < 0 ? "-" : format("%.3g", largest);
}

/// Energies and peaks of designs of which nothing is asked.
std::string motion_table(const Json& s) {
  std::string out =
      swept_heads(s) + format("  %11s %11s %11s %9s %9s\n", "dissipated", "work", "balance", "speed", "torque");
  for (const std::size_t d : shown_designs(s)) {
    const Json& design = s["designs"][d];
    out += "   ";
    for (const auto& value : design["values"]) out += format("%11.4g", value.get<double>());
    const Json& balance = design["worst_balance"];
    out += format("  %11s %11s %11s %9s %9s\n", number_text(design["dissipated"]["mean"]).c_str(),
                  number_text(design["work"]["mean"]).c_str(),
                  balance.is_null() ? "-" : format("%.1e", balance.get<double>()).c_str(),
                  largest_of(design["peak_speed"]).c_str(), largest_of(design["peak_torque"]).c_str());
  }
  return out + "   means of the energies and the largest balance [J]; medians of the joints' largest peaks\n";
}

std::string table(const Json& s) {
  if (s["settle"].is_null()) return motion_table(s);
  if (s["designs"].size() < 2) return "";
  std::string out =
      swept_heads(s) + format("  %-7s %-12s %9s %9s %9s %9s\n", "P", "", "5 %", "median", "95 %", "torque");
  for (const std::size_t d : shown_designs(s)) {
    const Json& design = s["designs"][d];
    const bool best = !s["best"].is_null() && s["best"]["design"] == d;
    out += best ? " > " : "   ";
    for (const auto& value : design["values"]) out += format("%11.4g", value.get<double>());
    const Json& q = design["settling_time"]["quantiles"];
    const Json& p = design["probability"];
    out += "  " + pad_text(p.is_null() ? "-" : format("%.4f", p.get<double>()), 7) + " " +
           pad_text(p.is_null() ? "" : bar(p, 12), 12) +
           format(" %9s %9s %9s %9s\n", time_text(q["0.05"]).c_str(), time_text(q["0.5"]).c_str(),
                  time_text(q["0.95"]).c_str(), largest_of(design["peak_torque"]).c_str());
  }
  out +=
      "   P: settled in time; quantiles of the settling time (-: not by the end); median of the largest peak torque\n";
  if (s["designs"].size() > kMaxRows)
    out += format("   %zu of %zu designs; summary.json has all\n", shown_designs(s).size(), s["designs"].size());
  return out;
}

std::string design_outcomes(const Json& s) {
  std::string out = "\nOutcomes           ";
  bool first = true;
  for (const auto& [name, count] : s["outcomes"].items()) {
    if (count == 0) continue;
    out += (first ? "" : ", ") + words(name) + " " + std::to_string(count.get<std::int64_t>());
    first = false;
  }
  out += "\n";
  const auto unsolved = s["outcomes"]["non_finite"].get<std::int64_t>() +
                        s["outcomes"]["step_limit"].get<std::int64_t>() +
                        s["outcomes"]["invalid_input"].get<std::int64_t>();
  if (unsolved > 0) out += "                   Unsolved samples may be any of the others: they widen the intervals.\n";
  return out;
}

std::string sampled(const Json& s) {
  const std::size_t designs = s["designs"].size();
  std::string out = format("  %lld samples", s["samples"].get<long long>());
  if (designs > 1) out += format(" of %zu designs", designs);
  if (s["stopped_by"] == "half_width") out += ", stopped at the asked half width";
  return out + format(", seed %llu\n\n", s["seed"].get<unsigned long long>());
}

std::string effort_lines(const Json& s, const Json& manifest) {
  double worst = 0;
  for (const auto& design : s["designs"])
    if (!design["worst_balance"].is_null()) worst = std::max(worst, design["worst_balance"].get<double>());
  const bool swept =
      std::any_of(s["sweep"].begin(), s["sweep"].end(), [](const Json& of) { return of["key"] == "simulation.step"; });
  const std::string step = s["method"]["step"].is_null() || swept ? "" : ", step " + time_text(s["method"]["step"]);
  return format("Energy balance     off by at most %.1e J (%s%s)\n", worst,
                s["method"]["integrator"].get<std::string>().c_str(), step.c_str()) +
         speed_line(manifest);
}

/// The study's note, broken between words.
std::string note_lines(const std::string& note) {
  std::string out, line = "Note              ";
  std::istringstream words(note);
  for (std::string word; words >> word; line += " " + word)
    if (line.size() + 1 + word.size() > 110) {
      out += line + "\n";
      line = std::string(18, ' ');
    }
  return note.empty() ? "" : out + line + "\n";
}

}  // namespace

std::string chain_answer_text(const Json& s, const Json& manifest, const Look& look) {
  std::string out = heading(s, s["robot"]["name"].get<std::string>()) + sampled(s) + headline_lines(s) + table(s) +
                    design_outcomes(s);
  out += note_lines(s.value("note", ""));
  out += effort_lines(s, manifest);
  if (look.sample >= 0)
    out += "Slowest sample     garra replay " + io::shell_word(look.run) + " --sample " + std::to_string(look.sample) +
           "\n";
  return out;
}

}  // namespace garra::cli
