// Samples of a study of a group on the host (docs/theory/grasp-groups.md).
#pragma once

#include <vector>

#include "garra/batch/device.hpp"
#include "garra/contact.hpp"
#include "grasp/group/instant.hpp"

namespace garra::grasp {

/// Numbers of each sample in memory on the host, for contacts with D numbers each (GroupModel::numbers); the thread has
/// set the number of contacts.
template <int D>
[[nodiscard]] InstantMemory measure_instant(const GroupParts<Shown>& m);

/// Runs the samples of a task one after another; the solver on the executor.
template <int D>
void run_on_host(const GroupTask& task, Executor executor, const InstantMemory& at);
/// The contact solver alone of `count` samples, and the check; the thread has set the number of contacts.
template <int D>
void solve_on_host(const GroupTask& task, Executor executor, std::int64_t count, const InstantMemory& at);
template <int D>
void check_on_host(const GroupTask& task, std::int64_t count, const InstantMemory& at);

/// The contact problems of samples with contacts that slide, or of hard contacts.
[[nodiscard]] contact::Problems point_problems(const GroupModel& m, const std::vector<GroupSampleView>& samples);

/// Outcomes of samples with contacts that slide (docs/theory/grasp-sliding.md): solves their problems.
void solve_sliding(const Scenario& s, const std::vector<GroupSampleView>& samples, const contact::Problems& problems,
                   const InstantMemory& at);

}  // namespace garra::grasp
