#include "cli/run_jobs.hpp"

#include <algorithm>
#include <iterator>

#include "garra/core/error.hpp"

namespace garra::cli {

namespace {

constexpr JobKind kJobs[] = {
    {"grasp", "held", "p_held", "", "solver.tol", "solver.max_unsolved",
     "Raise solver.max_iterations or solver.tol, or allow it with --set solver.max_unsolved=0.01.",
     "no sample lies near the border", read_grasp_job, "p_no_slip p_can_be_held"},
    {"chain", "settled", "p_settled", " of the best design", "time.tolerance", "sampling.max_unsolved",
     "Give a shorter time.step or another time.method, or allow it with --set sampling.max_unsolved=0.01.",
     "no sample has settled", read_chain_job},
    {"singularity", "near", "p_near", "", "measure.tolerance", "sampling.max_unsolved",
     "These configurations are not finite: look at the ranges of [joints], or allow it with --set "
     "sampling.max_unsolved=0.01.",
     "no sample is near a singularity", read_singularity_job},
    {"platform", "feasible", "p_feasible", "", "allowed.near_singular", "sampling.max_unsolved",
     "These samples have numbers that are not finite: look at the path and at the distributions, or allow it with "
     "--set "
     "sampling.max_unsolved=0.01.",
     "no sample is decided", read_platform_job},
    {"platform_experiment", "solved", "p_solved", "", "experiment.tolerance", "experiment.max_unsolved",
     "One of the two forms does not come to them: take more segments or a shorter step, or allow it with --set "
     "experiment.max_unsolved=1.",
     "nothing is computed", read_platform_experiment_job},
};

}  // namespace

io::ScenarioDocument scenario_of(const io::RunFolder& folder) {
  auto document = io::ScenarioDocument::read(folder.scenario());
  document.set(folder.overrides());
  return document;
}

const JobKind& job_kind(const io::ScenarioDocument& document) {
  const std::string& job = document.job();
  std::string known;
  for (const JobKind& kind : kJobs) {
    if (job == kind.name) return kind;
    known.append(known.empty() ? "job = \"" : " and job = \"").append(kind.name).append("\"");
  }
  throw Error(ExitCode::kInvalidFile, document.name() + ": job = \"" + job + "\" is not available yet",
              "this version runs " + known);
}

std::string all_quantities() {
  std::string all;
  for (const JobKind& kind : kJobs) {
    const std::string whose = *kind.of_whom == '\0' ? "" : std::string(",") + kind.of_whom;
    all.append(all.empty() ? "" : "; ").append(kind.name).append(": ").append(kind.quantity).append(whose);
    if (*kind.more_quantities != '\0') all.append(" ").append(kind.more_quantities);
  }
  return all;
}

bool has_quantity(const JobKind& kind, const std::string& name) {
  const std::string more = " " + std::string(kind.more_quantities) + " ";
  return name == kind.quantity || (!name.empty() && more.find(" " + name + " ") != std::string::npos);
}

bool is_quantity(const std::string& name) {
  return std::any_of(std::begin(kJobs), std::end(kJobs), [&](const JobKind& kind) { return has_quantity(kind, name); });
}

}  // namespace garra::cli
