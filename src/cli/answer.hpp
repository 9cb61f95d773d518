// The answer of a run as a person reads it in a terminal.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace garra::cli {

/// The run folder, and the sample of it to look at first (-1: none).
struct Look {
  std::string run;
  std::int64_t sample;
};

/// From summary.json and manifest.json of a grasp run.
[[nodiscard]] std::string answer_text(const nlohmann::ordered_json& summary, const nlohmann::ordered_json& manifest,
                                      const Look& look);

/// The same of a grasp run in time.
[[nodiscard]] std::string grasp_time_answer_text(const nlohmann::ordered_json& summary,
                                                 const nlohmann::ordered_json& manifest, const Look& look);

/// The same of a chain run.
[[nodiscard]] std::string chain_answer_text(const nlohmann::ordered_json& summary,
                                            const nlohmann::ordered_json& manifest, const Look& look);

/// The same of a map of singularities.
[[nodiscard]] std::string singularity_map_answer_text(const nlohmann::ordered_json& summary,
                                                      const nlohmann::ordered_json& manifest, const Look& look);

/// The same of a platform study.
[[nodiscard]] std::string platform_study_answer_text(const nlohmann::ordered_json& summary,
                                                     const nlohmann::ordered_json& manifest, const Look& look);

/// The same of an experiment on a platform.
[[nodiscard]] std::string platform_experiment_answer_text(const nlohmann::ordered_json& summary);

}  // namespace garra::cli
