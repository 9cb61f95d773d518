#include "contact/command/solution_summary.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>

#include "garra/solvers/friction_newton.hpp"

namespace garra::cli {
namespace {

using Json = nlohmann::json;

/// Names of ContactSummary::effort: in files and JSON, and as the papers' tables print them.
struct EffortName {
  const char* key;
  const char* printed;
};
constexpr EffortName kEffortNames[] = {
    {"iterations", "iterations"}, {"evaluations", "FunEval"}, {"inner", "QuacanIt"}, {"products", "MatxVec"}};

struct Spread {
  double median, mean;
  std::int32_t max;
};
/// Spread of the values; nothing if nothing was counted.
std::optional<Spread> compute_spread(std::vector<std::int32_t> values) {
  if (values.empty()) return std::nullopt;
  const auto upper = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), upper, values.end());
  // The mean of the two middle values of an even number of them; nth_element has left the smaller half in front.
  const double low = values.size() % 2 == 1 ? *upper : *std::max_element(values.begin(), upper);
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  return Spread{(low + *upper) / 2, sum / static_cast<double>(values.size()),
                *std::max_element(values.begin(), values.end())};
}

// "Stick test": Newton's first guess was already the answer, so no step was taken.
std::string restart_name(std::int32_t restart) {
  if (restart == ContactSummary::kStickTest) return "stick test";
  return restart == 0 ? "Newton" : "restart " + std::to_string(restart);
}

/// Absent, rather than a made-up 0 or infinity, without problems, time or solution.
std::optional<double> ratio(double numerator, double denominator) {
  return denominator > 0 ? std::optional(numerator / denominator) : std::nullopt;
}
std::optional<double> count_share(std::int64_t part, std::int64_t whole) {
  return ratio(static_cast<double>(part), static_cast<double>(whole));
}
Json or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json effort_json(const ContactSummary& s) {
  Json out = Json::object();
  for (std::size_t i = 0; i < s.effort.size(); ++i) {
    const auto spread = compute_spread(s.effort[i]);
    // Programs rely on the iterations' entry even if no method counts; the others are absent.
    if (spread)
      out[kEffortNames[i].key] = {{"median", spread->median}, {"mean", spread->mean}, {"max", spread->max}};
    else if (i == 0)
      out[kEffortNames[i].key] = {{"median", nullptr}, {"mean", nullptr}, {"max", 0}};
  }
  return out;
}

Json restarts_to_json(const ContactSummary& s) {
  Json out = Json::array();
  for (const auto& [restart, count] : s.restart_counts)
    out.push_back(
        {{"stage", restart_name(restart)}, {"problems", count}, {"share", or_null(count_share(count, s.problems))}});
  return out;
}

Json solution_counts_json(const ContactSummary& s) {
  Json out = Json::object();
  for (const auto& [number, problems] : s.by_solution_count)
    out[number == ContactSummary::kUndecided ? "undecided" : std::to_string(number)] = problems;
  return out;
}

Json unreadable_json(const ContactSummary& s) {
  Json out = Json::array();
  for (const Unreadable& u : s.unreadable) out.push_back({{"file", u.file}, {"error", u.error.what()}});
  return out;
}

Json status_json(const ContactSummary& s) {
  Json out = Json::object();
  for (int i = 0; i < kStatusCount; ++i)
    out[to_string(static_cast<Status>(i))] = s.by_status[static_cast<std::size_t>(i)];
  return out;
}

/// Rounded down, so that 100 % means all of them.
double percent(std::int64_t part, std::int64_t whole) {
  return std::floor(1e6 * static_cast<double>(part) / static_cast<double>(whole)) / 1e4;
}

void print_line(const std::string& name, const std::string& text) {
  std::printf("%-15s %s\n", name.c_str(), text.c_str());
}
void print_count(const std::string& name, std::int64_t count, std::int64_t whole) {
  std::printf("  %-13s %lld (%.6g %%)\n", name.c_str(), static_cast<long long>(count), percent(count, whole));
}

std::string describe_outputs(const ContactSummary& s) {
  if (s.output.empty()) return "not written (-o FILE keeps them)";
  if (s.outputs.size() == 1) return s.outputs[0];
  return std::to_string(s.outputs.size()) + " files in " + s.output;
}

void print_problems(const ContactSummary& s) {
  print_line("problems", std::to_string(s.problems) + " in " + std::to_string(s.inputs - s.unreadable.size()) +
                             (s.inputs == 1 ? " file" : " files"));
  if (s.problems == 0) return;
  print_line("contacts", std::to_string(s.rolling) + " may roll, " + std::to_string(s.sliding) + " slide");
}

