// A whole study in one call and in memory: what `garra run` does without its folder.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>

#include "systems/grasp_study.hpp"
#include "systems/grasp_time_study.hpp"
#include "systems/study_summary.hpp"

namespace garra::grasp {

namespace {

using Clock = std::chrono::steady_clock;

/// Why to stop after the samples so far; the empty string to go on. The rules of study::Plan.
std::string stop_reason(const study::Study& study, const study::Total& total, Clock::time_point start) {
  const study::Plan& plan = study.plan();
  if (total.count >= plan.samples) return "samples";
  if (total.count == 0) return "";
  if (plan.time_limit > 0 && Clock::now() - start > std::chrono::duration<double>(plan.time_limit)) return "time_limit";
  return plan.stop_half_width > 0 && study.widest_interval(total) <= 2 * plan.stop_half_width ? "half_width" : "";
}

/// Runs the study; `finish` adds what is its own.
template <class AnyStudy, class Finish>
Robustness answer_of(const AnyStudy& study, const Device& device, const Finish& finish) {
  const study::Plan& plan = study.plan();
  const auto start = Clock::now();
  study::Total total{};
  std::string reason = stop_reason(study, total, start);
  for (; reason.empty(); reason = stop_reason(study, total, start)) {
    const study::Tally chunk = study.run(total.count, std::min(plan.chunk, plan.samples - total.count), device);
    total.add(chunk, study.shape().sums, study.shape().tracked);
  }
  const study::Estimate estimate = study.estimate(total);
  Robustness answer;
  answer.samples = total.count;
  answer.probability = estimate.probability;
  answer.interval = estimate.interval;
  answer.summary_json = study.summary(total, reason);
  finish(study, total, answer);
  return answer;
}

static_assert(kOutcomes >= kMotionEnds, "Robustness::outcomes serves both");

}  // namespace

Robustness robustness(const Scenario& scenario, const Device& device) {
  if (scenario.time)
    return answer_of(TimeStudy(scenario), device,
                     [](const TimeStudy& study, const study::Total& total, Robustness& answer) {
                       for (int k = 0; k < kMotionEnds; ++k)
                         answer.outcomes[static_cast<std::size_t>(k)] = study.ended(total, static_cast<MotionEnd>(k));
                       answer.no_slip = answer.can_be_held = std::nan("");
                     });
  return answer_of(Study(scenario), device, [](const Study& study, const study::Total& total, Robustness& answer) {
    for (int k = 0; k < kOutcomes; ++k)
      answer.outcomes[static_cast<std::size_t>(k)] = study::at(total, study.layout().outcome + k);
    answer.no_slip = study.no_slip(total).probability;
    answer.can_be_held = study.can_be_held(total).probability;
  });
}

}  // namespace garra::grasp
