// job = "grasp" in the program: failures/, the answer, replay with matrices, iterations and certificate.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/files/atomic_file.hpp"
#include "cli/jobs.hpp"
#include "garra/core/error.hpp"
#include "garra/io/problem_file.hpp"
#include "garra/io/scenario.hpp"
#include "grasp/command/grasp_answer.hpp"
#include "grasp/command/time_file.hpp"
#include "grasp/command/time_job.hpp"
#include "grasp/group/model.hpp"
#include "grasp/sample/nominal.hpp"
#include "grasp/study/grasp_study.hpp"

namespace garra::cli {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using grasp::Outcome;

Json rows(const std::vector<double>& v, std::size_t width) {
  Json out = Json::array();
  for (std::size_t k = 0; k < v.size(); k += width)
    out.push_back(std::vector<double>(v.begin() + static_cast<std::ptrdiff_t>(k),
                                      v.begin() + static_cast<std::ptrdiff_t>(k + width)));
  return out;
}

/// The condition of "held" that was not decided.
std::string reason(const grasp::Replay& r) {
  if (std::isnan(r.c.front())) return "the contact solver did not converge";
  if (std::isnan(r.resisted))
    return "whether forces can balance the wrench is not decided: it is within 1e-6 of the largest that they can";
  return "whether forces leave the contacts at rest is not decided: held.acceleration is within 1e-6 of the least that "
         "they can";
}

Json to_json(const grasp::Study& study, const grasp::Replay& r, std::int64_t sample) {
  static constexpr const char* state[3] = {"stick", "slip", "break"};
  Json j;
  j["sample"] = sample;
  j["outcome"] = grasp::to_string(r.outcome);
  j["can_be_balanced"] = std::isnan(r.resisted) ? Json(nullptr) : Json(r.resisted == 1);
  if (r.outcome == grasp::Outcome::kUnsolved) j["unsolved_because"] = reason(r);
  if (r.opens > 0 && r.outcome == grasp::Outcome::kHeld)
    j["note"] = "held without the contacts that open: " + std::to_string(r.opens) + " of " +
                std::to_string(r.mu.size()) +
                (static_cast<int>(r.mu.size()) - r.opens < 3 ? ", fewer than three are left" : "");
  j["non_unique"] = r.several;
  for (std::size_t k = 0; k < r.inputs.size(); ++k) j["inputs"][study.inputs()[k].name] = r.inputs[k];
  j["contacts"] = Json::array();
  for (std::size_t k = 0; k < r.mu.size(); ++k)
    j["contacts"].push_back({{"friction", r.mu[k]},
                             {"state", state[r.states[k]]},
                             {"c", {r.c[3 * k], r.c[3 * k + 1], r.c[3 * k + 2]}},
                             {"a", {r.a[3 * k], r.a[3 * k + 1], r.a[3 * k + 2]}}});
  for (std::size_t k = 0; k < r.moment.size(); ++k) j["contacts"][k]["moment"] = r.moment[k];
  j["A"] = rows(r.A, r.b.size());
  j["b"] = r.b;
  j["iterations"] = r.iterations;
  j["residual"] = r.residual;
  j["tolerance"] = study.scenario().tolerance;
  study::for_each_row(grasp::kColumns, [&](const auto& row, int k) {
    j["metrics"][row.words.name] = std::isfinite(r.metric[k]) ? Json(r.metric[k]) : Json(nullptr);
  });
  return j;
}

void print_sample(const Json& j, const grasp::Study& study) {
  std::string outcome = j["outcome"];
  if (const auto& held = study.outcome_words().front(); outcome == held.name) outcome = held.label;
  std::printf("sample %lld: %s\n\nInputs\n", j["sample"].get<long long>(), outcome.c_str());
  print_inputs(study.inputs(), j["inputs"]);
  std::printf("\nContacts: forces c [N], accelerations a [m/s^2]\n");
  std::printf("                friction  state        c_n        c_t        c_o        a_n        a_t        a_o\n");
  int k = 0;
  for (const auto& c : j["contacts"]) {
    std::printf("  contact %-4d %10.4f  %-5s", k++, c["friction"].get<double>(), c["state"].get<std::string>().c_str());
    for (const char* key : {"c", "a"})
      for (const auto& v : c[key]) v.is_null() ? std::printf(" %10s", "-") : std::printf(" %10.4g", v.get<double>());
    if (c.contains("moment") && !c["moment"].is_null()) std::printf("  moment %.4g N m", c["moment"].get<double>());
    std::printf("\n");
  }
  for (const char* key : {"unsolved_because", "note"})
    if (j.contains(key)) std::printf("  %s\n", j[key].get<std::string>().c_str());
  std::printf("\nMetrics\n");
  study::for_each_row(grasp::kColumns, [&](const auto& row, int) {
    std::string name = row.words.name;
    std::replace(name.begin(), name.end(), '_', ' ');
    const Json& value = j["metrics"][row.words.name];
    value.is_null()
        ? std::printf("  %-28s %12s\n", name.c_str(), "-")
        : std::printf("  %-28s %12.6g%s\n", name.c_str(), value.get<double>(), after_number(row.words.unit).c_str());
  });
  std::printf("\na = A c + b; columns: A | b\n");
  for (std::size_t r = 0; r < j["b"].size(); ++r) {
    for (const auto& v : j["A"][r]) std::printf(" %9.4f", v.get<double>());
    std::printf("  | %9.4f\n", j["b"][r].get<double>());
  }
  std::printf("\nCertificate: residual %.3e (tolerance %.0e) after %.0f Newton steps\n", j["residual"].get<double>(),
              j["tolerance"].get<double>(), j["iterations"].get<double>());
}

/// At most 10: up to 5 of the `unanswered` samples, then the failures closest to holding.
std::vector<std::int64_t> list_failures(const study::Total& total, const std::vector<std::int64_t>& unanswered) {
  std::vector<std::int64_t> samples(unanswered.begin(),
                                    unanswered.begin() + std::min<std::ptrdiff_t>(5, std::ssize(unanswered)));
  // `closest` ends with held samples if fewer than ten fail.
  for (const auto& e : total.closest.list()) {
    const bool known = std::find(samples.begin(), samples.end(), e.sample) != samples.end();
    if (e.outcome != static_cast<int>(Outcome::kHeld) && !known && samples.size() < 10) samples.push_back(e.sample);
  }
  return samples;
}

/// Removes SAMPLE.h5 files of an earlier end, and no other files.
void clear_failures(const std::string& failures) {
  std::error_code error;
  std::vector<fs::path> ours;
  for (const auto& entry : fs::directory_iterator(failures, error))
    if (entry.path().extension() == ".h5" &&
        // Only names of this job: digits alone.
        entry.path().stem().string().find_first_not_of("0123456789") == std::string::npos)
      ours.push_back(entry.path());
  for (const fs::path& file : ours) fs::remove(file, error);
  fs::remove(failures, error);  // if it is empty now
}

class GraspJob final : public Job {
 public:
  explicit GraspJob(const grasp::Scenario& scenario) : study_(scenario) {}

