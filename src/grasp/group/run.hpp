// Runs the steps of samples of a group side by side: one loop for host and GPU. `Backend` runs bodies and solver.
#pragma once

#include <functional>

#include "contact/batch/auto_solver.hpp"
#include "contact/batch/body.hpp"
#include "garra/batch/interrupt.hpp"
#include "grasp/group/rest.hpp"
#include "grasp/time/loads.hpp"

namespace garra::grasp {

/// A scenario of a group with [simulation], resolved. Host only.
struct GroupRun {
  const GroupModel& model;
  std::vector<FingerLimits> limits;
  std::vector<ContactKind> kinds;
  LoadClock clock;
  std::int64_t steps;
  bool redundant;  ///< contacts, so that their forces are not unique
  contact::Options solver;
  GroupRules rules;
};

/// The same rules, with lists that show(list) returns.
template <class Show>
GroupRules show_rules(const GroupRules& r, const Show& show) {
  GroupRules out = r;
  out.model = show_parts<Shown>(r.model, show);
  out.limits = show(r.limits);
  out.kinds = show(r.kinds);
  return out;
}

/// Solutions of soft contacts' problems in tiles of the host; the thread has set the number of contacts.
void solve_soft(const contact::Options& options, Executor executor, const GroupMemory& at, std::int64_t count);

/// Samples for kernels/grasp/group.cu (garra/batch/on_device.hpp).
struct DeviceGroup {
  const GroupRun& run;
  GroupMemory at;  ///< numbers of each sample; `kept` and `measures`, started, and `lost` are memory of the host
  std::int64_t count;
  std::function<bool(std::int64_t step)> looked;                           ///< whether a step is looked at
  std::function<void(std::int64_t step, const double* looks)> take_looks;  ///< takes its tiles of MotionLook
};

/// Runs the steps of samples that have been started. looked(k): whether step k is looked at; after(k, its data)
/// follows it.
template <class Backend, class Looked, class After>
void run_group_steps(const GroupRun& run, const Backend& on, const GroupMemory& at, const Looked& looked,
                     const After& after) {
  const GroupRules* rules = on.shown_rules();
  for (std::int64_t k = 0; k < run.steps; ++k) {
    check_interrupt();
    if (!on.any_running()) return;
    const double dt = run.rules.step.step, end = static_cast<double>(k + 1) * dt;
    StepNow step;
    step.now = run.clock.at(static_cast<double>(k) * dt, end);
    step.first = k == 0;
    on.run(GroupPlaceKernel{rules, at, step});
    for (int f = 0; f < static_cast<int>(run.model.fingers.size()); ++f) on.run_finger(at, step.first, f);
    on.run(GroupProblemKernel{rules, at, step.first});
    if (step.first || run.redundant) on.find_rest(at, step.first);
    on.solve(at);
    on.run(GroupTakeKernel{rules, at});
    on.run(GroupCloseKernel{rules, at, end, step.first, looked(k) ? on.looks() : GroupRoom{}});
    after(k, step);
  }
}

}  // namespace garra::grasp
