// `garra run`, `garra resume`, `garra status`, `garra report`.
#include "cli/run.hpp"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/chain_model.hpp"
#include "cli/commands.hpp"
#include "cli/flags.hpp"
#include "cli/progress.hpp"
#include "cli/report.hpp"
#include "cli/requirement.hpp"
#include "cli/run_files.hpp"
#include "cli/run_jobs.hpp"
#include "cli/temporary_folder.hpp"
#include "cli/terminal.hpp"
#include "garra/core/error.hpp"
#include "garra/io/run_folder.hpp"
#include "io/atomic_file.hpp"

namespace garra::cli {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

volatile std::sig_atomic_t stop_signal = 0;
void on_signal(int signal) { stop_signal = signal; }

std::string stop_override(const std::string& rule) {
  const std::string remedy = "Write --stop half-width=0.001.";
  if (rule.rfind("half-width=", 0) != 0) throw Error(ExitCode::kUsage, "--stop " + rule + ": unknown rule", remedy);
  const std::string width = rule.substr(11);
  const double x = number_or_refuse(width, "--stop " + rule + ": no number after half-width=", remedy);
  if (x <= 0 || x > 0.5) throw Error(ExitCode::kUsage, "--stop " + rule + ": must be above 0 and at most 0.5", remedy);
  return "sampling.stop={ half_width = " + Json(x).dump() + " }";
}

std::vector<std::string> overrides_of(const RunArguments& a, const JobKind& kind) {
  std::vector<std::string> list = a.set;
  if (a.samples > 0) list.push_back("sampling.samples=" + std::to_string(a.samples));
  if (a.seed >= 0) list.push_back("seed=" + std::to_string(a.seed));
  if (a.tol > 0) list.push_back(std::string(kind.tolerance_key) + "=" + Json(a.tol).dump());
  if (a.max_unsolved >= 0) list.push_back(std::string(kind.unsolved_key) + "=" + Json(a.max_unsolved).dump());
  if (!a.stop.empty()) list.push_back(stop_override(a.stop));
  return list;
}

std::vector<Requirement> requirements_of(const RunArguments& a, const JobKind& kind) {
  std::vector<Requirement> list;
  for (const std::string& text : a.require) list.push_back(parse_requirement(text, kind));
  return list;
}

std::string new_folder_name(const std::string& scenario) {
  const std::string stem = "run-" + fs::path(scenario).stem().string();
  for (int k = 1;; ++k) {
    const std::string name = k == 1 ? stem : stem + "-" + std::to_string(k);
    std::error_code error;
    if (!fs::exists(name, error)) return name;
  }
}

/// What ended a run; the empty string while it goes on.
struct Ending {
  std::string reason;
  bool resumable = false;
};

const char* said_of(io::RunFolder::Chunk state) {
  if (state == io::RunFolder::Chunk::kMissing) return "is missing";
  return state == io::RunFolder::Chunk::kDamaged ? "is damaged" : "belongs to another scenario or version of garra";
}

struct Runner {
  const io::RunFolder& folder;
  const JobKind& kind;
  Job& job;
  const Device& device;
  const RunArguments& arguments;

  study::Total total{};
  std::int64_t fresh = 0;             ///< samples computed now; the others were there
  std::int64_t chunks = 0, rows = 0;  ///< chunks in `total`, and the samples that they keep

  [[nodiscard]] const study::Study& study() const { return job.study(); }

  [[nodiscard]] Ending check(double seconds) const {
    const auto& plan = study().plan();
    if (total.count >= plan.samples) return {"samples", false};
    if (plan.stop_half_width > 0 && total.count > 0 && study().widest_interval(total) <= 2 * plan.stop_half_width)
      return {"half_width", false};
    if (stop_signal != 0) return {"signal", true};
    const double limit = arguments.time_limit > 0 ? arguments.time_limit : plan.time_limit;
    return limit > 0 && seconds > limit ? Ending{"time_limit", true} : Ending{};
  }

  /// The chunk as an earlier start has left it, if it is sound and of this very run.
  [[nodiscard]] std::optional<study::Tally> stored_chunk(std::int64_t index, std::int64_t first,
                                                         std::int64_t count) const {
    auto state = io::RunFolder::Chunk::kMissing;
    auto chunk = folder.read_chunk(index, &state);
    const bool foreign =
        state == io::RunFolder::Chunk::kForeign || (chunk && (chunk->first != first || chunk->count != count));
    if (foreign) state = io::RunFolder::Chunk::kForeign;
    if ((foreign || state == io::RunFolder::Chunk::kDamaged) && !arguments.quiet)
      std::fprintf(stderr, "garra: chunk %lld %s; computing it again\n", static_cast<long long>(index), said_of(state));
    if (foreign) chunk.reset();
    return chunk;
  }

