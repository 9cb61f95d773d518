#include "grasp/command/grasp_answer.hpp"

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/files/suggest.hpp"
#include "cli/answer_parts.hpp"

namespace garra::cli {

namespace {

using Json = nlohmann::ordered_json;

std::string grasp_outcomes(const Json& s) {
  std::string out = "Outcomes\n";
  for (const auto& [name, count] : s["outcomes"].items())
    // An outcome that no sample of the study can have is not said.
    if (const Json& row = s["outcome_words"][name]; row["decided"] || name == "unsolved")
      out += counted(row["label"], count, s["samples"]);
  const auto unsolved = s["outcomes"]["unsolved"].get<long long>();
  if (unsolved > 0)
    out +=
        "  The unsolved samples may be any of the others: they widen the interval. The samples of `failures/` name "
        "the\n"
        "  first of them; `garra replay --sample` says why one is unsolved.\n";
  return out;
}

/// Counts of samples whose "held" depends on fewer than all contacts, or is not unique.
std::string notes(const Json& s) {
  if (!s.contains("left_out")) return "";  // a run without these counts
  const auto share = [&](const Json& count) {
    return format("%lld (%.3f %%)", count.get<long long>(), 100 * count.get<double>() / s["samples"].get<double>());
  };
  std::string out;
  const Json &open = s["left_out"]["samples"], &few = s["left_out"]["fewer_than_three"], &several = s["non_unique"];
  if (open > 0) out += "    held without the contacts that open: " + share(open) + "\n";
  if (few > 0) out += "    held by fewer than three contacts, the others open: " + share(few) + "\n";
  if (several > 0) out += "    not unique, another certified solution moves otherwise: " + share(several) + "\n";
  return out;
}

/// The three probabilities, each with its meaning.
std::string probabilities(const Json& s) {
  // Contacts that slide: the question is whether they are maintained.
  if (s["held"].contains("label"))
    return estimate_line(s["held"]["label"], s["held"]) + "    " + s["held"]["meaning"].get<std::string>() + "\n";
  std::string out = estimate_line("held", s["held"]) +
                    format("    forces hold the contacts at rest; the command leaves up to %.3g %% of the load\n",
                           100 * s.value("held_imbalance", 0.5)) +
                    notes(s);
  for (const Json& object : s.value("objects", Json::array()))
    out += estimate_line(("held " + object["name"].get<std::string>()).c_str(), object["held"]);
  out +=
      estimate_line("no slip", s["no_slip"]) + "    every contact sticks, though hand and object may move together\n";
  out += estimate_line("resisted", s["resisted"]) +
         "    some forces within the friction cones and limits balance the wrench\n";
  return out;
}

std::string first_to_fail(const Json& s) {
  double total = 0;
  for (const auto& c : s["contacts"]) total += c["limiting_contact"].get<double>();
  if (total == 0) return "";
  std::string out = "\nFails first, of the samples whose outcome is slipping or separating\n";
  for (const auto& c : s["contacts"]) out += counted(c["name"], c["limiting_contact"], total);
  return out;
}

std::string unresisted(const Json& s) {
  std::string out;
  for (const Json& wrench : s["unresisted"])
    out += "  No contact force resists " + wrench.get<std::string>() + ": resisted force radius 0\n";
  return out;
}

std::string effort_lines(const Json& s, const Json& manifest) {
  const Json& worst = s["solver"]["worst_residual"];
  std::string out =
      "\nWorst residual     " + (worst.is_null() ? std::string("-") : format("%.1e", worst.get<double>()));
  const auto method = s["solver"]["method"].get<std::string>();
  const Json& mean = s["solver"]["mean_iterations"];
  out += format(" (tolerance %.0e), ", s["solver"]["tolerance"].get<double>());
  out += method == "auto" ? format("%.2f Newton steps on average", mean.get<double>())
         : mean.is_null() ? "method " + method + ", 40 iterations and more in some samples"
                          : "method " + method + format(", %.1f iterations on average", mean.get<double>());
  const Json beyond = s["solver"].value("beyond_newton", Json());  // older runs have none
  if (beyond.is_object() && beyond["samples"] > 0)
    out += format(", %.3g %% of them in fallback solvers for ", 100 * beyond["share_of_iterations"].get<double>()) +
           std::to_string(beyond["samples"].get<std::int64_t>()) + " samples";
  out += "\n";
  return out + speed_line(manifest);
}

}  // namespace

std::string after_number(const std::string& unit) { return unit.empty() || unit == "1" ? "" : " " + unit; }

void print_inputs(const std::vector<grasp::Input>& inputs, const Json& values) {
  for (const grasp::Input& input : inputs) {
    const Json& value = values[input.name];
    std::printf("  %-28s %12.6g%s\n", input.name.c_str(), value.is_null() ? NAN : value.get<double>(),
                after_number(input.unit).c_str());
  }
}

std::string answer_text(const Json& s, const Json& manifest, const Look& look) {
  std::string out = heading(s, "Grasp") + probabilities(s) + samples_line(s) + "\n";
  out += grasp_outcomes(s) + first_to_fail(s) + influences_on(s["held"].value("label", "held"), s) + quantiles(s) +
         unresisted(s) + effort_lines(s, manifest);
  // If all samples are held, the shown one is the nearest to failing, not a failure.
  const char* label = s["outcomes"]["held"] == s["samples"] ? "Closest sample" : "Closest failure";
  if (look.sample >= 0)
    out += format("%-18s ", label) + "garra replay " + io::shell_word(look.run) + " --sample " +
           std::to_string(look.sample) + "\n";
  return out;
}

}  // namespace garra::cli
