#include "grasp/command/analysis_answer.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/answer_parts.hpp"

namespace garra::cli {
namespace {

using grasp::Analysis;
using Json = nlohmann::ordered_json;

constexpr std::array kBefore = {"rolling", "sliding", "open"}, kAfter = {"stick", "slip", "break"};

using Modes = std::array<std::int64_t, 3>;
Modes count(const std::vector<int>& modes) {
  Modes n{};
  for (const int m : modes)
    if (m >= 0) ++n[static_cast<std::size_t>(m)];
  return n;
}

const char* name(const std::array<const char*, 3>& names, int mode) {
  return mode < 0 ? "-" : names[static_cast<std::size_t>(mode)];
}

std::string answer_line(const char* what, const std::string& text) { return format("%-14s ", what) + text + "\n"; }

/// "1.234 -0.5 3", noise as 0.
std::string format_numbers(const double* values, std::size_t n, const char* pattern) {
  std::string out;
  // Numbers below 1e-9 are rounding.
  for (std::size_t k = 0; k < n; ++k) out += format(pattern, std::abs(values[k]) < 1e-9 ? 0.0 : values[k]);
  return out;
}

std::string contact_table(const Analysis& a) {
  std::string out =
      format("\n%-2s %-8s %27s %30s  %s\n", "", "before", "force n, t, o [N]", "acceleration n, t, o [m/s^2]", "after");
  for (std::size_t j = 0; j < static_cast<std::size_t>(a.contacts); ++j)
    out += format("%-2zu %-8s", j, name(kBefore, a.mode_before[j])) + format_numbers(&a.force[3 * j], 3, " %9.4f") +
           " " + format_numbers(&a.relative_acceleration[3 * j], 3, " %9.4f") +
           format("  %s", name(kAfter, a.mode_after[j])) +
           (a.moment.empty() ? "\n" : format("  moment %.4g N m\n", a.moment[j]));
  return out + "\n";
}

double largest_value(const std::vector<double>& v) {
  double m = 0;
  for (const double x : v) m = std::max(m, std::abs(x));
  return m;
}

std::string one_instant(const AnalysisAnswer& r) {
  const Analysis& a = r.analysis;
  std::string out = contact_table(a);
  for (int k = 0; k < a.objects; ++k) {
    const double* of_it = a.acceleration.data() + 6 * k;
    const std::string name = a.objects == 1 ? "object" : "object " + std::to_string(k);
    out += answer_line(name.c_str(), format_numbers(of_it, 3, " %.6g") + " m/s^2," +
                                         format_numbers(of_it + 3, 3, " %.6g") + " rad/s^2");
  }
  for (std::size_t j = 0; j < a.tau.size(); ++j) {
    const std::string finger = "finger " + std::to_string(j);
    out += answer_line(finger.c_str(), "torques" + format_numbers(a.tau[j].data(), a.tau[j].size(), " %.5g"));
    // A table of zeros is uninformative: at rest the line is left out.
    if (largest_value(a.qdd[j]) > 1e-9)
      out += answer_line("", "accelerations" + format_numbers(a.qdd[j].data(), a.qdd[j].size(), " %.5g"));
  }
  if (r.limited) out += answer_line("", "torques are those of the command; torque_limit cuts off what is above it");
  if (largest_value(a.relative_velocity) > 1e-9)
    for (std::size_t j = 0; j < a.gap.size(); ++j)
      out += answer_line(("contact " + std::to_string(j)).c_str(),
                         "velocity" + format_numbers(&a.relative_velocity[3 * j], 3, " %.6g") + " m/s, gap" +
                             format_numbers(&a.gap[j], 1, " %.4g") + " m");
  else if (largest_value(a.gap) > 1e-9)
    out += answer_line("gaps", format_numbers(a.gap.data(), a.gap.size(), " %.4g") + " m");
  return out + answer_line("residual", format("%.2g after %g steps", a.residual[0], a.iterations[0]));
}

std::string many_instants(const AnalysisAnswer& r) {
  const Modes before = count(r.analysis.mode_before), after = count(r.analysis.mode_after);
  std::string out, text;
  for (std::size_t k = 0; k < 3; ++k)
    text += format("%s%lld %s", k > 0 ? ", " : "", static_cast<long long>(before[k]), kBefore[k]);
  out += answer_line("contacts", text);
  text.clear();
  for (std::size_t k = 0; k < 3; ++k)
    text += format("%s%lld %s", k > 0 ? ", " : "", static_cast<long long>(after[k]), kAfter[k]);
  out += answer_line("afterwards", text);
  const auto n = static_cast<double>(r.analysis.status.size());
  if (r.seconds > 0 && n > 0)
    out += answer_line("throughput", format("%.4g instants/s (%.3g s)", n / r.seconds, r.seconds));
  return out + answer_line("device", r.device);
}

/// Counts of each status, all of them named.
Json statuses(const Analysis& a) {
  Json out = Json::object();
  for (int i = 0; i < kStatusCount; ++i)
    out[to_string(static_cast<Status>(i))] = std::count(a.status.begin(), a.status.end(), static_cast<Status>(i));
  return out;
}

Json named(const std::array<const char*, 3>& names, const Modes& n) {
  Json out = Json::object();
  for (std::size_t k = 0; k < 3; ++k) out[names[k]] = n[k];
  return out;
}

Json names_of(const std::array<const char*, 3>& names, const std::vector<int>& modes) {
  Json out = Json::array();
  // -1, unknown, is null for programs.
  for (const int m : modes) out.push_back(m < 0 ? Json(nullptr) : Json(name(names, m)));
  return out;
}

Json result(const Analysis& a) {
  return {{"residual", a.residual[0]},
          {"iterations", a.iterations[0]},
          {"mode_before", names_of(kBefore, a.mode_before)},
          {"mode_after", names_of(kAfter, a.mode_after)},
          {"gap", a.gap},
          {"normal", a.normal},
          {"relative_velocity", a.relative_velocity},
          {"force", a.force},
          {"moment", a.moment.empty() ? Json(nullptr) : Json(a.moment)},
          {"relative_acceleration", a.relative_acceleration},
          {"acceleration", a.acceleration},
          {"q", a.q},
          {"qd", a.qd},
          {"qdd", a.qdd},
          {"tau", a.tau}};
}

}  // namespace

std::int64_t count_solved(const Analysis& a) {
  return std::count(a.status.begin(), a.status.end(), Status::kConverged);
}

std::string analysis_text(const AnalysisAnswer& r) {
  const Analysis& a = r.analysis;
  const std::int64_t n = std::ssize(a.status);
  std::string out = answer_line("grasp", r.title);
  if (n != 1) out += answer_line("instants", std::to_string(n));
  const Json status = statuses(a);
  for (const auto& [what, of_it] : status.items())
    if (of_it > 0)
      out +=
          // One line if all are alike.
          of_it == n ? answer_line("status", (n == 1 ? "" : "all ") + words(what))
                     : answer_line(words(what).c_str(), of_it.dump());
  out += n == 1 ? one_instant(r) : many_instants(r);
  if (n != 1 || !r.output.empty())
    out += answer_line("results", r.output.empty() ? "not written (-o FILE keeps them)" : r.output);
  return out;
}

std::string analysis_json(const AnalysisAnswer& r) {
  const Analysis& a = r.analysis;
  const auto n = static_cast<double>(a.status.size());
  Json out = {{"command", "analyze"},
              {"grasp", r.title},
              {"contacts", a.contacts},
              {"instants", a.status.size()},
              {"solved", count_solved(a)},
              {"status", statuses(a)},
              {"before", named(kBefore, count(a.mode_before))},
              {"after", named(kAfter, count(a.mode_after))}};
  if (a.status.size() == 1) out["result"] = result(a);
  out["seconds"] = r.seconds;
  out["instants_per_second"] = r.seconds > 0 && n > 0 ? Json(n / r.seconds) : Json(nullptr);
  out["device"] = r.device;
  out["output"] = r.output.empty() ? Json(nullptr) : Json(r.output);
  // `replace`: a title may hold bytes that are no UTF-8.
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace garra::cli
