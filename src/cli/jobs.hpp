// Interface of the jobs of `garra run`, used by run, resume, status, replay and check.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "garra/io/run_folder.hpp"
#include "garra/io/scenario_document.hpp"
#include "garra/study/engine.hpp"

namespace garra::cli {

/// Arguments of `garra replay`.
struct ReplayArguments {
  std::string run, format = "human";
  std::string problem;  ///< file for A, b, mu (grasp)
  std::string output;   ///< file for the picture (grasp), trajectory (chain, grasp in time) or series (platform)
  std::int64_t sample = -1;
};

/// A scenario after parsing, with its warnings.
struct Resolved {
  std::string toml;                   ///< with every default filled in
  std::vector<std::string> warnings;  ///< parts that may be unintended
};

/// A study with the program's additions: files, words, replay.
class Job {
 public:
  virtual ~Job() = default;
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  [[nodiscard]] virtual const study::Study& study() const = 0;
  [[nodiscard]] virtual Resolved resolved() const = 0;
  /// Files that the scenario names; the run folder keeps copies of them.
  [[nodiscard]] virtual std::vector<std::string> models() const { return {}; }
  /// Overrides that the run folder adds for inputs outside of the scenario: the path of a file that is too large to be
  /// copied.
  [[nodiscard]] virtual std::vector<std::string> pins() const { return {}; }
  /// Visits the rows that each chunk keeps, in order.
  virtual void look_at(const std::vector<double>& /*kept*/) {}
  /// Writes the files of the run folder beyond results.h5 and summary.json.
  virtual void write_files(const io::RunFolder& folder, const study::Total& total) const = 0;
  /// Whether all of these files exist.
  [[nodiscard]] virtual bool has_files(const io::RunFolder& /*folder*/) const { return true; }
  /// The answer for people, from summary.json and manifest.json.
  [[nodiscard]] virtual std::string answer(const nlohmann::ordered_json& summary,
                                           const nlohmann::ordered_json& manifest, const std::string& run) const = 0;
  /// The sample to look at first; -1 if there is none.
  [[nodiscard]] virtual std::int64_t sample_to_replay(const nlohmann::ordered_json& summary) const = 0;
  /// Prints a sample, and writes the files that the arguments ask for.
  virtual void replay(const ReplayArguments& arguments, std::int64_t sample) const = 0;

 protected:
  Job() = default;
};

/// A job whose study owns a scenario with a model file. `kToml`: its text with every default.
template <class Study, class ScenarioType, std::string (*kToml)(const ScenarioType&)>
class StudyJob : public Job {
 public:
  using Scenario = ScenarioType;
  explicit StudyJob(const Scenario& scenario) : study_(scenario) {}

  [[nodiscard]] const Study& study() const override { return study_; }
  [[nodiscard]] Resolved resolved() const override {
    const Scenario& scenario = study_.scenario();
    if constexpr (requires { scenario.robot; })
      return {kToml(scenario), scenario.robot.warnings};
    else
      return {kToml(scenario), scenario.platform.notes};
  }
  [[nodiscard]] std::vector<std::string> models() const override { return {study_.scenario().model_file}; }

 protected:
  Study study_;
};

/// A StudyJob of the scenario that kRead finds in a document.
template <class Kind, typename Kind::Scenario (*kRead)(const io::ScenarioDocument&)>
std::unique_ptr<Job> read_study_job(const io::ScenarioDocument& document) {
  return std::make_unique<Kind>(kRead(document));
}

/// Prints a sample of `garra replay` as JSON, or by print(json).
template <class Json, class Print>
void print_replay(const std::string& format, const Json& sample, const Print& print) {
  if (format == "json")
    std::printf("%s\n", sample.dump(1).c_str());
  else
    print(sample);
}

/// Names and words of the program for a job of the registry (base/scenario/jobs.hpp).
struct JobKind {
  const char* name;                ///< as in the scenario
  const char* event;               ///< event of the probability
  const char* quantity;            ///< the main quantity that --require checks
  const char* of_whom = "";        ///< "" or the design that it refers to
  const char* tolerance_key = "";  ///< key that --tolerance sets; "": none
  const char* unsolved_key = "sampling.max_unsolved";
  const char* unsolved_remedy;
  const char* no_sample;  ///< why there may be no sample to look at first
  std::unique_ptr<Job> (*read)(const io::ScenarioDocument& document);
  bool contact_solver = false;       ///< --method and --effort set solver.method and solver.effort
  const char* more_quantities = "";  ///< further quantities that --require may check, separated by blanks
};

/// Registers a job with the program: one constant of this type in the job's own file.
struct KnownJob {
  explicit KnownJob(const JobKind& kind);
};

/// The scenario of a run folder, with the overrides that it was run with.
[[nodiscard]] io::ScenarioDocument read_scenario_document(const io::RunFolder& folder);

/// The job of a scenario. Throws Error(kInvalidFile) for a job that this version does not have.
[[nodiscard]] const JobKind& job_kind(const io::ScenarioDocument& document);

/// The quantities of --require in all jobs: "grasp: p_held, chain: p_settled, of the best design, ...".
[[nodiscard]] std::string all_quantities();
/// Whether --require may check the quantity in this job.
[[nodiscard]] bool has_quantity(const JobKind& kind, const std::string& name);
/// Whether some job has the quantity.
[[nodiscard]] bool is_quantity(const std::string& name);

}  // namespace garra::cli