  void take_chunk() {
    const auto& plan = study().plan();
    const std::int64_t first = chunks * plan.chunk;
    const std::int64_t count = std::min(plan.chunk, plan.samples - first);
    auto chunk = stored_chunk(chunks, first, count);
    if (!chunk) {
      chunk = study().run(first, count, device);
      folder.write_chunk(chunks, *chunk);
      folder.renew_lock();
      fresh += count;
    }
    const study::Shape shape = study().shape();
    total.add(*chunk, shape.sums, shape.tracked);
    rows += static_cast<std::int64_t>(chunk->kept.size() / shape.row);
    job.look_at(chunk->kept);
    ++chunks;
  }

  [[nodiscard]] Standing standing() const {
    const auto e = study().estimate(total);
    return {total.count, fresh, e.probability, e.interval.low, e.interval.high, kind.event};
  }

  Ending go(Progress& progress) {
    for (;;) {
      const Ending end = check(progress.seconds());
      if (!end.reason.empty()) return end;
      take_chunk();
      progress.show(standing());
    }
  }
};

/// The probability that a requirement is about.
study::Estimate required(const Requirement& r, const study::Study& study, const study::Total& total, const JobKind& kind) {
  return r.quantity == kind.quantity ? study.estimate(total) : study.named_estimate(total, r.quantity);
}

void require_all(const std::vector<Requirement>& requirements, const Runner& runner) {
  const JobKind& kind = runner.kind;
  for (const Requirement& r : requirements) {
    const study::Interval s = required(r, runner.study(), runner.total, kind).interval;
    if (r.holds(s.low, s.high)) continue;
    char interval[64];
    std::snprintf(interval, sizeof interval, "[%.6f, %.6f]", s.low, s.high);
    const std::string what = r.quantity == kind.quantity ? "P(" + std::string(kind.event) + ")" + kind.of_whom : r.quantity;
    const std::string found = r.text + " does not hold: the 95 % interval of " + what + " is " + interval;
    throw Error(ExitCode::kRequirementFailed, found,
                r.is_refuted(s.low, s.high) ? "" : "The bound lies inside of the interval: more samples may decide.");
  }
}

void require_solved(const Runner& r) {
  const double unsolved = r.study().unsolved_share(r.total), limit = r.study().plan().max_unsolved;
  if (unsolved <= limit) return;
  char text[128];
  std::snprintf(text, sizeof text, "%.3g %% of the samples are unsolved, more than %s = %.3g", 100 * unsolved,
                r.kind.unsolved_key, limit);
  throw Error(ExitCode::kTooManyUnsolved, text, r.kind.unsolved_remedy);
}

void print_answer(const Runner& r, const RunArguments& a, const Json& summary, const Json& manifest) {
  if (a.format == "json") {
    std::printf("%s\n", Json{{"run", r.folder.path()}, {"summary", summary}, {"manifest", manifest}}.dump(1).c_str());
  } else if (!a.quiet) {
    std::printf("%s", printable(r.job.answer(summary, manifest, r.folder.path())).c_str());
  }
  std::fflush(stdout);
}

/// The report needs Python: its absence is a remark, not a failure of the run.
void report_on(const std::string& run, const RunArguments& a, bool changed) {
  const std::string page = run + "/report.html";
  std::error_code error;
  const bool there = fs::exists(page, error) && !changed;
  const bool made = there || (!a.no_report && make_report(run, a.quiet));
  if (a.quiet || a.format == "json") return;
  const std::string line = made ? page : run + "   (no report; make it with `garra report " + run + "`)";
  std::printf("%-18s %s\n", made ? "Report" : "Run folder", line.c_str());
}

/// Whether the folder's results are those of this summary already: resuming a finished run changes nothing.
bool is_written(const Runner& r, const Manifest& manifest, const std::string& summary) {
  const io::RunFolder& folder = r.folder;
  return folder.has("results.h5") && r.job.has_files(folder) && folder.has("summary.json") &&
         folder.read_text("summary.json") == summary && manifest.files_are_whole();
}

/// The summary comes last: where it is, the run is whole.
bool write_outputs(const Runner& r, Manifest& manifest, const std::string& summary) {
  if (r.fresh == 0 && is_written(r, manifest, summary)) return false;
  write_results(r.folder, r.study(), r.chunks, r.rows);
  r.job.write_files(r.folder, r.total);
  manifest.add_files();
  r.folder.write_text("summary.json", summary);
  return true;
}

void execute(io::RunFolder folder, const RunArguments& a, const std::string& command) {
  require_same_program(folder);
  const JobKind& kind = job_kind(folder.scenario());
  const auto requirements = requirements_of(a, kind);
  const auto job = kind.read(folder.scenario(), folder.overrides());
  const study::Study& study = job->study();
  for (const Requirement& r : requirements) static_cast<void>(required(r, study, {}, kind));  // refused before the first sample
  const Device device = parse_device(a.device, a.threads);
  expect_study(folder, study);
  folder.lock();
  folder.remove_leftovers();
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
  Manifest manifest(folder, device, command);
  Runner runner{folder, kind, *job, device, a};
  Progress progress(a.quiet ? "none" : a.progress, study.plan().samples);
  const Ending end = runner.go(progress);
  progress.clear();
  manifest.add(runner.fresh, progress.seconds());
  if (end.resumable)
    throw Error(ExitCode::kStoppedResumable,
                (end.reason == "signal" ? "stopped by a signal after " : "time limit reached after ") +
                    std::to_string(runner.total.count) + " of " + std::to_string(study.plan().samples) +
                    " samples; so far " + short_estimate(runner.standing()),
                "Continue with `garra resume " + folder.path() + "`.");
  const std::string summary = study.summary(runner.total, end.reason);
  const bool changed = write_outputs(runner, manifest, summary);
  print_answer(runner, a, Json::parse(summary), manifest.json());
  report_on(folder.path(), a, changed);
  require_solved(runner);
  require_all(requirements, runner);
}

std::string command_line(const RunArguments& a, const std::vector<std::string>& overrides) {
  std::string text = a.command.empty() ? "garra run " + a.scenario : a.command;
  for (const auto& o : overrides) text += " --set '" + o + "'";
  return text;
}

/// Samples that the run has ended with; -1 where summary.json does not say.
std::int64_t samples_of(const io::RunFolder& folder) {
  const Json summary = Json::parse(folder.read_text("summary.json"), nullptr, false);
  const Json samples = summary.is_object() ? summary.value("samples", Json()) : Json();
  return samples.is_number_integer() ? samples.get<std::int64_t>() : -1;
}

void show_status(const RunArguments& a) {
  auto folder = io::RunFolder::open(a.run);
  require_unchanged(folder);
  const JobKind& kind = job_kind(folder.scenario());
  const auto job = kind.read(folder.scenario(), folder.overrides());
  const study::Study& study = job->study();
  const study::Plan& plan = study.plan();
  expect_study(folder, study);
  study::Total total{};
  std::int64_t k = 0;
  auto state = io::RunFolder::Chunk::kPresent;
  for (; k * plan.chunk < plan.samples; ++k) {
    const auto chunk = folder.read_chunk(k, &state);
    if (!chunk) break;
    total.add(*chunk, study.shape().sums, study.shape().tracked);
  }
  const auto e = study.estimate(total);
  const bool finished = folder.has("summary.json");
  std::printf("%s: %s, %lld of %lld samples", folder.path().c_str(), finished ? "finished" : "unfinished",
              static_cast<long long>(total.count), static_cast<long long>(plan.samples));
  if (total.count > 0)
    std::printf(", P(%s)%s = %.4f [%.4f, %.4f]", kind.event, kind.of_whom, e.probability, e.interval.low,
                e.interval.high);
  std::printf("\n");
  const bool all_there = total.count >= plan.samples || (finished && total.count == samples_of(folder));
  if (!all_there && (finished || state != io::RunFolder::Chunk::kMissing))
    std::printf("chunk %lld %s\n", static_cast<long long>(k), said_of(state));
  if (!finished || !all_there) std::printf("continue with: garra resume %s\n", folder.path().c_str());
}

void add_format_flag(CLI::App& c, RunArguments& a) {
  c.add_option("--format", a.format, "human or json")->capture_default_str()->check(CLI::IsMember({"human", "json"}));
}

}  // namespace

