#include "cli/run.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/cuda_device.hpp"
#include "base/files/suggest.hpp"
#include "base/scenario/renamed.hpp"
#include "cli/flags.hpp"
#include "cli/progress.hpp"
#include "cli/report.hpp"
#include "cli/robot_argument.hpp"
#include "cli/terminal.hpp"
#include "garra/batch/devices.hpp"
#include "garra/core/error.hpp"
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
  for (const auto& [flag, value] : {std::pair{"method", &a.method}, std::pair{"effort", &a.effort}}) {
    if (value->empty()) continue;
    if (!kind.contact_solver)
      throw Error(ExitCode::kUsage,
                  std::string("--") + flag + ": job = \"" + kind.name + "\" solves no contact problems",
                  "Leave it out.");
    list.push_back(std::string("solver.") + flag + "=" + Json(*value).dump());
  }
  if (a.max_unsolved >= 0) list.push_back(std::string(kind.unsolved_key) + "=" + Json(a.max_unsolved).dump());
  if (!a.stop.empty()) list.push_back(stop_override(a.stop));
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

std::string command_line(const RunArguments& a, const std::vector<std::string>& overrides) {
  std::string text = a.command.empty() ? "garra run " + a.scenario : a.command;
  for (const auto& o : overrides) text += " --set '" + o + "'";
  return text;
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

Standing make_standing(const study::Progress& p, const JobKind& kind) {
  return {p.samples, p.fresh, p.estimate.probability, p.estimate.interval.low, p.estimate.interval.high, kind.event};
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

/// Sets the devices that --device names.
void set_devices(study::RunOptions& options, const RunArguments& a) {
  options.others = parse_devices(a.device, a.threads);
  options.device = options.others.front();
  options.others.erase(options.others.begin());
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

}  // namespace

Run::Run(io::RunFolder folder, const JobKind& kind, std::unique_ptr<Job> job, const RunArguments& a,
         std::string command)
    : folder_(std::move(folder)), kind_(kind), job_(std::move(job)), arguments_(a) {
  for (const std::string& text : a.require) requirements_.push_back(parse_requirement(text, kind));
  options_.command = std::move(command);
  options_.warnings = job_->resolved().warnings;
  options_.run.time_limit = a.time_limit;
  options_.run.is_cancelled = is_stopped;
  if (!a.quiet) options_.warn = [](const std::string& text) { std::fprintf(stderr, "garra: %s\n", text.c_str()); };
}

Run Run::create(const RunArguments& a) {
  auto document = io::ScenarioDocument::read(a.scenario);
  const JobKind& kind = job_kind(document);
  auto overrides = list_overrides(a, kind);
  const std::string command = command_line(a, overrides);
  document.set(overrides);
  auto job = kind.read(document);
  if (const auto pins = job->pins(); !pins.empty()) {
    overrides.insert(overrides.end(), pins.begin(), pins.end());
    document.set(pins);
    job = kind.read(document);
  }
  if (a.device != "auto") (void)parse_devices(a.device, a.threads);  // `auto` never fails
  const std::string path = a.output.empty() ? new_folder_name(a.scenario) : a.output;
  // Errors in requirements, too, come before anything is made.
  for (const std::string& text : a.require) (void)parse_requirement(text, kind);
  if (a.overwrite) {
    std::vector<std::string> needed = job->models();
    needed.push_back(a.scenario);
    io::remove_run(path, needed);
  }
  auto folder = io::RunFolder::create(path, document.text(), overrides, job->models());
  Run run(std::move(folder), kind, std::move(job), a, command);
  if (!a.quiet) print_warnings(run.options_.warnings);
  return run;
}

Run Run::open(const RunArguments& a, const std::string& command) {
  auto folder = io::RunFolder::open(a.run);
  io::require_same_program(folder);
  const auto document = read_scenario_document(folder);
  const JobKind& kind = job_kind(document);
  return {std::move(folder), kind, kind.read(document), a, command};
}

void Run::plan() {
  const study::Study& study = job_->study();
  for (const Requirement& r : requirements_) static_cast<void>(required(r, study, {}, kind_));
  if (arguments_.device == "auto")
    choose_device(options_, study, folder_, arguments_);
  else
    set_devices(options_.run, arguments_);
  for (const Device& device : options_.run.devices())
    if (const std::string note = first_launch_note(device); !note.empty() && !arguments_.quiet)
      std::fprintf(stderr, "garra: %s\n", note.c_str());
  options_.run.on_chunk = [this](const study::Total& chunk) { job_->look_at(chunk.kept); };
  options_.extras.write = [this](const io::RunFolder& f, const study::Total& total) { job_->write_files(f, total); };
  options_.extras.are_there = [this](const io::RunFolder& f) { return job_->has_files(f); };
}

/// Calls compute(options), with a progress line; a signal ends it in order.
template <class Compute>
auto Run::with_progress(const Compute& compute) {
  Progress progress(arguments_.quiet ? "none" : arguments_.progress, job_->study().plan().samples);
  options_.run.on_progress = [&](const study::Progress& p) { progress.show(make_standing(p, kind_)); };
  // Only once the loop can end in order; before that a signal ends the program immediately.
  stop_on_signals();
  auto result = compute();
  progress.clear();
  options_.run.on_progress = {};
  return result;
}

void Run::execute() {
  const study::Study& study = job_->study();
  done_ = with_progress([&] { return io::run_in_folder(folder_, study, options_); });
  const study::RunResult& r = done_.result;
  if (!study::is_resumable(r.end)) return;
  const Standing so_far = make_standing({r.total.count, r.fresh, study.estimate(r.total)}, kind_);
  throw Error(ExitCode::kStoppedResumable,
              (r.end == study::End::kSignal ? "stopped by a signal after " : "time limit reached after ") +
                  std::to_string(r.total.count) + " of " + std::to_string(study.plan().samples) + " samples; so far " +
                  short_estimate(so_far),
              "Continue with `garra resume " + io::shell_word(folder_.path()) + "`.");
}

void Run::finish() {
  // Prints the answer before exit codes 1 and 4, which concern it and must not hide it.
  print_answer(folder_, *job_, done_, arguments_);
  report_on(folder_.path(), arguments_, done_.changed);
  require_solved(job_->study(), done_.result.total, kind_);
  require_all(requirements_, job_->study(), done_.result.total, kind_);
}

void Run::complete() {
  plan();
  execute();
  finish();
}

study::RunResult Run::work(double place) {
  set_devices(options_.run, arguments_);
  return with_progress([&] { return io::work_in_folder(folder_, job_->study(), options_, place); });
}

}  // namespace garra::cli
