// `garra run`, `garra resume`, `garra report`.
#include "cli/run_command.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/cuda_device.hpp"
#include "base/files/atomic_file.hpp"
#include "base/scenario/renamed.hpp"
#include "cli/commands.hpp"
#include "cli/flags.hpp"
#include "cli/jobs.hpp"
#include "cli/progress.hpp"
#include "cli/report.hpp"
#include "cli/requirement.hpp"
#include "cli/robot_argument.hpp"
#include "cli/temporary_folder.hpp"
#include "cli/terminal.hpp"
#include "garra/batch/devices.hpp"
#include "garra/core/error.hpp"
#include "garra/io/run.hpp"
#include "study/files/run_record.hpp"

namespace garra::cli {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::string stop_override(const std::string& rule) {
  const std::string remedy = "Write --stop half-width=0.001.";
  if (rule.rfind("half-width=", 0) != 0) throw Error(ExitCode::kUsage, "--stop " + rule + ": unknown rule", remedy);
  const std::string width = rule.substr(11);
  const double x = number_or_refuse(width, "--stop " + rule + ": no number after half-width=", remedy);
  if (x <= 0 || x > 0.5) throw Error(ExitCode::kUsage, "--stop " + rule + ": must be above 0 and at most 0.5", remedy);
  return "sampling.stop={ half_width = " + Json(x).dump() + " }";
}

std::vector<std::string> list_overrides(const RunArguments& a, const JobKind& kind) {
  std::vector<std::string> list = a.set;
  // Flags become overrides of the scenario, so that the run folder keeps them for `resume`.
  if (a.samples > 0) list.push_back("sampling.samples=" + std::to_string(a.samples));
  if (a.seed >= 0) list.push_back("seed=" + std::to_string(a.seed));
  if (a.tolerance > 0 && *kind.tolerance_key == '\0')
    throw Error(ExitCode::kUsage, std::string("--tolerance: job = \"") + kind.name + "\" has no tolerance",
                "Leave it out.");
  if (a.tolerance > 0) list.push_back(std::string(kind.tolerance_key) + "=" + Json(a.tolerance).dump());
  if (!a.method.empty() && *kind.method_key == '\0')
    throw Error(ExitCode::kUsage, std::string("--method: job = \"") + kind.name + "\" has no choice of methods",
                "Leave it out.");
  if (!a.method.empty()) list.push_back(std::string(kind.method_key) + "=" + Json(a.method).dump());
  if (a.max_unsolved >= 0) list.push_back(std::string(kind.unsolved_key) + "=" + Json(a.max_unsolved).dump());
  if (!a.stop.empty()) list.push_back(stop_override(a.stop));
  return list;
}

std::vector<Requirement> parse_requirements(const RunArguments& a, const JobKind& kind) {
  std::vector<Requirement> list;
  for (const std::string& text : a.require) list.push_back(parse_requirement(text, kind));
  return list;
}

std::string new_folder_name(const std::string& scenario) {
  const std::string stem = "run-" + fs::path(scenario).stem().string();
  for (int k = 1;; ++k) {
    const std::string name = k == 1 ? stem : stem + "-" + std::to_string(k);
    std::error_code error;
    // Never an existing folder: a second run of a scenario gets a number.
    if (!fs::exists(name, error)) return name;
  }
}

/// The probability that a requirement is about.
study::Estimate required(const Requirement& r, const study::Study& study, const study::Total& total,
                         const JobKind& kind) {
  return r.quantity == kind.quantity ? study.estimate(total) : study.named_estimate(total, r.quantity);
}

void require_all(const std::vector<Requirement>& requirements, const study::Study& study, const study::Total& total,
                 const JobKind& kind) {
  for (const Requirement& r : requirements) {
    const study::Interval s = required(r, study, total, kind).interval;
    // The whole interval must satisfy it: luck with few samples does not pass.
    if (r.holds(s.low, s.high)) continue;
    char interval[64];
    std::snprintf(interval, sizeof interval, "[%.6f, %.6f]", s.low, s.high);
    const std::string what =
        r.quantity == kind.quantity ? "P(" + std::string(kind.event) + ")" + kind.of_whom : r.quantity;
    const std::string found = r.text + " does not hold: the 95 % interval of " + what + " is " + interval;
    throw Error(ExitCode::kRequirementFailed, found,
                r.is_refuted(s.low, s.high) ? "" : "The bound lies inside of the interval: more samples may decide.");
  }
}

void require_solved(const study::Study& study, const study::Total& total, const JobKind& kind) {
  const std::string fault = study::unsolved_fault(study.decisions(total), study.plan().max_unsolved);
  if (!fault.empty())
    throw Error(ExitCode::kTooManyUnsolved, fault + " (" + kind.unsolved_key + ")", kind.unsolved_remedy);
}

/// Prints the answer of a run that has ended for good.
void print_answer(const io::RunFolder& folder, const Job& job, const io::FolderRun& run, const RunArguments& a) {
  Json summary = Json::parse(run.summary);
  io::rename_json(summary);
  const Json manifest = Json::parse(run.manifest);
  if (a.format == "json") {
    std::printf("%s\n", Json{{"run", folder.path()}, {"summary", summary}, {"manifest", manifest}}.dump(1).c_str());
  } else if (!a.quiet) {
    std::printf("%s", printable(job.answer(summary, manifest, folder.path())).c_str());
  }
  std::fflush(stdout);
}

/// The report needs Python: without it there is a note, not a failure of the run.
void report_on(const std::string& run, const RunArguments& a, bool changed) {
  const std::string page = run + "/report.html";
  std::error_code error;
  // A page of unchanged results is not made again.
  const bool there = fs::exists(page, error) && !changed;
  const bool made = there || (!a.no_report && make_report(run, a.quiet) == 0);
  if (a.quiet || a.format == "json") return;
  const std::string line = made ? page : run + "   (no report; make it with `garra report " + run + "`)";
  std::printf("%-18s %s\n", made ? "Report" : "Run folder", line.c_str());
}

/// Sets the device that `auto` selects for the remaining samples.
void choose_device(io::FolderRunOptions& options, const study::Study& study, const io::RunFolder& folder,
                   const RunArguments& a) {
  if (const std::string why = study.gpu_refusal(); has_kernels() && !why.empty()) {
    options.why_not_gpu = why;
    options.run.device = parse_device("cpu", a.threads);
    return;
  }
  if (has_kernels()) {
    const study::Plan& plan = study.plan();
    const std::int64_t left = std::max<std::int64_t>(plan.samples - folder.chunks_present() * plan.chunk, 0);
    const Device processor = parse_device("cpu", a.threads);
    const double seconds = study::estimated_seconds(study, left, processor);
    if (seconds <= kGpuStart) {
      char why[128];
      std::snprintf(why, sizeof why, "the processor needs some %.2g s for these samples, a GPU %.2g s to begin",
                    seconds, kGpuStart);
      options.why_not_gpu = why;
      options.run.device = processor;
      return;
    }
  }
  set_devices(options.run, a);
  options.why_not_gpu = why_not_gpu();
}

/// Computes the samples, with a progress line.
io::FolderRun run_samples(io::RunFolder& folder, const JobKind& kind, Job& job, const RunArguments& a,
                          const std::string& command) {
  Progress progress(a.quiet ? "none" : a.progress, job.study().plan().samples);
  io::FolderRunOptions options{.command = command};
  if (a.device == "auto")
    choose_device(options, job.study(), folder, a);
  else
    set_devices(options.run, a);
  for (const Device& device : options.run.devices())
    if (const std::string note = first_launch_note(device); !note.empty() && !a.quiet)
      std::fprintf(stderr, "garra: %s\n", note.c_str());
  options.run.time_limit = a.time_limit;
  options.run.on_progress = [&](const study::Progress& p) { progress.show(make_standing(p, kind)); };
  options.run.on_chunk = [&](const study::Total& chunk) { job.look_at(chunk.kept); };
  options.run.is_cancelled = is_stopped;
  if (!a.quiet) options.warn = [](const std::string& text) { std::fprintf(stderr, "garra: %s\n", text.c_str()); };
  options.extras.write = [&](const io::RunFolder& f, const study::Total& total) { job.write_files(f, total); };
  options.extras.are_there = [&](const io::RunFolder& f) { return job.has_files(f); };
  // Only once the loop can end in order; before that a signal ends the program immediately.
  stop_on_signals();
  io::FolderRun run = io::run_in_folder(folder, job.study(), options);
  progress.clear();
  return run;
}

[[noreturn]] void say_stopped(const io::RunFolder& folder, const JobKind& kind, const study::Study& study,
                              const study::RunResult& r) {
  const Standing so_far = make_standing({r.total.count, r.fresh, study.estimate(r.total)}, kind);
  throw Error(ExitCode::kStoppedResumable,
              (r.end == study::End::kSignal ? "stopped by a signal after " : "time limit reached after ") +
                  std::to_string(r.total.count) + " of " + std::to_string(study.plan().samples) + " samples; so far " +
                  short_estimate(so_far),
              "Continue with `garra resume " + folder.path() + "`.");
}

void resume(const RunArguments& a) {
  auto folder = io::RunFolder::open(a.run);
  io::require_same_program(folder);
  const auto document = read_scenario_document(folder);
  const JobKind& kind = job_kind(document);
  // Checked before work begins.
  (void)parse_requirements(a, kind);
  const auto job = kind.read(document);
  complete_run(std::move(folder), kind, *job, a, "garra resume " + a.run);
}

std::string command_line(const RunArguments& a, const std::vector<std::string>& overrides) {
  std::string text = a.command.empty() ? "garra run " + a.scenario : a.command;
  for (const auto& o : overrides) text += " --set '" + o + "'";
  return text;
}

void add_format_flag(Command c, RunArguments& a) {
  c.add_option("--format", a.format, "human or json").capture_default_str().check(one_of({"human", "json"}));
}

}  // namespace

