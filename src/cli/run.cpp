// `garra run`, `garra resume`, `garra status`, `garra report`.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/answer.hpp"
#include "cli/commands.hpp"
#include "cli/progress.hpp"
#include "garra/core/error.hpp"
#include "garra/io/run_folder.hpp"
#include "garra/io/scenario.hpp"
#include "io/results_file.hpp"
#include "systems/grasp_study.hpp"

namespace garra::cli {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

volatile std::sig_atomic_t stop_signal = 0;
void on_signal(int signal) { stop_signal = signal; }

/// Flags that are short for --set.
struct RunArguments {
  std::string scenario, output, run;
  std::string device = "auto", progress = "auto", format = "human";
  std::vector<std::string> set, require;
  std::int64_t samples = 0;
  std::int64_t seed = -1;
  int threads = 0;
  double time_limit = 0, tol = 0;
  std::string stop;
  bool quiet = false, no_report = false;
};

std::vector<std::string> overrides_of(const RunArguments& a) {
  std::vector<std::string> list = a.set;
  if (a.samples > 0) list.push_back("sampling.samples=" + std::to_string(a.samples));
  if (a.seed >= 0) list.push_back("seed=" + std::to_string(a.seed));
  if (a.tol > 0) list.push_back("solver.tol=" + Json(a.tol).dump());
  if (a.stop.rfind("half-width=", 0) == 0) list.push_back("sampling.stop={ half_width = " + a.stop.substr(11) + " }");
  else if (!a.stop.empty()) throw Error(ExitCode::kUsage, "--stop " + a.stop + ": unknown rule", "use --stop half-width=0.001");
  return list;
}

std::string new_folder_name(const std::string& scenario) {
  const std::string stem = "run-" + fs::path(scenario).stem().string();
  for (int k = 1;; ++k) {
    const std::string name = k == 1 ? stem : stem + "-" + std::to_string(k);
    if (!fs::exists(name)) return name;
  }
}

std::string utc_now() {
  const std::time_t t = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&t));
  return text;
}

/// What ended a run; the empty string while it goes on.
struct Ending {
  std::string reason;
  bool resumable = false;
};

struct Runner {
  const io::RunFolder& folder;
  const grasp::Study& study;
  const Device& device;
  const RunArguments& arguments;

  study::Total total{};
  std::int64_t fresh = 0, reused = 0;
  std::vector<double> kept{};

  [[nodiscard]] Ending check(double seconds) const {
    const auto& plan = study.scenario().plan;
    if (stop_signal != 0) return {"signal", true};
    const double limit = arguments.time_limit > 0 ? arguments.time_limit : plan.time_limit;
    if (limit > 0 && seconds > limit && total.count < plan.samples) return {"time_limit", true};
    if (plan.stop_half_width > 0 && total.count > 0) {
      const auto e = study.estimate(total);
      if (e.interval.high - e.interval.low <= 2 * plan.stop_half_width) return {"half_width", false};
    }
    return total.count >= plan.samples ? Ending{"samples", false} : Ending{};
  }

  void take_chunk(std::int64_t index) {
    const auto& plan = study.scenario().plan;
    const std::int64_t first = index * plan.chunk;
    const std::int64_t count = std::min(plan.chunk, plan.samples - first);
    bool damaged = false;
    auto chunk = folder.read_chunk(index, &damaged);
    if (damaged) std::fprintf(stderr, "garra: chunk %lld is damaged; computing it again\n", static_cast<long long>(index));
    if (chunk && (chunk->first != first || chunk->count != count)) chunk.reset();  // sampled to another plan
    if (!chunk) {
      chunk = study.run(first, count, device);
      folder.write_chunk(index, *chunk);
      fresh += count;
    } else {
      reused += count;
    }
    total.add(*chunk, static_cast<std::size_t>(study.layout().sums), 2);
    kept.insert(kept.end(), chunk->kept.begin(), chunk->kept.end());
  }

  [[nodiscard]] std::string note() const {
    const auto e = study.estimate(total);
    char text[64];
    std::snprintf(text, sizeof text, "P(held) %.4f ± %.4f", e.probability, (e.interval.high - e.interval.low) / 2);
    return text;
  }

  Ending go(Progress& progress) {
    for (std::int64_t k = 0;; ++k) {
      const Ending end = check(progress.seconds());
      if (!end.reason.empty()) return end;
      take_chunk(k);
      progress.show(total.count, fresh, note());
    }
  }
};

Json make_manifest(const Runner& r, double seconds, const std::string& command, const std::string& started) {
  Json m;
  m["garra"] = GARRA_VERSION;
  m["command"] = command;
  m["scenario"] = "scenario.toml";
  m["scenario_crc32"] = io::checksum(r.folder.read_text("scenario.toml"));
  m["overrides"] = r.folder.overrides();
  m["device"] = describe(r.device);
  m["started"] = started;
  m["seconds"] = seconds;
  m["samples_per_second"] = seconds > 0 ? static_cast<double>(r.fresh) / seconds : 0.0;
  m["samples_computed"] = r.fresh;
  m["samples_reused"] = r.reused;
  m["compiler"] = "GCC " __VERSION__;
  return m;
}