/// Contacts that stick, slip, open, in this order, and of unsolved problems.
constexpr contact::ContactState kStates[] = {contact::ContactState::kStick, contact::ContactState::kSlip,
                                             contact::ContactState::kOpen, contact::ContactState::kUnknown};

Json states_json(const ContactSummary& s) {
  Json out = Json::object();
  for (std::size_t i = 0; i < s.by_state.size(); ++i) out[contact::to_string(kStates[i])] = s.by_state[i];
  return out;
}

std::string describe_states(const ContactSummary& s) {
  std::string text;
  for (std::size_t i = 0; i < s.by_state.size(); ++i)
    // Contacts of unsolved problems are listed only if there are any.
    if (i + 1 < s.by_state.size() || s.by_state[i] > 0)
      text += (text.empty() ? "" : ", ") + std::to_string(s.by_state[i]) + " " + contact::to_string(kStates[i]);
  return text;
}

void print_solved(const ContactSummary& s) {
  if (s.problems == 0) return;
  std::printf("%-15s %lld (%.6g %%)\n", "solved", static_cast<long long>(s.solved()), percent(s.solved(), s.problems));
  for (int i = 0; i < kStatusCount; ++i) {
    const std::int64_t count = s.by_status[static_cast<std::size_t>(i)];
    if (count > 0) std::printf("  %-15s %lld\n", to_string(static_cast<Status>(i)), static_cast<long long>(count));
  }
  if (s.worst_ill_conditioned > 0)
    std::printf("  %-15s worst residual %.2e, forces are given\n", "ill_conditioned", s.worst_ill_conditioned);
  if (!s.restart_counts.empty()) print_line("restarts", "solved by");
  for (const auto& [restart, count] : s.restart_counts) print_count(restart_name(restart), count, s.problems);
  if (!s.by_solution_count.empty()) print_line("solutions exist", "by enumeration");
  for (const auto& [number, count] : s.by_solution_count)
    print_count(number == ContactSummary::kUndecided ? "undecided" : std::to_string(number), count, s.problems);
  if (s.solved() == 0) return;
  print_line("contact states", describe_states(s));
  std::printf("%-15s %.2e of the solved (tolerance %.2g), %.2e of each contact's own load\n", "worst residual",
              s.worst_residual, s.options.tolerance, s.worst_contact_residual);
}

void print_effort(const ContactSummary& s) {
  for (std::size_t i = 0; i < s.effort.size(); ++i) {
    const auto spread = compute_spread(s.effort[i]);
    if (!spread) continue;
    const bool box_it = i == 0 && contact::pair_of(s.options).has_value();
    std::printf("%-15s median %g, mean %.2f, max %d\n", box_it ? "BoxIt" : kEffortNames[i].printed, spread->median,
                spread->mean, spread->max);
  }
  if (s.beyond_newton > 0)
    std::printf("%-15s %lld problems, %.3g %% of all iterations\n", "beyond Newton",
                static_cast<long long>(s.beyond_newton), percent(s.iterations_beyond, s.iterations));
  if (s.options.precision == contact::Precision::kMixed)
    std::printf("%-15s %lld of %lld began again in double (%.6g %%)\n", "mixed precision",
                static_cast<long long>(s.began_again), static_cast<long long>(s.problems),
                percent(s.began_again, s.problems));
  if (s.starts > 0)
    std::printf("%-15s at f > 0: %.6g %% of the starts (%lld of %lld)\n", "stalled",
                percent(s.stalled_starts, s.starts), static_cast<long long>(s.stalled_starts),
                static_cast<long long>(s.starts));
}

}  // namespace

