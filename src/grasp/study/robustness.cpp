// Runs a whole study in one call and in memory: `garra run` without its folder.
#include <algorithm>
#include <cmath>

#include "grasp/study/grasp_study.hpp"
#include "grasp/time/time_study.hpp"
#include "study/summary.hpp"

namespace garra::grasp {

namespace {

static_assert(kOutcomes >= kMotionEnds, "Robustness::outcomes serves both");

Robustness make_robustness(const study::Study& study, const study::RunResult& run) {
  const study::Estimate estimate = study.estimate(run.total);
  Robustness answer;
  answer.samples = run.total.count;
  answer.probability = estimate.probability;
  answer.interval = estimate.interval;
  answer.summary_json = study.summary(run.total, study::to_string(run.end));
  return answer;
}

Robustness robustness_in_time(const Scenario& scenario, const Device& device) {
  const TimeStudy study(scenario);
  const study::RunResult run = study::run(study, {.device = device});
  Robustness answer = make_robustness(study, run);
  for (int k = 0; k < kMotionEnds; ++k)
    answer.outcomes[static_cast<std::size_t>(k)] = study.ended(run.total, static_cast<MotionEnd>(k));
  answer.no_slip = answer.resisted = std::nan("");
  return answer;
}

}  // namespace

std::unique_ptr<study::Study> make_study(const Scenario& scenario) {
  if (scenario.time) return std::make_unique<TimeStudy>(scenario);
  return std::make_unique<Study>(scenario);
}

Robustness robustness(const Scenario& scenario, const Device& device) {
  if (scenario.time) return robustness_in_time(scenario, device);
  const Study study(scenario);
  // Samples are not returned one by one: they need not be kept.
  study::Plan plan = study.plan();
  plan.keep = "none";
  // Progress is not reported: if nothing ends the run early, chunks are as large as a GPU takes at once.
  if (plan.stop_half_width == 0 && plan.time_limit == 0) plan.chunk = std::max(plan.chunk, 1024 * study::kBlock);
  const study::RunResult run = study::run(Study(study, plan), {.device = device});
  Robustness answer = make_robustness(study, run);
  for (int k = 0; k < kOutcomes; ++k)
    answer.outcomes[static_cast<std::size_t>(k)] = study::at(run.total, study.layout().outcome + k);
  answer.no_slip = study.no_slip(run.total).probability;
  answer.resisted = study.resisted(run.total).probability;
  return answer;
}

}  // namespace garra::grasp
