// `garra run`, `garra resume`, `garra report`.
#include "cli/run_command.hpp"

#include <cstdio>
#include <memory>

#include "base/files/atomic_file.hpp"
#include "base/files/suggest.hpp"
#include "cli/commands.hpp"
#include "cli/flags.hpp"
#include "cli/report.hpp"
#include "cli/temporary_folder.hpp"
#include "garra/core/error.hpp"
#include "study/files/run_record.hpp"

namespace garra::cli {

namespace {

void run_new(const RunArguments& a) {
  Run run = Run::create(a);
  const std::string& path = run.folder().path();
  if (!a.dask.empty() && !work_by_dask(path, a.dask, false))
    throw Error(ExitCode::kInputOutput, path + ": the work was not done by dask (" + a.dask + ")",
                "What was computed is kept: garra resume " + io::shell_word(path));
  run.complete();
}

void resume(const RunArguments& a) { Run::open(a, "garra resume " + a.run).complete(); }

void add_format_flag(Command c, RunArguments& a) {
  c.add_option("--format", a.format, "human or json", one_of({"human", "json"}));
}

}  // namespace

void add_new_run_flags(Command c, RunArguments& a, const std::string& of_samples) {
  c.add_option("-o,--output", a.output, "run folder (default: run-<scenario>)").type_name("RUN");
  c.add_flag("--overwrite", a.overwrite, "remove the run that the folder holds, with all its files, and run anew");
  c.add_option("--samples", a.samples, "number of samples, such as 1e6" + of_samples).transform(whole_number());
  c.add_option("--seed", a.seed, "seed of all random numbers").transform(seed(INT64_MAX));
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
  add_threads(c, a.threads, "CPU threads, 0 = all");
  c.add_option("--time-limit", a.time_limit, "seconds; stops resumable (exit code 75)").check(positive_number());
  c.add_option("--require", a.require,
               "e.g. 'p_held>=0.99' (" + all_quantities() + "): exit code 1 unless the whole interval satisfies it")
      .type_name("CONDITION")
      .one_value_each();
  c.add_option("--progress", a.progress, "auto, json or none", one_of({"auto", "json", "none"}));
  c.add_flag("--quiet", a.quiet, "print nothing but errors (and what --format json asks for)");
  c.add_flag("--no-report", a.no_report, "do not make report.html");
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
  add_effort(run, a->effort);
  add_overrides(run, a->set, "key=value, overrides the scenario, e.g. --set load.grip_force='12 N'");
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
