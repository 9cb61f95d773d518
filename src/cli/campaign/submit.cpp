// `garra submit`: creates the folder of a run that workers will compute (docs/howto/campaigns.md).
#include <cstdio>
#include <filesystem>
#include <limits>
#include <memory>

#include "base/files/suggest.hpp"
#include "cli/commands.hpp"
#include "cli/flags.hpp"
#include "cli/run_command.hpp"
#include "cli/terminal.hpp"
#include "garra/batch/devices.hpp"
#include "garra/core/error.hpp"
#include "study/files/run_record.hpp"

namespace garra::cli {

namespace {

namespace fs = std::filesystem;

struct SubmitArguments : RunArguments {
  bool slurm = false;
  std::int64_t workers = 16;
  std::string time = "4:00:00";
};

/// A Slurm array of workers. A worker stopped by its time limit (exit code 75) is requeued.
std::string slurm_script(const std::string& run, const SubmitArguments& a) {
  std::error_code ignored;
  const std::string program = fs::read_symlink("/proc/self/exe", ignored).string();
  std::string text = "#!/bin/bash\n#SBATCH --job-name=garra\n#SBATCH --array=0-" + std::to_string(a.workers - 1) +
                     "\n#SBATCH --time=" + a.time + "\n#SBATCH --requeue\n#SBATCH --open-mode=append\n" +
                     "# Two minutes before the end of its time a worker is told to stop with what it has.\n"
                     "#SBATCH --signal=B:TERM@120\n";
  if (a.threads > 0) text += "#SBATCH --cpus-per-task=" + std::to_string(a.threads) + "\n";
  text += "trap 'kill -TERM \"$worker\"' TERM\n" + io::shell_word(program) + " worker " + io::shell_word(run) +
          " --device " + a.device +
          " --threads \"${SLURM_CPUS_PER_TASK:-0}\" --no-report --progress none &\nworker=$!\n"
          "wait \"$worker\"\ncode=$?\n"
          "# A trapped signal ends the first wait; the second one has the worker's own exit code.\n"
          "if [ \"$code\" -gt 128 ]; then wait \"$worker\"; code=$?; fi\n"
          "if [ \"$code\" -eq 75 ]; then scontrol requeue \"${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}\"; fi\n"
          "exit \"$code\"\n";
  return text;
}

void submit(const SubmitArguments& a) {
  if (a.time.find_first_not_of("0123456789:-") != std::string::npos || a.time.empty() || a.time[0] == '-')
    throw Error(ExitCode::kUsage, "--time " + a.time + ": not a time of Slurm's",
                "Write --time 4:00:00 or 2-00:00:00.");
  const Run run = Run::create(a);
  std::error_code ignored;
  const std::string path = fs::absolute(run.folder().path(), ignored).string();
  // Tells the workers which version of garra has begun the run.
  const io::Manifest manifest(run.folder(), parse_devices(a.device, a.threads), run.options());
  if (a.slurm) run.folder().write_text("slurm.sh", slurm_script(path, a));
  if (a.quiet) return;
  const study::Plan& plan = run.study().plan();
  std::printf("%s: %lld samples in %lld chunks, none computed yet\n", printable(path).c_str(),
              static_cast<long long>(plan.samples), static_cast<long long>(study::count_chunks(plan)));
  if (a.slurm)
    std::printf("start the workers: sbatch %s\n", io::shell_word(path + "/slurm.sh").c_str());
  else
    std::printf("on any machines that see this folder, any number of times: garra worker %s\n",
                io::shell_word(path).c_str());
}

}  // namespace

void add_submit_command(Command app) {
  auto a = std::make_shared<SubmitArguments>();
  Command c = app.add_subcommand("submit", "Make the folder of a run that workers will compute");
  c.add_option("SCENARIO", a->scenario, "scenario file (TOML)").required();
  add_new_run_flags(c, *a, " (chain: of each design, grasp_set: of each grasp)");
  add_overrides(c, a->set, "key=value, overrides the scenario");
  c.add_flag("--slurm", a->slurm, "write RUN/slurm.sh, an array of workers");
  c.add_option("--workers", a->workers, "of Slurm's array")
      .capture_default_str()
      .transform(whole_number())
      .needs("--slurm");
  c.add_option("--time", a->time, "of each of them, as Slurm takes it; they go on in the queue")
      .capture_default_str()
      .needs("--slurm");
  // Of the workers' machines, which may have more processors than this one.
  add_threads(c, a->threads, "CPU threads of a worker, 0 = all it is given", std::numeric_limits<int>::max());
  c.add_option("--device", a->device, "of the workers: auto, cpu, scalar, cuda, cuda:i, cuda:0,1 or cuda:all")
      .capture_default_str();
  c.add_flag("--quiet", a->quiet, "print nothing but errors");
  c.footer(
      "Examples:\n  garra submit three_puma.toml --samples 1e10 -o /shared/run\n"
      "  garra submit three_puma.toml --samples 1e12 --slurm --workers 200 --threads 32 -o run && sbatch run/slurm.sh");
  c.callback([a] { submit(*a); });
}

}  // namespace garra::cli
