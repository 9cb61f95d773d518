#include "contact/bench/json.hpp"

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "garra/core/version.hpp"

namespace garra::cli {
namespace {

using Json = nlohmann::ordered_json;
constexpr int kSchema = 1;

/// Few digits keep the file readable; times and residuals have no more significant ones.
Json rounded(double x, int digits) {
  // JSON has no NaN and no infinity.
  if (!std::isfinite(x)) return nullptr;
  char text[32];
  std::snprintf(text, sizeof text, "%.*g", digits, x);
  return std::strtod(text, nullptr);
}

Json ending_names() {
  Json names = Json::array();
  for (int i = 0; i < kEndingCount; ++i) names.push_back(to_string(static_cast<Ending>(i)));
  return names;
}

Json failures_to_json(const SolverRecord& solver) {
  std::array<std::int64_t, kEndingCount> counts{};
  for (const Outcome& o : solver.outcomes) ++counts[static_cast<std::size_t>(o.ending)];
  Json out = Json::object();
  for (int i = 1; i < kEndingCount; ++i)
    // From 1: converged is no failure.
    if (const auto n = counts[static_cast<std::size_t>(i)]; n > 0) out[to_string(static_cast<Ending>(i))] = n;
  return out;
}

Json problems_to_json(const SolverRecord& solver) {
  Json ending = Json::array(), residual = Json::array(), seconds = Json::array(), iterations = Json::array();
  for (const Outcome& o : solver.outcomes) {
    ending.push_back(static_cast<int>(o.ending));
    residual.push_back(rounded(o.residual, 3));
    seconds.push_back(rounded(o.seconds, 4));
    iterations.push_back(o.iterations);
  }
  return {{"ending", ending}, {"residual", residual}, {"seconds", seconds}, {"iterations", iterations}};
}

Json throughput_to_json(const SolverRecord& solver) {
  Json out = Json::array();
  for (const Throughput& t : solver.throughput)
    out.push_back({{"device", t.device},
                   {"problems_per_second", rounded(t.per_second, 4)},
                   {"threads", t.threads},
                   {"problems_per_core_second", rounded(t.per_core_second, 4)}});
  return out;
}

Json solver_json(const SolverRecord& solver, bool per_problem) {
  const Totals t = totals(solver);
  Json out = {{"name", solver.name}};
  // A solver that was not run has no numbers at all, rather than zeros.
  out["not_run"] = solver.not_run.empty() ? Json(nullptr) : Json(solver.not_run);
  if (!solver.not_run.empty()) return out;
  out["tried"] = t.tried;
  out["solved"] = t.solved;
  out["failures"] = failures_to_json(solver);
  out["seconds"] = {{"mean", rounded(t.mean, 4)}, {"median", rounded(t.median, 4)}, {"p999", rounded(t.p999, 4)}};
  out["iterations"] = {{"median", t.iterations}, {"max", t.most_iterations}};
  out["throughput"] = throughput_to_json(solver);
  out["same_answers_in_lanes"] = solver.throughput.empty() ? Json(nullptr) : Json(solver.same_answers);
  if (per_problem) out["problems"] = problems_to_json(solver);
  return out;
}

Json refused_json(const std::vector<Refused>& refused) {
  Json out = Json::array();
  for (const Refused& r : refused) out.push_back({{"file", r.file}, {"reason", r.reason}, {"problems", r.problems}});
  return out;
}

Json set_json(const SetRecord& set, bool per_problem) {
  Json solvers = Json::array();
  for (const SolverRecord& solver : set.solvers) solvers.push_back(solver_json(solver, per_problem));
  return {{"name", set.name},
          {"description", set.description},
          {"contacts", set.problems.contacts},
          {"problems", set.problems.count},
          {"not_tried", refused_json(set.refused)},
          {"solvers", solvers}};
}

Json result_json(const MncpResult& r) {
  return {{"status", to_string(r.status)}, {"error", rounded(r.error, 3)}, {"seconds", rounded(r.seconds, 4)},
          {"iterations", r.iterations},    {"starts", r.starts},           {"solution", r.solution}};
}

Json mncp_json(const MncpRecord& mncp) {
  Json problems = Json::array();
  for (const MncpProblem& p : mncp.problems) {
    Json results = Json::array();
    for (const MncpResult& r : p.results) results.push_back(result_json(r));
    problems.push_back({{"name", p.name},
                        {"unknowns", p.unknowns},
                        {"solutions", p.solutions},
                        {"isolated", p.isolated},
                        {"results", results}});
  }
  return {{"solvers", mncp.solvers}, {"starts", mncp.starts}, {"problems", problems}};
}

}  // namespace

Json to_json(const BenchRecord& bench, bool per_problem) {
  Json sets = Json::array();
  for (const SetRecord& set : bench.sets) sets.push_back(set_json(set, per_problem));
  return {{"schema", kSchema},
          {"kind", "contact_bench"},
          {"garra", version()},
          {"compiler", __VERSION__},
          {"machine", describe(Device{Executor::kLanes, bench.measure.device.threads, 0})},
          {"device", describe(bench.measure.device)},
          {"siconos", bench.siconos.empty() ? Json(nullptr) : Json(bench.siconos)},
          {"command", bench.command},
          {"started", bench.started},
          {"seconds", rounded(bench.seconds, 4)},
          {"seed", bench.request.seed},
          {"tolerance", bench.measure.tolerance},
          {"time_limit", bench.measure.time_limit},
          {"repetitions", kRepetitions},
          {"trusted", kTrusted},
          {"endings", ending_names()},
          {"methods", bench.methods},
          {"sets", sets},
          {"mncp", bench.mncp ? mncp_json(*bench.mncp) : Json(nullptr)}};
}

}  // namespace garra::cli