/// Runs the Python report; its absence is a remark, not a failure of the run.
bool make_report(const std::string& run) {
  const char* chosen = std::getenv("GARRA_PYTHON");
  std::error_code ignored;
  const fs::path root = fs::read_symlink("/proc/self/exe", ignored).parent_path().parent_path();
  const fs::path venv = root / ".venv/bin/python";
  const std::string python = chosen != nullptr ? chosen : fs::exists(venv) ? venv.string() : "python3";
  const std::string path = (root / "python").string();
  const std::string command = "PYTHONPATH='" + path + "':\"$PYTHONPATH\" '" + python + "' -m garra.report '" + run + "' 1>&2";
  if (run.find('\'') != std::string::npos) return false;
  return std::system(command.c_str()) == 0;
}

/// One requirement "p_held>=0.99" against the summary.
bool holds(const std::string& requirement, const Json& summary) {
  const auto at = requirement.find_first_of("<>");
  const auto skip = at == std::string::npos ? 0 : requirement.find_first_not_of("<>=", at);
  if (at == std::string::npos || requirement.substr(0, at) != "p_held" || skip == std::string::npos)
    throw Error(ExitCode::kUsage, "--require '" + requirement + "': not understood", "write --require 'p_held>=0.99'");
  char* end = nullptr;
  const double bound = std::strtod(requirement.c_str() + skip, &end);
  if (end == requirement.c_str() + skip || *end != '\0')
    throw Error(ExitCode::kUsage, "--require '" + requirement + "': no number", "write --require 'p_held>=0.99'");
  // The whole interval must lie on the right side: a requirement is proved, not guessed.
  return requirement[at] == '>' ? summary["held"]["low"].get<double>() >= bound : summary["held"]["high"].get<double>() <= bound;
}

void conclude(const Runner& r, const RunArguments& a, const Json& summary, const Json& manifest) {
  if (a.format == "json") {
    std::printf("%s\n", Json{{"run", r.folder.path()}, {"summary", summary}, {"manifest", manifest}}.dump(1).c_str());
  } else if (!a.quiet) {
    std::printf("%s", answer_text(summary, manifest, r.folder.path()).c_str());
  }
  std::fflush(stdout);
  const bool reported = !a.no_report && make_report(r.folder.path());
  if (!a.quiet && a.format != "json")
    std::printf("%s\n", reported ? ("Report:  " + r.folder.file("report.html")).c_str()
                                 : ("Run folder:  " + r.folder.path() + "   (report: garra report " + r.folder.path() + ")").c_str());
  for (const std::string& requirement : a.require)
    if (!holds(requirement, summary))
      throw Error(ExitCode::kRequirementFailed, "requirement does not hold: " + requirement);
  const double unsolved = r.study.unsolved_share(r.total);
  if (unsolved > r.study.scenario().plan.max_unsolved)
    throw Error(ExitCode::kTooManyUnsolved, std::to_string(100 * unsolved) + " % of the samples are unsolved",
                "look at one with `garra replay`, or raise solver.max_unsolved");
}

void write_results(const Runner& r) {
  io::SampleTable table;
  const grasp::Layout& l = r.study.layout();
  table.draws = l.draws;
  table.forces = 3 * l.contacts;
  for (const auto& input : r.study.inputs()) table.input_names.push_back(input.name);
  for (int k = 0; k < grasp::kOutcomes; ++k) table.outcome_names.push_back(to_string(static_cast<grasp::Outcome>(k)));
  table.rows = r.kept;
  io::write_sample_table(r.folder.file("results.h5"), table);
}

void execute(const io::RunFolder& folder, const RunArguments& a, const std::string& command) {
  const grasp::Study study(io::read_scenario(folder.scenario(), folder.overrides()));
  const Device device = parse_device(a.device, a.threads);
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
  const std::string started = utc_now();
  Runner runner{folder, study, device, a};
  Progress progress(a.quiet ? "none" : a.progress, study.scenario().plan.samples);
  const Ending end = runner.go(progress);
  const double seconds = progress.seconds();
  progress.clear();
  const Json manifest = make_manifest(runner, seconds, command, started);
  folder.write_text("manifest.json", manifest.dump(1) + "\n");
  if (end.resumable)
    throw Error(ExitCode::kStoppedResumable,
                "stopped (" + end.reason + ") after " + std::to_string(runner.total.count) + " of " +
                    std::to_string(study.scenario().plan.samples) + " samples; so far " + runner.note(),
                "continue with `garra resume " + folder.path() + "`");
  const std::string summary = study.summary(runner.total, end.reason);
  folder.write_text("summary.json", summary);
  write_results(runner);
  conclude(runner, a, Json::parse(summary), manifest);
}

