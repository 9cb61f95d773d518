#include "contact/bench/table.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdarg>
#include <cstdio>

namespace garra::cli {
namespace {

[[gnu::format(printf, 1, 2)]] std::string formatted(const char* format, ...) {
  char text[512];
  va_list values;
  va_start(values, format);
  std::vsnprintf(text, sizeof text, format, values);
  va_end(values);
  return text;
}

std::string time_text(double seconds) {
  if (seconds < 1e-3) return formatted("%.3g us", 1e6 * seconds);
  return seconds < 1 ? formatted("%.3g ms", 1e3 * seconds) : formatted("%.3g s", seconds);
}

/// Rounded down, so that 100 % means all of them.
std::string percent(double share) { return formatted("%.5g %%", std::floor(1e4 * share) / 100); }

std::string failures(const SolverRecord& solver) {
  std::array<int, kEndingCount> counts{};
  for (const Outcome& o : solver.outcomes) ++counts[static_cast<std::size_t>(o.ending)];
  std::string text;
  for (int i = 1; i < kEndingCount; ++i)
    if (const int n = counts[static_cast<std::size_t>(i)]; n > 0)
      text += formatted("%s%s %d", text.empty() ? "" : ", ", to_string(static_cast<Ending>(i)), n);
  return text;
}

std::string solver_line(const SolverRecord& solver, std::int64_t problems) {
  if (!solver.not_run.empty())
    return formatted("  %-26s %s\n", solver.name.c_str(), solver.not_run.substr(0, solver.not_run.find('\n')).c_str());
  const Totals t = totals(solver);
  const std::string rate = solver.throughput.empty() || solver.throughput[0].threads == 0
                               // Per processor time, so that different numbers of cores and busy machines compare.
                               ? "-"
                               : formatted("%.3g", solver.throughput[0].per_core_second);
  std::string line = formatted("  %-26s %9s %9s %9s %9s %11.0f %11s  ", solver.name.c_str(), percent(t.share()).c_str(),
                               time_text(t.median).c_str(), time_text(t.mean).c_str(), time_text(t.p999).c_str(),
                               t.iterations, rate.c_str());
  line += failures(solver);
  if (t.tried < problems)
    line +=
        formatted("%s%lld not reached", line.ends_with("  ") ? "" : ", ", static_cast<long long>(problems - t.tried));
  if (!solver.throughput.empty() && !solver.same_answers) line += "  LANES DIFFER";
  return line + "\n";
}

std::string refused_text(const SetRecord& set) {
  std::int64_t problems = 0;
  for (const Refused& r : set.refused) problems += r.problems;
  std::string text = formatted("not tried       %lld problem%s in %zu file%s, the first: %s\n\n",
                               static_cast<long long>(problems), problems == 1 ? "" : "s", set.refused.size(),
                               set.refused.size() == 1 ? "" : "s", set.refused[0].reason.c_str());
  return text;
}

std::string set_text(const SetRecord& set) {
  if (!set.refused.empty()) return refused_text(set);
  std::string text = formatted("%s: %lld problems; %s\n", set.name.c_str(), static_cast<long long>(set.problems.count),
                               set.description.c_str());
  text += formatted("  %-26s %9s %9s %9s %9s %11s %11s\n", "solver", "solved", "median", "mean", "p99.9", "iterations",
                    "1/s/core");
  for (const SolverRecord& solver : set.solvers) text += solver_line(solver, set.problems.count);
  return text + "\n";
}

std::string mncp_text(const MncpRecord& mncp) {
  std::string text =
      formatted("mncp: %zu problems; solved / of them a listed solution / mean time\n", mncp.problems.size());
  for (std::size_t s = 0; s < mncp.solvers.size(); ++s) {
    int solved = 0, listed = 0;
    double seconds = 0;
    std::string failed;
    for (const MncpProblem& p : mncp.problems) {
      const MncpResult& r = p.results[s];
      solved += r.status == Status::kConverged;
      listed += r.status == Status::kConverged && r.solution >= 0;
      seconds += r.seconds;
      if (r.status != Status::kConverged) failed += (failed.empty() ? "" : ", ") + p.name;
    }
    text += formatted("  %-36s %3d %3d %9s  ", mncp.solvers[s].c_str(), solved, listed,
                      time_text(seconds / static_cast<double>(mncp.problems.size())).c_str());
    text += failed.empty() ? "\n" : "fails: " + failed + "\n";
  }
  return text + "\n";
}

std::string answer_text(const BenchRecord& bench) {
  std::string text = formatted(
      "Which solver to trust: at least %.0f %% solved, the quickest first (mean time per problem)\n", 100 * kTrusted);
  for (const SetRecord& set : bench.sets) {
    if (!set.refused.empty()) continue;
    std::string line;
    for (const SolverRecord* solver : trusted(set)) {
      const std::string next = solver->name + " " + time_text(totals(*solver).mean);
      if (line.size() + next.size() > 90) {
        line += ", ...";
        break;
      }
      line += (line.empty() ? "" : ", ") + next;
    }
    text += formatted("  %-14s %s\n", set.name.c_str(), line.empty() ? "none" : line.c_str());
  }
  return text;
}

}  // namespace

std::vector<const SolverRecord*> trusted(const SetRecord& set) {
  std::vector<const SolverRecord*> found;
  for (const SolverRecord& solver : set.solvers)
    if (!solver.outcomes.empty() && totals(solver).share() >= kTrusted) found.push_back(&solver);
  std::sort(found.begin(), found.end(), [](const auto* a, const auto* b) { return totals(*a).mean < totals(*b).mean; });
  return found;
}

std::string bench_text(const BenchRecord& bench) {
  std::string text;
  for (const SetRecord& set : bench.sets) text += set_text(set);
  if (bench.mncp) text += mncp_text(*bench.mncp);
  return text + (bench.sets.empty() ? "" : answer_text(bench));
}

}  // namespace garra::cli
