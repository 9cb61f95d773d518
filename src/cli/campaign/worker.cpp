// `garra worker`: computes missing chunks of a run that other processes work on, too (docs/howto/campaigns.md).
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string_view>

#include "base/files/number.hpp"
#include "cli/commands.hpp"
#include "cli/flags.hpp"
#include "cli/run_command.hpp"
#include "cli/terminal.hpp"
#include "garra/core/error.hpp"
#include "study/files/run_lock.hpp"

namespace garra::cli {

namespace {

struct WorkerArguments : RunArguments {
  std::string of;
  bool no_merge = false;
};

/// Index of this worker, the K-th of N from 0: its first chunk.
struct Place {
  std::int64_t index = 0, count = 1;
  [[nodiscard]] double share() const { return static_cast<double>(index) / static_cast<double>(count); }
};

std::optional<Place> place_of_numbers(std::string_view index, std::string_view count) {
  const auto k = io::whole_number(index), n = io::whole_number(count);
  return k && n && *k < *n ? std::optional<Place>({*k, *n}) : std::nullopt;
}

/// Process launchers put the index into the environment: Open MPI, MPICH and Intel MPI, Slurm's arrays and steps,
/// Kubernetes. The last has no variable for the count: the worker begins at the start, and finds its own place by
/// claims.
Place place_in_environment() {
  static constexpr const char* kVariables[][2] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                                  {"PMI_RANK", "PMI_SIZE"},
                                                  {"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT"},
                                                  {"SLURM_PROCID", "SLURM_NTASKS"}};
  for (const auto& [rank, size] : kVariables) {
    const char *index = std::getenv(rank), *count = std::getenv(size);
    if (index == nullptr || count == nullptr) continue;
    if (const auto place = place_of_numbers(index, count)) return *place;
  }
  return {};
}

Place parse_place(const std::string& text) {
  if (text.empty()) return place_in_environment();
  const auto slash = text.find('/');
  const auto place =
      slash == std::string::npos ? std::nullopt : place_of_numbers(text.substr(0, slash), text.substr(slash + 1));
  if (!place)
    throw Error(ExitCode::kUsage, "--shard " + text + ": not K/N",
                "Write --shard K/N with 0 <= K < N: --shard 3/16 is the fourth of sixteen.");
  return *place;
}

/// All chunks are present: one of the workers writes the results.
void finish(Run& run, const WorkerArguments& a) {
  if (a.no_merge || run.folder().has("summary.json")) return;
  try {
    run.complete();
  } catch (const io::RunLocked&) {
    if (!a.quiet) std::printf("%s: all is computed; another process writes the results\n", printable(a.run).c_str());
  }
}

void work(const WorkerArguments& a) {
  const Place place = parse_place(a.of);
  Run run = Run::open(a, "garra worker " + a.run);
  const study::RunResult result = run.work(place.share());
  if (study::is_resumable(result.end))
    throw Error(ExitCode::kStoppedResumable,
                (result.end == study::End::kSignal ? "stopped by a signal" : "time limit reached") +
                    std::string(" after ") + std::to_string(result.fresh) + " samples of this worker",
                "Continue with `garra worker " + a.run + "`.");
  if (!a.quiet)
    std::printf("%s: %lld samples by this worker\n", printable(a.run).c_str(), static_cast<long long>(result.fresh));
  finish(run, a);
}

}  // namespace

void add_worker_command(Command app) {
  auto a = std::make_shared<WorkerArguments>();
  Command c = app.add_subcommand("worker", "Compute what is missing of a run that other processes work on, too");
  c.add_option("RUN", a->run, "run folder, on a file system that all workers see").required();
  c.add_option("--shard", a->of, "begin at the K-th of N parts, from 0; by default what MPI or Slurm says")
      .type_name("K/N");
  c.add_option("--device", a->device, "auto, cpu, scalar, cuda or cuda:i; several GPUs: cuda:0,1 or cuda:all")
      .capture_default_str();
  add_threads(c, a->threads, "CPU threads, 0 = all");
  c.add_option("--time-limit", a->time_limit, "seconds; stops resumable (exit code 75)").check(positive_number());
  c.add_option("--progress", a->progress, "auto, json or none", one_of({"auto", "json", "none"}));
  c.add_flag("--no-merge", a->no_merge, "leave it to others to write the results once all is computed");
  c.add_flag("--no-report", a->no_report, "do not make report.html where this worker writes the results");
  c.add_flag("--quiet", a->quiet, "print nothing but errors");
  c.footer(
      "Examples:\n  garra submit three_puma.toml --samples 1e10 -o /shared/run   # makes the folder\n"
      "  garra worker /shared/run                                     # on any machines, any number of them\n"
      "  mpirun garra worker /shared/run --threads 8");
  c.callback([a] { work(*a); });
}

}  // namespace garra::cli