void set_devices(study::RunOptions& options, const RunArguments& a) {
  options.others = parse_devices(a.device, a.threads);
  options.device = options.others.front();
  options.others.erase(options.others.begin());
}

Standing make_standing(const study::Progress& p, const JobKind& kind) {
  return {p.samples, p.fresh, p.estimate.probability, p.estimate.interval.low, p.estimate.interval.high, kind.event};
}

void complete_run(io::RunFolder folder, const JobKind& kind, Job& job, const RunArguments& a,
                  const std::string& command) {
  const auto requirements = parse_requirements(a, kind);
  const study::Study& study = job.study();
  for (const Requirement& r : requirements)
    static_cast<void>(required(r, study, {}, kind));  // checked before the first sample
  const io::FolderRun run = run_samples(folder, kind, job, a, command);
  if (study::is_resumable(run.result.end)) say_stopped(folder, kind, study, run.result);
  // Prints the answer before exit codes 1 and 4, which concern it and must not hide it.
  print_answer(folder, job, run, a);
  report_on(folder.path(), a, run.changed);
  require_solved(study, run.result.total, kind);
  require_all(requirements, study, run.result.total, kind);
}

void add_new_run_flags(Command c, RunArguments& a, const std::string& of_samples) {
  c.add_option("-o,--output", a.output, "run folder (default: run-<scenario>)").type_name("RUN");
  c.add_flag("--overwrite", a.overwrite, "remove the run that the folder holds, with all its files, and run anew");
  c.add_option("--samples", a.samples, "number of samples, such as 1e6" + of_samples).transform(whole_number());
  c.add_option("--seed", a.seed, "seed of all random numbers").check(not_negative());
  c.add_option(
       "--max-unsolved", a.max_unsolved,
       "exit code 4 where a larger share of the samples is unsolved (default: where they widen the interval by more "
       "than its statistical width, or are more than max(3, samples / 1000))")
      .check(share());
  c.add_option("--stop", a.stop, "half-width=X: stop when the 95 % interval is no wider than 2 X").type_name("RULE");
}