void ContactSummary::add(const contact::Problems& p, const contact::Solutions& solutions) {
  problems += solutions.count;
  const std::int64_t slides = std::count(p.mode.begin(), p.mode.end(), std::uint8_t{1});
  sliding += slides;
  rolling += p.count * p.contacts - slides;
  const bool mixed = options.precision == contact::Precision::kMixed;
  for (std::size_t i = 0; i < solutions.status.size(); ++i) {
    const Status status = solutions.status[i];
    const std::int32_t stage = i < solutions.stage.size() ? solutions.stage[i] : 0;
    ++by_status[static_cast<std::size_t>(status)];
    // An invalid problem made no start; a stage below 0 was not counted (a force from elsewhere).
    if (contact::pair_of(options) && status != Status::kInvalidInput && stage >= 0) {
      starts += stage + 1;
      stalled_starts += std::max(0, solutions.stalls[i]);
    }
    if (mixed && status != Status::kInvalidInput) began_again += solutions.stalls[i];
    if (options.method == contact::Method::kAuto) {
      const std::int64_t beyond = solutions.iterations[i] - solvers::kMaxNewtonSteps;
      iterations += solutions.iterations[i];
      beyond_newton += beyond > 0;
      iterations_beyond += std::max<std::int64_t>(beyond, 0);
    }
    if (status == Status::kIllConditioned)
      worst_ill_conditioned = std::max(worst_ill_conditioned, solutions.residual[i]);
    if (status != Status::kConverged) continue;
    worst_contact_residual = std::max(worst_contact_residual, solutions.contact_residual[i]);
    worst_residual = std::max(worst_residual, solutions.residual[i]);
    // Only `auto` has restarts and fallback solvers; for other methods `stage` counts starts.
    if (options.method == contact::Method::kAuto)
      ++restart_counts[stage == 0 && solutions.iterations[i] == 0 ? kStickTest : stage];
  }
  const std::vector<std::int32_t>* counters[] = {&solutions.iterations, &solutions.evaluations, &solutions.inner,
                                                 &solutions.products};
  for (std::size_t k = 0; k < effort.size(); ++k)
    std::copy_if(counters[k]->begin(), counters[k]->end(), std::back_inserter(effort[k]),
                 // Below 0: the method has no such counter.
                 [](std::int32_t count) { return count >= 0; });
  for (const std::uint8_t count : solutions.solutions) ++by_solution_count[count];
  for (const contact::ContactState state : solutions.state)
    ++by_state[std::min<std::size_t>(static_cast<std::size_t>(state), by_state.size() - 1)];
}

void print_json(const ContactSummary& s) {
  Json out = {
      {"problems", s.problems},
      {"contacts", {{"rolling", s.rolling}, {"sliding", s.sliding}}},
      {"method", contact::to_string(s.options.method)},
      {"solved", s.solved()},
      {"solved_share", or_null(count_share(s.solved(), s.problems))},
      {"status", status_json(s)},
      {"worst_residual", s.solved() > 0 ? Json(s.worst_residual) : Json(nullptr)},
      {"worst_contact_residual", s.solved() > 0 ? Json(s.worst_contact_residual) : Json(nullptr)},
      {"worst_ill_conditioned", s.worst_ill_conditioned > 0 ? Json(s.worst_ill_conditioned) : Json(nullptr)},
      {"tolerance", s.options.tolerance},
      {"states", states_json(s)},
      {"seconds", s.seconds},
      {"seconds_in_all", s.elapsed},
      {"problems_per_second", or_null(ratio(static_cast<double>(s.problems), s.seconds))},
      {"device", s.device},
      {"outputs", s.outputs},
      {"unreadable", unreadable_json(s)},
  };
  out.update(effort_json(s));
  if (s.options.method == contact::Method::kAuto) {
    out["restarts"] = restarts_to_json(s);
    out["beyond_newton"] = {{"problems", s.beyond_newton},
                            {"share_of_iterations", or_null(count_share(s.iterations_beyond, s.iterations))}};
  }
  if (const auto pair = contact::pair_of(s.options)) {
    out["merit"] = name_of(pair->merit);
    out["minimizer"] = name_of(pair->minimizer);
    out["starts"] = {{"used", s.starts},
                     {"stalled", s.stalled_starts},
                     {"stalled_share", or_null(count_share(s.stalled_starts, s.starts))}};
  }
  if (s.options.precision == contact::Precision::kMixed)
    out["mixed_precision"] = {{"began_again", s.began_again},
                              {"began_again_share", or_null(count_share(s.began_again, s.problems))}};
  if (s.options.count_solutions) out["solutions_per_problem"] = solution_counts_json(s);
  std::printf("%s\n", out.dump(2).c_str());
}

void print_human(const ContactSummary& s) {
  print_problems(s);
  print_line("method", contact::describe_method(s.options));
  print_solved(s);
  if (s.problems > 0) {
    print_effort(s);
    const double per_second = ratio(static_cast<double>(s.problems), s.seconds).value_or(0);
    std::printf("%-15s %.4g problems/s (%.3g s, %.3g s with reading and writing)\n", "throughput", per_second,
                s.seconds, s.elapsed);
  }
  print_line("device", s.device);
  print_line("solutions", describe_outputs(s));
  for (const Unreadable& u : s.unreadable) {
    const std::string text = u.error.what();
    print_line("not read", text.substr(0, text.find('\n')));
  }
}

}  // namespace garra::cli
