// job = "platform_experiment" in the program: path.h5 or motion.h5, replay of one pose or instant.
#include <nlohmann/json.hpp>

#include "cli/jobs.hpp"
#include "cli/samples/system_job.hpp"
#include "garra/core/error.hpp"
#include "garra/io/platform_experiment_scenario.hpp"
#include "garra/platform_simulate.hpp"
#include "platform/command/platform_answer.hpp"
#include "platform/command/study_file.hpp"
#include "platform/files/rows_file.hpp"

namespace garra::cli {

namespace {

using Json = nlohmann::ordered_json;
using platform::ExperimentStudy;
using platform::Trajectories;

/// Both forms as samples 0 (full) and 1 (minimal) of one file, as `garra platform simulate` writes them.
Trajectories side_by_side(const Trajectories& full, const Trajectories& minimal) {
  Trajectories both = full;
  both.count = 2;
  platform::each_array(both, [&]<class T>(const std::string& name, std::vector<T>& to, platform::Axes) {
    platform::each_array(minimal, [&]<class F>(const std::string& same, const std::vector<F>& from, platform::Axes) {
      if constexpr (std::is_same_v<T, F>)
        if (name == same) to.insert(to.end(), from.begin(), from.end());
    });
  });
  return both;
}

class PlatformExperimentJob final : public StudyJob<ExperimentStudy, platform::ExperimentScenario, io::resolved_toml> {
 public:
  using StudyJob::StudyJob;

  void write_files(const io::RunFolder& folder, const study::Total& /*total*/) const override {
    if (!study_.is_motion()) return write_experiment_path(folder.file("path.h5"), study_);
    const platform::SteppedMotion& m = study_.shown_motion();
    const platform::Platform& p = study_.scenario().platform;
    io::write_platform_results(folder.file("motion.h5"), side_by_side(m.full, m.minimal), {p},
                               {{"model", p.name}, {"method", "hybrid; rk4"}});
  }
  [[nodiscard]] bool has_files(const io::RunFolder& folder) const override {
    return folder.has(study_.is_motion() ? "motion.h5" : "path.h5");
  }

  [[nodiscard]] std::string answer(const Json& summary, const Json& /*manifest*/,
                                   const std::string& /*run*/) const override {
    return platform_experiment_answer_text(summary);
  }

  /// The last one: where the experiment ends.
  [[nodiscard]] std::int64_t sample_to_replay(const Json& summary) const override {
    return summary["samples"].get<std::int64_t>() - 1;
  }

  void replay(const ReplayArguments& a, std::int64_t sample) const override {
    if (!a.problem.empty() || !a.output.empty())
      throw Error(ExitCode::kUsage, "an experiment's pose or instant has no file of its own",
                  "path.h5 or motion.h5 in the run folder holds all of them.");
    print_row(study_.columns(), study_.row(sample), a.format);
  }
};

constexpr JobKind kKind = {
    .name = "platform_experiment",
    .event = "solved",
    .quantity = "p_solved",
    .tolerance_key = "experiment.tolerance",
    .unsolved_key = "experiment.max_unsolved",
    .unsolved_remedy =
        "One of the two forms does not come to them: take more segments or a shorter step, or allow it with --set "
        "experiment.max_unsolved=1.",
    .no_sample = "nothing is computed",
    .read = read_study_job<PlatformExperimentJob, io::read_platform_experiment>,
};
const KnownJob kKnown(kKind);

}  // namespace

}  // namespace garra::cli
