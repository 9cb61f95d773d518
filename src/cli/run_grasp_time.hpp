// job = "grasp" with [time] in the program.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/run_jobs.hpp"
#include "garra/grasp.hpp"

namespace garra::cli {

/// `models` are the files that the scenario names.
[[nodiscard]] std::unique_ptr<Job> make_grasp_time_job(const grasp::Scenario& scenario,
                                                       const std::vector<std::string>& models);

}  // namespace garra::cli
