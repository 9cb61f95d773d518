// job = "grasp" in the program: failures/, the answer, replay with matrices, iterations and certificate.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/answer.hpp"
#include "cli/run_grasp_time.hpp"
#include "cli/run_jobs.hpp"
#include "garra/core/error.hpp"
#include "garra/io/problem_file.hpp"
#include "garra/io/scenario.hpp"
#include "systems/grasp_study.hpp"

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

Json to_json(const grasp::Study& study, const grasp::Replay& r, std::int64_t sample) {
  static constexpr const char* state[3] = {"stick", "slip", "break"};
  Json j;
  j["sample"] = sample;
  j["outcome"] = grasp::to_string(r.outcome);
  for (std::size_t k = 0; k < r.inputs.size(); ++k) j["inputs"][study.inputs()[k].name] = r.inputs[k];
  j["contacts"] = Json::array();
  for (std::size_t k = 0; k < r.mu.size(); ++k)
    j["contacts"].push_back({{"friction", r.mu[k]},
                             {"state", state[r.states[k]]},
                             {"c", {r.c[3 * k], r.c[3 * k + 1], r.c[3 * k + 2]}},
                             {"a", {r.a[3 * k], r.a[3 * k + 1], r.a[3 * k + 2]}}});
  j["A"] = rows(r.A, r.b.size());
  j["b"] = r.b;
  j["iterations"] = r.iterations;
  j["residual"] = r.residual;
  j["tol"] = study.scenario().tol;
  static constexpr const char* metric[grasp::kMetrics] = {"friction_margin", "critical_friction", "load_factor",
                                                          "wrench_radius", "minimum_squeeze"};
  for (int k = 0; k < grasp::kMetrics; ++k)
    j["metrics"][metric[k]] = std::isfinite(r.metric[k]) ? Json(r.metric[k]) : Json(nullptr);
  return j;
}

void print(const Json& j) {
  std::printf("sample %lld: %s\n\nInputs\n", j["sample"].get<long long>(), j["outcome"].get<std::string>().c_str());
  for (const auto& [name, value] : j["inputs"].items())
    std::printf("  %-28s %12.6g\n", name.c_str(), value.get<double>());
  std::printf("\nContacts        friction  state        c_n        c_t        c_o        a_n        a_t        a_o\n");
  int k = 0;
  for (const auto& c : j["contacts"]) {
    std::printf("  contact %-4d %10.4f  %-5s", ++k, c["friction"].get<double>(), c["state"].get<std::string>().c_str());
    for (const char* key : {"c", "a"})
      for (const auto& v : c[key]) v.is_null() ? std::printf(" %10s", "-") : std::printf(" %10.4g", v.get<double>());
    std::printf("\n");
  }
  std::printf("\nMetrics\n");
  for (const auto& [key, value] : j["metrics"].items()) {
    std::string name = key;
    std::replace(name.begin(), name.end(), '_', ' ');
    value.is_null() ? std::printf("  %-28s %12s\n", name.c_str(), "-")
                    : std::printf("  %-28s %12.6g\n", name.c_str(), value.get<double>());
  }
  std::printf("\na = A c + b; columns: A | b\n");
  for (std::size_t r = 0; r < j["b"].size(); ++r) {
    for (const auto& v : j["A"][r]) std::printf(" %9.4f", v.get<double>());
    std::printf("  | %9.4f\n", j["b"][r].get<double>());
  }
  std::printf("\nCertificate: residual %.3e (tolerance %.0e) after %.0f Newton steps\n", j["residual"].get<double>(),
              j["tol"].get<double>(), j["iterations"].get<double>());
}

