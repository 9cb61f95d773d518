// A job whose study is a study::SystemStudy, with answer and replay for every such system.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/jobs.hpp"
#include "garra/study/system.hpp"

namespace garra::cli {

/// Prints a row of results.h5, "human" or "json"; a number that stands for a name is printed as the name.
void print_row(const std::vector<study::RowColumn>& columns, const std::vector<double>& row, const std::string& format);

/// Job of a study::SystemStudy.
class SystemJob : public Job {
 public:
  /// `toml`: the scenario with every default filled in. `models`: files that it names.
  SystemJob(std::unique_ptr<study::RowStudy> study, std::string toml, std::vector<std::string> models = {})
      : study_(std::move(study)), toml_(std::move(toml)), models_(std::move(models)) {}

  [[nodiscard]] const study::Study& study() const override { return *study_; }
  [[nodiscard]] Resolved resolved() const override { return {toml_, {}}; }
  [[nodiscard]] std::vector<std::string> models() const override { return models_; }
  void write_files(const io::RunFolder& /*folder*/, const study::Total& /*total*/) const override {}
  [[nodiscard]] std::string answer(const nlohmann::ordered_json& summary, const nlohmann::ordered_json& manifest,
                                   const std::string& run) const override;
  /// The first sample.
  [[nodiscard]] std::int64_t sample_to_replay(const nlohmann::ordered_json& summary) const override;
  void replay(const ReplayArguments& arguments, std::int64_t sample) const override;

 private:
  std::unique_ptr<study::RowStudy> study_;
  std::string toml_;
  std::vector<std::string> models_;
};

}  // namespace garra::cli