std::string command_line(const RunArguments& a, const std::vector<std::string>& overrides) {
  std::string text = "garra run " + a.scenario;
  for (const auto& o : overrides) text += " --set '" + o + "'";
  return text;
}

void run_new(const RunArguments& a) {
  const auto overrides = overrides_of(a);
  if (io::scenario_job(a.scenario) != "grasp")
    throw Error(ExitCode::kInvalidFile, a.scenario + ": job = \"" + io::scenario_job(a.scenario) + "\" is not available yet",
                "this version runs job = \"grasp\"");
  (void)io::read_scenario(a.scenario, overrides);  // complain before anything is made
  (void)parse_device(a.device, a.threads);
  const auto folder = io::RunFolder::create(a.output.empty() ? new_folder_name(a.scenario) : a.output, a.scenario, overrides);
  execute(folder, a, command_line(a, overrides));
}

void show_status(const RunArguments& a) {
  const auto folder = io::RunFolder::open(a.run);
  const grasp::Study study(io::read_scenario(folder.scenario(), folder.overrides()));
  const auto& plan = study.scenario().plan;
  study::Total total{};
  std::int64_t k = 0;
  for (; k * plan.chunk < plan.samples; ++k) {
    const auto chunk = folder.read_chunk(k);
    if (!chunk) break;
    total.add(*chunk, static_cast<std::size_t>(study.layout().sums), 2);
  }
  const auto e = study.estimate(total);
  const bool finished = fs::exists(folder.file("summary.json"));
  std::printf("%s: %s, %lld of %lld samples", folder.path().c_str(), finished ? "finished" : "unfinished",
              static_cast<long long>(total.count), static_cast<long long>(plan.samples));
  if (total.count > 0) std::printf(", P(held) = %.4f [%.4f, %.4f]", e.probability, e.interval.low, e.interval.high);
  std::printf("\n");
  if (!finished) std::printf("continue with: garra resume %s\n", folder.path().c_str());
}

void add_common_flags(CLI::App& c, RunArguments& a) {
  c.add_option("--device", a.device, "auto, cpu, scalar, cuda or cuda:i")->capture_default_str();
  c.add_option("--threads", a.threads, "CPU threads, 0 = all")->capture_default_str()->check(CLI::NonNegativeNumber);
  c.add_option("--time-limit", a.time_limit, "seconds; stops resumable (exit code 75)")->check(CLI::PositiveNumber);
  c.add_option("--require", a.require, "e.g. 'p_held>=0.99': exit code 1 unless the whole interval satisfies it");
  c.add_option("--progress", a.progress, "auto, json or none")->capture_default_str();
  c.add_option("--format", a.format, "human or json")->capture_default_str()->check(CLI::IsMember({"human", "json"}));
  c.add_flag("--quiet", a.quiet, "print errors only");
  c.add_flag("--no-report", a.no_report, "do not make report.html");
}

}  // namespace

void add_run_commands(CLI::App& app) {
  auto a = std::make_shared<RunArguments>();
  CLI::App* run = app.add_subcommand("run", "Run a scenario and print its answer");
  run->add_option("SCENARIO", a->scenario, "scenario file (TOML)")->required();
  run->add_option("-o,--output", a->output, "run folder (default: run-<scenario>)");
  run->add_option("--samples", a->samples, "number of samples")->check(CLI::PositiveNumber);
  run->add_option("--seed", a->seed, "seed of all random numbers")->check(CLI::NonNegativeNumber);
  run->add_option("--tol", a->tol, "tolerance of the contact solver")->check(CLI::PositiveNumber);
  run->add_option("--stop", a->stop, "half-width=X: stop when the 95 % interval is this narrow");
  run->add_option("--set", a->set, "key=value, overrides the scenario, e.g. --set load.squeeze='12 N'");
  add_common_flags(*run, *a);
  run->footer("Examples:\n  garra run data/scenarios/three_puma_sphere.toml --samples 1000000 -o grasp\n"
              "  garra run my.toml --set contacts.friction=0.5 --stop half-width=0.001 --require 'p_held>=0.95'");
  run->callback([a] { run_new(*a); });

  CLI::App* resume = app.add_subcommand("resume", "Continue a run that was stopped");
  resume->add_option("RUN", a->run, "run folder")->required();
  add_common_flags(*resume, *a);
  resume->footer("Examples:\n  garra resume run-three_puma_sphere\n  garra resume grasp --device scalar --time-limit 60");
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
    if (!make_report(folder.path()))
      throw Error(ExitCode::kInputOutput, "the report was not made", "it needs Python 3 with numpy, matplotlib, jinja2, h5py: tools/setup installs them");
    std::printf("%s\n", folder.file("report.html").c_str());
  });
}

}  // namespace garra::cli
