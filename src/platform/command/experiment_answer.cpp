// The answer of an experiment on a platform for a terminal.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <vector>

#include "cli/answer_parts.hpp"
#include "platform/command/platform_answer.hpp"

namespace garra::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr double kDegrees = 57.29577951308232;

/// "4", or "4 to 5" where the segments differ.
std::string format_range(const std::vector<int>& iterations) {
  const auto [least, most] = std::minmax_element(iterations.begin(), iterations.end());
  return *least == *most ? std::to_string(*least) : std::to_string(*least) + " to " + std::to_string(*most);
}

/// The largest of those that exist.
double largest_entry(const Json& values) {
  double most = 0;
  for (const Json& x : values)
    if (!x.is_null()) most = std::max(x.get<double>(), most);
  return most;
}

double number_or_nan(const Json& x) { return x.is_null() ? NAN : x.get<double>(); }

double mean(const Json& values) {
  const auto list = values.get<std::vector<double>>();
  return std::accumulate(list.begin(), list.end(), 0.0) / static_cast<double>(list.size());
}

/// As the paper's figures 3 and 5, whose 91 equations a general solver eliminates.
std::string flops_line(const std::string& what, double dense, double full, double minimal) {
  return format("  %-22s %12.4g %12.4g %12.4g   %.0f : %.1f : 1\n", what.c_str(), dense, full, minimal, dense / minimal,
                full / minimal);
}
const char* const kFlopsHead = "  %-22s     91 dense   leg by leg      minimal   ratio\n";

std::string path_name(const Json& path) {
  const int n = path["segments"];
  return format("%4d %s of the %s", n, n == 1 ? "part " : "parts", path["parts"].get<std::string>().c_str());
}

std::string paths(const Json& s) {
  std::string out = "\nNewton steps per segment, and the two forms' poses apart [m, 1]\n";
  out += format("  %-22s    91 coord.      minimal        apart\n", "");
  for (const Json& path : s["paths"])
    out += format("  %-22s %12s %12s %12.2g%s\n", path_name(path).c_str(),
                  format_range(path["iterations_full"]).c_str(), format_range(path["iterations_minimal"]).c_str(),
                  largest_entry(path["difference"]), path["solved"] == path["segments"] ? "" : "   not all solved");
  out += "\nFlops per segment\n" + format(kFlopsHead, "");
  for (const Json& path : s["paths"]) {
    const Json& flops = path["flops"];
    out += flops_line(path_name(path), mean(flops["dense"]), mean(flops["full"]), mean(flops["minimal"]));
  }
  const Json& margin = s["smallest"]["stroke_margin"];
  if (!margin.is_null() && margin < -1e-9)
    out += format("\nBeyond the stroke of a leg by up to %.4g mm: an experiment keeps no limits\n",
                  -1000 * margin.get<double>());
  return out;
}

std::string motion_line(const char* name, const Json& form) {
  return format("  %-22s %s, %lld steps, %lld corrections, drift %.2g, energy off by %.2g J\n", name,
                words(form["status"]).c_str(), form["steps"].get<long long>(), form["corrections"].get<long long>(),
                number_or_nan(form["worst_drift"]), number_or_nan(form["worst_balance"]));
}

std::string motion(const Json& s) {
  std::string out =
      "\nBoth forms\n" + motion_line("91 coord., hybrid", s["full"]) + motion_line("minimal, rk4", s["minimal"]);
  out +=
      format("  %-22s %.2g at most, over position [m] and Euler parameters\n", "apart", largest_entry(s["difference"]));
  out += "\nOperations of the whole motion, corrections included\n" + format(kFlopsHead, "");
  for (const Json& of : s["steps"]) {
    const Json& f = of["flops"];
    out += flops_line(format("steps of %g ms", 1000 * of["step"].get<double>()), f["dense"].back(), f["full"].back(),
                      f["minimal"].back());
  }
  out += format("\nError of the last pose against order 8 [m, 1]\n  %-22s %12s %12s %12s %12s\n", "", "corrections",
                "corrected", "uncorrected", "six, rk4");
  for (const Json& of : s["steps"]) {
    const Json& better = of["corrections_improve"];
    out += format("  steps of %-13s %12lld %12.2g %12.2g %12.2g   %s\n",
                  format("%g ms", 1000 * of["step"].get<double>()).c_str(), of["corrections"].get<long long>(),
                  number_or_nan(of["error_full"]), number_or_nan(of["error_uncorrected"]),
                  number_or_nan(of["error_minimal"]),
                  better.is_null()     ? "nothing to correct"
                  : better.get<bool>() ? "corrections improve the motion"
                                       : "corrections do not improve the motion");
  }
  return out;
}

/// The paper's claim of a single solution, and the assembly modes found.
std::string modes(const Json& s) {
  const Json& claim = s["claim"];
  const auto word = [&](const char* key) { return claim[key].get<std::string>(); };
  std::string out = "\n\"" + word("statement") + "\": " + word("result") +
                    " on this platform; within its joints' cones " + word("result_within") + "\n  pose       ";
  const auto row = [&](const char* key) {
    for (const Json& of : s["modes"]) out += format(" %4lld", of[key].get<long long>());
  };
  row("segment");
  out += "\n  solutions  ";
  row("modes");
  out += "\n  in cones   ";
  row("within");
  return out + "\n  Newton's iteration follows one of them, since every pose is the guess of the next\n";
}

std::string subject(const Json& s) {
  const std::string name = s["platform"]["name"], kind = s["kind"];
  if (kind == "free_motion")
    return format("  %s under constant forces for %g s, steps of %g s\n", name.c_str(), s["duration"].get<double>(),
                  s["step"].get<double>());
  if (kind == "stroke")
    return format("  %s, all legs growing from their shortest by %g mm\n", name.c_str(),
                  1000 * s["travel"].get<double>());
  const Json& t = s["translation"];
  return format("  %s moved by (%g, %g, %g) mm and turned by %g degrees\n", name.c_str(), 1000 * t[0].get<double>(),
                1000 * t[1].get<double>(), 1000 * t[2].get<double>(), kDegrees * s["rotation"]["angle"].get<double>());
}

}  // namespace

std::string platform_experiment_answer_text(const Json& s) {
  std::string out = heading(s, "Experiment on a platform") + subject(s);
  const bool is_motion = s["kind"] == "free_motion";
  out += format("  %lld of %lld %s solved in both forms\n", s["solved"].get<long long>(), s["samples"].get<long long>(),
                is_motion ? "instants" : "poses");
  return out + (is_motion ? motion(s) : paths(s) + modes(s)) + "\n";
}

}  // namespace garra::cli
