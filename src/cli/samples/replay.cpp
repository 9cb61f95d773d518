// `garra replay`: recomputes one sample of a run, as the run has computed it.
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/files/suggest.hpp"
#include "base/scenario/renamed.hpp"
#include "cli/commands.hpp"
#include "cli/jobs.hpp"
#include "cli/samples/replay_file.hpp"
#include "garra/core/error.hpp"
#include "garra/io/run_folder.hpp"
#include "study/files/run_record.hpp"

namespace garra::cli {

namespace {

std::int64_t default_sample(const io::RunFolder& folder, const JobKind& kind, const Job& job) {
  if (!folder.has("summary.json"))
    throw Error(ExitCode::kUsage, folder.path() + ": the run is not finished, so its closest failure is not known",
                "Give --sample I, or finish it with `garra resume " + io::shell_word(folder.path()) + "`.");
  std::int64_t sample = -1;
  try {
    auto summary = nlohmann::ordered_json::parse(folder.read_text("summary.json"));
    io::rename_json(summary);
    sample = job.sample_to_replay(summary);
  } catch (const nlohmann::json::exception&) {
    throw Error(ExitCode::kInputOutput, folder.file("summary.json") + ": damaged",
                "Write it again with `garra resume " + io::shell_word(folder.path()) + "`, or give --sample I.");
  }
  if (sample < 0) throw Error(ExitCode::kUsage, folder.path() + ": " + kind.no_sample, "Give --sample I.");
  return sample;
}

struct Arguments : ReplayArguments {
  std::int64_t grasp = -1;
};

/// Registered before main().
const KnownFileReplay*& file_replay() {
  static const KnownFileReplay* known = nullptr;
  return known;
}

/// The file with the items, if any: `run` itself, or the one in that folder.
std::string find_items_file(const std::string& run) {
  if (file_replay() == nullptr) return {};
  std::error_code ignored;
  for (const std::string& file : {run, run + "/" + file_replay()->name})
    if (std::filesystem::is_regular_file(file, ignored)) return file;
  return {};
}

void replay(const Arguments& a) {
  const std::filesystem::path given = a.run;
  if (given.extension() == ".toml")
    throw Error(ExitCode::kUsage, a.run + ": is a scenario; a sample is replayed out of its run",
                "garra run " + io::shell_word(a.run) + " -o RUN, then garra replay RUN");
  if (const std::string file = find_items_file(a.run); !file.empty()) {
    if (!a.problem.empty() || !a.output.empty())
      throw Error(ExitCode::kUsage, "--problem and --output are of run folders", "--format json prints all there is.");
    return file_replay()->replay({file, a.format, a.grasp, a.sample});
  }
  if (a.grasp >= 0)
    throw Error(ExitCode::kUsage, "--grasp " + std::to_string(a.grasp) + ": " + a.run + " is no ranking",
                "`garra grasp rank SET.h5 -o RANKING.h5` writes one.");
  const auto folder = io::RunFolder::open(a.run);
  // A sample of a changed scenario would differ from the one that the run has counted.
  io::require_unchanged(folder);
  const auto document = read_scenario_document(folder);
  const JobKind& kind = job_kind(document);
  const auto job = kind.read(document);
  const std::int64_t sample = a.sample < 0 ? default_sample(folder, kind, *job) : a.sample;
  const std::int64_t samples = job->study().plan().samples;
  if (sample >= samples)
    throw Error(ExitCode::kUsage,
                "--sample " + std::to_string(sample) + ": the run has " + std::to_string(samples) + " samples",
                "Give a number from 0 to " + std::to_string(samples - 1) + ".");
  job->replay(a, sample);
}

}  // namespace

KnownFileReplay::KnownFileReplay(void (*known)(const FileReplay&), const char* file) : replay(known), name(file) {
  file_replay() = this;
}

void add_replay_command(Command app) {
  auto a = std::make_shared<Arguments>();
  Command c = app.add_subcommand("replay", "Re-create one sample of a run: its inputs and all that came of them");
  c.add_option("RUN", a->run, "run folder, or the ranking of a grasp set (ranking.h5)").required();
  c.add_option("--grasp", a->grasp, "of a ranking: number of the grasp, from 0 (default: the best)")
      .check(not_negative());
  c.add_option("--sample", a->sample,
               "number of the sample (default: the one to look at first, as the answer names it)")
      .check(not_negative());
  c.add_option("--problem", a->problem, "grasp: also write A, b, mu to this problem file (HDF5)");
  c.add_option("-o,--output", a->output,
               "also write it to this file (HDF5): its motion, of a grasp at an instant its picture")
      .type_name("OUT.h5");
  c.add_option("--format", a->format, "human or json", one_of({"human", "json"}));
  c.footer(
      "Examples:\n  garra replay run-three_puma_sphere\n  garra replay grasp --sample 4711 --problem hard.h5\n"
      "  garra replay run-exoskeleton_damping --sample 12 -o slow.h5\n"
      "  garra replay ranking.h5 --grasp 7 --sample 3");
  c.callback([a] { replay(*a); });
}

}  // namespace garra::cli