  [[nodiscard]] const study::Study& study() const override { return study_; }
  [[nodiscard]] Resolved resolved() const override { return resolved_grasp(study_.scenario(), study_); }
  [[nodiscard]] std::vector<std::string> models() const override { return finger_files(study_.scenario()); }

  // Rows come chunk by chunk; only the wanted sample numbers are kept.
  void look_at(const std::vector<double>& kept) override {
    const std::size_t row = study_.shape().row;
    for (std::size_t at = 0; at < kept.size() && unanswered_.size() < 10; at += row) {
      const auto outcome = static_cast<Outcome>(static_cast<int>(kept[at + 1]));
      if (outcome == Outcome::kUnsolved || outcome == Outcome::kNoSolution)
        unanswered_.push_back(static_cast<std::int64_t>(kept[at]));
    }
    for (std::size_t at = 0; at < kept.size(); at += row)
      first_of_.try_emplace(static_cast<int>(kept[at + 1]), static_cast<std::int64_t>(kept[at]));
  }

  /// grasp.h5: pictures of hand and object. failures/SAMPLE.h5: contact problems in the format of `garra contact
  /// solve`, unless the scenario keeps none.
  void write_files(const io::RunFolder& folder, const study::Total& total) const override {
    // Pictures always, contact problems only if the scenario keeps rows.
    write_motions(folder.file("grasp.h5"), study_.scenario(), pictures(total));
    clear_failures(folder.file("failures"));
    std::error_code error;
    const auto samples = list_failures(total, unanswered_);
    // Contact files have three numbers for each contact.
    const bool soft = study_.group() != nullptr && study_.group()->numbers > 3;
    if (study_.plan().keep == "none" || samples.empty() || soft) return;
    fs::create_directories(folder.file("failures"), error);
    if (error) throw Error(ExitCode::kInputOutput, folder.file("failures") + ": cannot be made: " + error.message());
    for (const std::int64_t sample : samples) {
      const auto r = study_.replay(sample);
      io::write_problems(folder.file("failures/" + std::to_string(sample) + ".h5"),
                         {static_cast<int>(r.mu.size()), 1, r.A, r.b, r.mu, r.mode, r.slip_velocity});
    }
  }

