// A whole study in one call and in memory: what `garra run` does without its folder.
#include <algorithm>
#include <chrono>

#include "systems/grasp_study.hpp"

namespace garra::grasp {

namespace {

using Clock = std::chrono::steady_clock;

/// Why to stop after the samples so far; the empty string to go on. The rules of study::Plan.
std::string stop_reason(const Study& study, const study::Total& total, Clock::time_point start) {
  const study::Plan& plan = study.scenario().plan;
  if (total.count >= plan.samples) return "samples";
  if (total.count == 0) return "";
  if (plan.time_limit > 0 && Clock::now() - start > std::chrono::duration<double>(plan.time_limit)) return "time_limit";
  return plan.stop_half_width > 0 && study.widest_interval(total) <= 2 * plan.stop_half_width ? "half_width" : "";
}

}  // namespace

Robustness robustness(const Scenario& scenario, const Device& device) {
  const Study study(scenario);
  const study::Plan& plan = study.scenario().plan;
  const auto start = Clock::now();
  study::Total total{};
  std::string reason = stop_reason(study, total, start);
  for (; reason.empty(); reason = stop_reason(study, total, start)) {
    const study::Tally chunk = study.run(total.count, std::min(plan.chunk, plan.samples - total.count), device);
    total.add(chunk, study.shape().sums, study.shape().tracked);
  }

  const study::Estimate estimate = study.estimate(total);
  Robustness answer{total.count, estimate.probability, estimate.interval, {}, study.summary(total, reason)};
  const auto first = total.counts.begin() + study.layout().outcome;
  std::copy(first, first + kOutcomes, answer.outcomes.begin());
  return answer;
}

}  // namespace garra::grasp
