// job = "grasp" with [simulation] in the program.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/jobs.hpp"
#include "garra/grasp.hpp"
#include "grasp/study/grasp_study.hpp"

namespace garra::cli {

/// Throws Error if the scenario's motion is impossible (grasp::Motion).
[[nodiscard]] std::unique_ptr<Job> make_grasp_time_job(const grasp::Scenario& scenario);

/// The scenario with warnings on its nominal grasp; `study` is that of its first instant.
[[nodiscard]] Resolved resolved_grasp(const grasp::Scenario& scenario, const grasp::Study& study);

/// The fingers' robot files, each once; a run folder keeps copies of them.
[[nodiscard]] std::vector<std::string> finger_files(const grasp::Scenario& scenario);

}  // namespace garra::cli