void add_common_flags(Command c, RunArguments& a) {
  c.add_option("--device", a.device, "auto, cpu, scalar, cuda or cuda:i; several GPUs: cuda:0,1 or cuda:all")
      .capture_default_str();
  c.add_option("--threads", a.threads, "CPU threads, 0 = all").capture_default_str().transform(thread_count());
  c.add_option("--time-limit", a.time_limit, "seconds; stops resumable (exit code 75)").check(positive_number());
  c.add_option("--require", a.require,
               "e.g. 'p_held>=0.99' (" + all_quantities() + "): exit code 1 unless the whole interval satisfies it")
      .type_name("CONDITION")
      .one_value_each();
  c.add_option("--progress", a.progress, "auto, json or none")
      .capture_default_str()
      .check(one_of({"auto", "json", "none"}));
  c.add_flag("--quiet", a.quiet, "print nothing but errors (and what --format json asks for)");
  c.add_flag("--no-report", a.no_report, "do not make report.html");
}

NewRun make_run(const RunArguments& a) {
  // Reports errors before anything is made.
  auto document = io::ScenarioDocument::read(a.scenario);
  const JobKind& kind = job_kind(document);
  auto overrides = list_overrides(a, kind);
  const std::string command = command_line(a, overrides);
  (void)parse_requirements(a, kind);
  document.set(overrides);
  auto job = kind.read(document);
  if (const auto pins = job->pins(); !pins.empty()) {
    overrides.insert(overrides.end(), pins.begin(), pins.end());
    document.set(pins);
    job = kind.read(document);
  }
  if (!a.quiet) print_warnings(job->resolved().warnings);
  if (a.device != "auto") (void)parse_devices(a.device, a.threads);  // `auto` never fails
  const std::string path = a.output.empty() ? new_folder_name(a.scenario) : a.output;
  if (a.overwrite) {
    std::vector<std::string> needed = job->models();
    needed.push_back(a.scenario);
    io::remove_run(path, needed);
  }
  auto folder = io::RunFolder::create(path, document.text(), overrides, job->models());
  return {std::move(folder), kind, std::move(job), command};
}

