// job = "grasp_set" in the program: writes ranking.h5 and the answer. Its samples are replayed as those of any ranking.
#include <nlohmann/json.hpp>

#include "base/files/suggest.hpp"
#include "cli/answer_parts.hpp"
#include "cli/jobs.hpp"
#include "garra/core/error.hpp"
#include "garra/core/version.hpp"
#include "garra/io/grasp_set.hpp"
#include "grasp/command/rank.hpp"
#include "grasp/files/ranking_file.hpp"
#include "grasp/set/set_study.hpp"
#include "study/files/run_record.hpp"

namespace garra::cli {

namespace {

using grasp::GraspSetStudy;
using Json = nlohmann::ordered_json;

io::TextAttributes make_attributes(const io::RunFolder& folder, const GraspSetStudy& study) {
  const grasp::SetScenario& s = study.scenario();
  return {{"decided", "true"},
          {"hand", names_of(study.hand())[static_cast<std::size_t>(study.hand())]},
          {"set", s.file},
          {"set_checksum", s.checksum},
          {"study", grasp::describe_study(s.study)},
          {"study_toml", folder.read_text("scenario.toml")},
          {"study_overrides", joined(folder.overrides())},
          {"version", version()}};
}

std::string best_table(const Json& summary) {
  std::string out = "\n     grasp  P(held)   95 % interval\n";
  for (const Json& one : summary["best"])
    out += format("%10lld  %.5f  [%.4f, %.4f]\n", one["grasp"].get<long long>(), one["p_held"].get<double>(),
                  one["low"].get<double>(), one["high"].get<double>());
  return summary["best"].empty() ? std::string() : out;
}

std::string answer_text(const Json& s, const Json& manifest, const std::string& run) {
  const auto all = s["samples"].get<std::int64_t>(), ranked = s["outcomes"]["ranked"].get<std::int64_t>();
  const auto title = s["title"].get<std::string>();
  std::string out = (title.empty() ? std::string() : title + "\n") + std::to_string(ranked) + " of " +
                    std::to_string(all) + " grasps ranked, " + std::to_string(s["samples_each"].get<std::int64_t>()) +
                    " samples each; the hand is " + s["hand"].get<std::string>() + "\n";
  out += best_table(s) + "\n";
  out += counted("P(held) >= 95 %", s["sure"].get<std::int64_t>(), static_cast<double>(all));
  for (const auto& [name, n] : s["outcomes"].items())
    if (name != "ranked" && n > 0) out += counted(words(name), n, static_cast<double>(all));
  if (s["unsolved"] > 0) out += counted("unsolved samples", s["unsolved"], s["drawn"].get<double>());
  out += "\n";
  const auto seconds = manifest["seconds"].get<double>();
  if (seconds > 0)
    out += format("Speed              %.3g samples/s on ", s["drawn"].get<double>() / seconds) +
           manifest["device"].get<std::string>() + "\n";
  return out + "Ranking            " + run + "/" + kRankingFile + "\n";
}

class GraspSetJob final : public Job {
 public:
  explicit GraspSetJob(const grasp::SetScenario& scenario)
      : study_(scenario, std::make_unique<io::SetFile>(scenario.file, scenario.checksum)) {}

  [[nodiscard]] const study::Study& study() const override { return study_; }
  [[nodiscard]] Resolved resolved() const override { return {io::resolved_toml(study_.scenario()), {}}; }

  /// Refers to the set's path, because a set may be too large for a copy.
  [[nodiscard]] std::vector<std::string> pins() const override {
    const std::string& file = study_.scenario().file;
    return {"set.file=" + Json(file).dump(), "set.checksum=" + Json(io::SetFile::checksum_of(file)).dump()};
  }

  void write_files(const io::RunFolder& folder, const study::Total& /*total*/) const override {
    io::RankingWriter file(folder.file(kRankingFile), study_.plan().samples, make_attributes(folder, study_));
    const std::int64_t chunks = study::count_chunks(study_.plan());
    study_.rank([&](const GraspSetStudy::Rows& hear) { io::for_kept_rows(folder, chunks, hear); },
                [&](const grasp::Ranking& rows) { file.append(rows); });
    file.commit();
  }
  [[nodiscard]] bool has_files(const io::RunFolder& folder) const override { return folder.has(kRankingFile); }

  [[nodiscard]] std::string answer(const Json& summary, const Json& manifest, const std::string& run) const override {
    return answer_text(summary, manifest, run);
  }

  [[nodiscard]] std::int64_t sample_to_replay(const Json& /*summary*/) const override { return 0; }
  void replay(const ReplayArguments& a, std::int64_t /*sample*/) const override {
    throw Error(ExitCode::kUsage, a.run + ": has no ranking yet",
                "Finish it by `garra resume " + io::shell_word(a.run) + "`.");
  }

 private:
  GraspSetStudy study_;
};

std::unique_ptr<Job> read_set_job(const io::ScenarioDocument& document) {
  return std::make_unique<GraspSetJob>(io::read_set_scenario(document));
}

constexpr JobKind kKind = {
    .name = "grasp_set",
    .event = "held",
    .quantity = "p_held",
    .of_whom = " of the best grasp",
    .unsolved_remedy =
        "`unsolved` of ranking.h5 counts them for each grasp; allow it with --set sampling.max_unsolved=0.01.",
    .no_sample = "nothing is ranked",
    .read = read_set_job,
    .contact_solver = true,
};
const KnownJob kKnown(kKind);

}  // namespace

}  // namespace garra::cli