void add_new_run_flags(CLI::App& c, RunArguments& a, const std::string& of_samples) {
  c.add_option("-o,--output", a.output, "run folder (default: run-<scenario>)")->type_name("RUN");
  c.add_option("--samples", a.samples, "number of samples, such as 1e6" + of_samples)->transform(whole_number());
  c.add_option("--seed", a.seed, "seed of all random numbers")->check(CLI::NonNegativeNumber);
  c.add_option("--max-unsolved", a.max_unsolved, "exit code 4 where a larger share of the samples is unsolved")
      ->check(share());
  c.add_option("--stop", a.stop, "half-width=X: stop when the 95 % interval is no wider than 2 X")->type_name("RULE");
}

void add_common_flags(CLI::App& c, RunArguments& a) {
  c.add_option("--device", a.device, "auto, cpu, scalar, cuda or cuda:i")->capture_default_str();
  c.add_option("--threads", a.threads, "CPU threads, 0 = all")->capture_default_str()->transform(thread_count());
  c.add_option("--time-limit", a.time_limit, "seconds; stops resumable (exit code 75)")->check(positive_number());
  c.add_option("--require", a.require,
               "e.g. 'p_held>=0.99' (" + all_quantities() + "): exit code 1 unless the whole interval satisfies it")
      ->type_name("CONDITION")
      ->allow_extra_args(false);
  c.add_option("--progress", a.progress, "auto, json or none")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "json", "none"}));
  c.add_flag("--quiet", a.quiet, "print nothing but errors (and what --format json asks for)");
  c.add_flag("--no-report", a.no_report, "do not make report.html");
}

