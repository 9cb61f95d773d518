// job = "grasp" with [time] in the program.
#pragma once

#include <memory>

#include "cli/run_jobs.hpp"
#include "garra/grasp.hpp"

namespace garra::cli {

[[nodiscard]] std::unique_ptr<Job> make_grasp_time_job(const grasp::Scenario& scenario);

}  // namespace garra::cli