  [[nodiscard]] bool has_files(const io::RunFolder& folder) const override {
    return fs::exists(folder.file("grasp.h5"));
  }

  [[nodiscard]] std::string answer(const Json& summary, const Json& manifest, const std::string& run) const override {
    return answer_text(summary, manifest, {run, sample_to_replay(summary)});
  }

  /// The closest sample that does not hold, else the closest to the border.
  [[nodiscard]] std::int64_t sample_to_replay(const Json& summary) const override {
    for (const auto& e : summary["closest"])
      if (e["outcome"] != "held") return e["sample"];
    return summary["closest"].empty() ? -1 : summary["closest"][0]["sample"].get<std::int64_t>();
  }

  void replay(const ReplayArguments& a, std::int64_t sample) const override {
    const auto r = study_.replay(sample);
    if (!a.output.empty()) write_picture(a.output, sample);
    if (!a.problem.empty() && !r.moment.empty())
      throw Error(ExitCode::kUsage, "--problem: contact files have three numbers for each contact, soft contacts four",
                  "Leave it out: --format json has A and b.");
    if (!a.problem.empty())
      io::write_problems(a.problem, {static_cast<int>(r.mu.size()), 1, r.A, r.b, r.mu, r.mode, r.slip_velocity});
    const Json j = to_json(study_, r, sample);
    if (a.format == "json")
      std::printf("%s\n", j.dump(1).c_str());
    else
      print_sample(j, study_);
  }

 private:
  /// The nominal grasp, the samples listed in the report, and the first kept one of every outcome.
  [[nodiscard]] std::vector<NamedMotion> pictures(const study::Total& total) const {
    std::vector<NamedMotion> list = {nominal_picture(study_)};
    std::set<std::int64_t> shown;
    // A sample in several rankings is shown once.
    const auto add = [&](std::int64_t sample, const char* what) {
      if (shown.insert(sample).second) list.push_back(picture_of_sample(study_, sample, what));
    };
    for (const auto& e : total.closest.list()) add(e.sample, "close to the border: ");
    for (const auto& e : total.worst.list()) add(e.sample, "worst residual: ");
    for (const auto& [outcome, sample] : first_of_) add(sample, "first of its outcome: ");
    return list;
  }

  /// Together with the nominal grasp, for comparison.
  void write_picture(const std::string& path, std::int64_t sample) const {
    const fs::path folder = fs::path(path).parent_path();
    std::error_code error;
    if (!folder.empty()) fs::create_directories(folder, error);
    // Before the sample is computed, so that an unwritable file is found first.
    io::require_writable(path);
    write_motions(path, study_.scenario(), {nominal_picture(study_), picture_of_sample(study_, sample, "")});
  }

  grasp::Study study_;
  std::map<int, std::int64_t> first_of_;  ///< the first kept sample of each outcome
  std::vector<std::int64_t> unanswered_;  ///< the first kept samples that are unsolved or have no solution
};

}  // namespace

Resolved resolved_grasp(const grasp::Scenario& scenario, const grasp::Study& study) {
  Resolved resolved{io::resolved_toml(scenario), scenario.warnings};
  for (const std::string& text : grasp::nominal_warnings(study)) resolved.warnings.push_back(text);
  return resolved;
}

std::vector<std::string> finger_files(const grasp::Scenario& scenario) {
  std::vector<std::string> files;
  for (const grasp::Finger& finger : scenario.fingers)
    // Each file once, though several fingers may use it.
    if (finger.robot && std::find(files.begin(), files.end(), finger.file.path) == files.end())
      files.push_back(finger.file.path);
  return files;
}

namespace {

std::unique_ptr<Job> read_grasp_job(const io::ScenarioDocument& document) {
  const grasp::Scenario s = io::read_scenario(document);
  if (s.time) return make_grasp_time_job(s);
  return std::make_unique<GraspJob>(s);
}

constexpr JobKind kKind = {
    .name = "grasp",
    .event = "held",
    .quantity = "p_held",
    .tolerance_key = "solver.tolerance",
    .unsolved_key = "solver.max_unsolved",
    .unsolved_remedy =
        "Raise solver.max_iterations or solver.tolerance, or allow it with --set solver.max_unsolved=0.01.",
    .no_sample = "no sample lies near the border",
    .read = read_grasp_job,
    .contact_solver = true,
    .more_quantities = "p_no_slip p_resisted",
};
const KnownJob kKnown(kKind);

}  // namespace

}  // namespace garra::cli