void run_new(const RunArguments& a) {
  // Complain before anything is made.
  const JobKind& kind = job_kind(a.scenario);
  const auto overrides = overrides_of(a, kind);
  (void)requirements_of(a, kind);
  if (!a.quiet) print_warnings(kind.resolved(a.scenario, overrides).warnings);
  const std::vector<std::string> models = kind.read(a.scenario, overrides)->models();
  (void)parse_device(a.device, a.threads);
  const auto folder =
      io::RunFolder::create(a.output.empty() ? new_folder_name(a.scenario) : a.output, a.scenario, overrides, models);
  execute(folder, a, command_line(a, overrides));
}

void run_text(const std::string& text, const std::string& name, RunArguments a) {
  const TemporaryFolder temporary;
  a.scenario = temporary.file(name + ".toml");
  const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
  io::write_file_atomically(a.scenario, {bytes, text.size()});
  try {
    run_new(a);
  } catch (const Error& error) {
    std::string message = error.what();
    if (message.rfind(a.scenario, 0) == 0) message.replace(0, a.scenario.size(), name);
    throw Error(error.code(), message);
  }
}

void add_run_commands(CLI::App& app) {
  auto a = std::make_shared<RunArguments>();
  CLI::App* run = app.add_subcommand("run", "Run a scenario and print its answer");
  run->add_option("SCENARIO", a->scenario, "scenario file (TOML)")->required();
  add_new_run_flags(*run, *a, " (chain: of each design)");
  run->add_option(
         "--tol", a->tol,
         "tolerance of the contact solver; chain: of the steps of dopri5; singularity: what counts as singular")
      ->check(positive_number());
  run->add_option("--set", a->set, "key=value, overrides the scenario, e.g. --set load.squeeze='12 N'")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  add_common_flags(*run, *a);
  add_format_flag(*run, *a);
  run->footer(
      "Examples:\n  garra run data/scenarios/three_puma_sphere.toml --samples 1000000 -o grasp\n"
      "  garra run my.toml --set contacts.friction=0.5 --stop half-width=0.001 --require 'p_held>=0.95'");
  run->callback([a] { run_new(*a); });

  CLI::App* resume = app.add_subcommand("resume", "Continue a run that was stopped");
  resume->add_option("RUN", a->run, "run folder")->required();
  add_common_flags(*resume, *a);
  add_format_flag(*resume, *a);
  resume->footer(
      "Examples:\n  garra resume run-three_puma_sphere\n  garra resume grasp --device scalar --time-limit 60");
  resume->callback([a] { execute(io::RunFolder::open(a->run), *a, "garra resume " + a->run); });

  CLI::App* status = app.add_subcommand("status", "How far a run is, with its current interval");
  status->add_option("RUN", a->run, "run folder")->required();
  status->footer("Examples:\n  garra status run-three_puma_sphere\n  watch garra status grasp");
  status->callback([a] { show_status(*a); });

  CLI::App* report = app.add_subcommand("report", "Make report.html of a finished run");
  report->add_option("RUN", a->run, "run folder")->required();
  report->footer("Examples:\n  garra report run-three_puma_sphere\n  GARRA_PYTHON=python3.12 garra report grasp");
  report->callback([a] {
    const auto folder = io::RunFolder::open(a->run);
    folder.require_no_links();
    require_unchanged(folder);
    if (!make_report(folder.path(), false))
      throw Error(ExitCode::kInputOutput, "the report was not made",
                  "it needs Python 3 with numpy, matplotlib, jinja2, h5py: tools/setup installs them");
    std::printf("%s\n", folder.file("report.html").c_str());
  });
}

}  // namespace garra::cli