void run_new(const RunArguments& a) {
  NewRun run = make_run(a);
  const std::string path = run.folder.path();
  if (!a.dask.empty() && !work_by_dask(path, a.dask, false))
    throw Error(ExitCode::kInputOutput, path + ": the work was not done by dask (" + a.dask + ")",
                "What was computed is kept: garra resume " + path);
  complete_run(std::move(run.folder), run.kind, *run.job, a, run.command);
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
    // The temporary file's name is meaningless to a user.
    if (message.rfind(a.scenario, 0) == 0) message.replace(0, a.scenario.size(), name);
    throw Error(error.code(), message);
  }
}

void add_run_commands(Command app) {
  auto a = std::make_shared<RunArguments>();
  Command run = app.add_subcommand("run", "Run a scenario and print its answer");
  run.add_option("SCENARIO", a->scenario, "scenario file (TOML)").required();
  add_new_run_flags(run, *a, " (chain: of each design, grasp_set: of each grasp)");
  run.add_option("--tolerance", a->tolerance,
                 "tolerance of the contact solver; chain: of the steps of dopri5; singularity: what counts as singular")
      .check(positive_number());
  run.add_option("--method", a->method, "solver.method of a grasp's contact problems, e.g. box-quacan")
      .type_name("NAME");
  run.add_option("--set", a->set, "key=value, overrides the scenario, e.g. --set load.grip_force='12 N'")
      .type_name("KEY=VALUE")
      .one_value_each();
  add_common_flags(run, *a);
  add_format_flag(run, *a);
  run.add_option("--dask", a->dask,
                 "let the workers of this dask.distributed scheduler compute it, or \"local\": some on this machine")
      .type_name("ADDRESS");
  run.footer(
      "Examples:\n  garra run data/scenarios/three_puma_sphere.toml --samples 1000000 -o grasp\n"
      "  garra run my.toml --set contacts.friction=0.5 --stop half-width=0.001 --require 'p_held>=0.95'");
  run.callback([a] { run_new(*a); });

  Command resume = app.add_subcommand("resume", "Continue a run that was stopped");
  resume.add_option("RUN", a->run, "run folder").required();
  add_common_flags(resume, *a);
  add_format_flag(resume, *a);
  resume.footer(
      "Examples:\n  garra resume run-three_puma_sphere\n  garra resume grasp --device scalar --time-limit 60");
  resume.callback([a] { garra::cli::resume(*a); });

  Command report = app.add_subcommand("report", "Make report.html of a finished run");
  report.add_option("RUN", a->run, "run folder").required();
  report.footer("Examples:\n  garra report run-three_puma_sphere\n  GARRA_PYTHON=python3.12 garra report grasp");
  report.callback([a] {
    const auto folder = io::RunFolder::open(a->run);
    folder.require_no_links();
    io::require_unchanged(folder);
    const int code = make_report(folder.path(), false);
    for (const ExitCode known : {ExitCode::kInvalidFile, ExitCode::kInputOutput, ExitCode::kInternal})
      if (code == static_cast<int>(known)) throw Error(known, folder.path() + ": the report was not made");
    if (code != 0)
      throw Error(ExitCode::kInputOutput, "the report was not made",
                  "it needs Python 3 with numpy, matplotlib, jinja2, h5py: tools/setup installs them");
    std::printf("%s\n", folder.file("report.html").c_str());
  });
}

}  // namespace garra::cli