/// At most 10: up to 5 of the `unanswered` samples, then the failures closest to holding.
std::vector<std::int64_t> failures_of(const study::Total& total, const std::vector<std::int64_t>& unanswered) {
  std::vector<std::int64_t> samples(unanswered.begin(),
                                    unanswered.begin() + std::min<std::ptrdiff_t>(5, std::ssize(unanswered)));
  for (const auto& e : total.closest.list()) {
    const bool known = std::find(samples.begin(), samples.end(), e.sample) != samples.end();
    if (e.outcome != static_cast<int>(Outcome::kHeld) && !known && samples.size() < 10) samples.push_back(e.sample);
  }
  return samples;
}

class GraspJob final : public Job {
 public:
  explicit GraspJob(const grasp::Scenario& scenario) : study_(scenario) {}

  [[nodiscard]] const study::Study& study() const override { return study_; }
  [[nodiscard]] std::vector<std::string> models() const override { return finger_files(study_.scenario()); }

  void look_at(const std::vector<double>& kept) override {
    const std::size_t row = study_.shape().row;
    for (std::size_t at = 0; at < kept.size() && unanswered_.size() < 10; at += row) {
      const auto outcome = static_cast<Outcome>(static_cast<int>(kept[at + 1]));
      if (outcome == Outcome::kUnsolved || outcome == Outcome::kNoSolution)
        unanswered_.push_back(static_cast<std::int64_t>(kept[at]));
    }
  }

  /// failures/SAMPLE.h5: contact problems as `garra contact solve` reads them. None where the scenario keeps none.
  void write_files(const io::RunFolder& folder, const study::Total& total) const override {
    std::error_code error;
    fs::remove_all(folder.file("failures"), error);
    const auto samples = failures_of(total, unanswered_);
    if (study_.plan().keep == "none" || samples.empty()) return;
    fs::create_directories(folder.file("failures"), error);
    if (error) throw Error(ExitCode::kInputOutput, folder.file("failures") + ": cannot be made: " + error.message());
    for (const std::int64_t sample : samples) {
      const auto r = study_.replay(sample);
      io::write_problems(folder.file("failures/" + std::to_string(sample) + ".h5"),
                         {static_cast<int>(r.mu.size()), 1, r.A, r.b, r.mu});
    }
  }

  [[nodiscard]] std::string answer(const Json& summary, const Json& manifest, const std::string& run) const override {
    return answer_text(summary, manifest, {run, sample_to_replay(summary)});
  }

  /// The closest that does not hold, else the closest to the border.
  [[nodiscard]] std::int64_t sample_to_replay(const Json& summary) const override {
    for (const auto& e : summary["closest"])
      if (e["outcome"] != "held") return e["sample"];
    return summary["closest"].empty() ? -1 : summary["closest"][0]["sample"].get<std::int64_t>();
  }

  void replay(const ReplayArguments& a, std::int64_t sample) const override {
    if (!a.output.empty())
      throw Error(ExitCode::kUsage, "-o " + a.output + ": a sample of a grasp study has no trajectory",
                  "Give --problem FILE for its contact problem.");
    const auto r = study_.replay(sample);
    if (!a.problem.empty()) io::write_problems(a.problem, {static_cast<int>(r.mu.size()), 1, r.A, r.b, r.mu});
    const Json j = to_json(study_, r, sample);
    if (a.format == "json")
      std::printf("%s\n", j.dump(1).c_str());
    else
      print(j);
  }

 private:
  grasp::Study study_;
  std::vector<std::int64_t> unanswered_;  ///< the first kept samples that are unsolved or have no solution
};

}  // namespace

std::vector<std::string> finger_files(const grasp::Scenario& scenario) {
  std::vector<std::string> files;
  for (const grasp::Finger& finger : scenario.fingers)
    if (finger.robot && std::find(files.begin(), files.end(), finger.file.path) == files.end())
      files.push_back(finger.file.path);
  return files;
}

std::unique_ptr<Job> read_grasp_job(const std::string& scenario, const std::vector<std::string>& overrides) {
  const grasp::Scenario s = io::read_scenario(scenario, overrides);
  if (s.time) return make_grasp_time_job(s);
  return std::make_unique<GraspJob>(s);
}

}  // namespace garra::cli
