#include "grasp/group/process.hpp"

#include "contact/batch/lanes.hpp"
#include "contact/batch/method.hpp"
#include "grasp/set/run_hand.hpp"

namespace garra::grasp {

namespace {

/// Runs the bodies on the host.
template <int D>
struct InstantOnHost {
  const GroupTask& task;
  Executor executor;
  const InstantMemory& at;

  [[nodiscard]] const GroupParts<Shown>* shown_model() const { return &task.model; }
  template <class Body>
  void run(const Body& body) const {
    for (std::int64_t i = 0; i < task.count; ++i) body.template operator()<double>(i);
  }
  void stand() const {
    for (std::int64_t i = 0; i < task.count; ++i) {
      GroupSampleView s = sample_at(task.model, at, i);
      stand_fingers(task.model, s);
    }
  }
  void solve() const {
    solve_on_host<D>(task, executor, task.count, at);
    check_on_host<D>(task, task.count, at);
  }
};

/// Candidates of problems in tiles; cold: from zero, so that a second solution may be found.
template <int D>
void iterate(const GroupTask& task, Executor executor, bool cold, const double* problems, double* candidates,
             std::int64_t count) {
  solvers::FrictionNewton solver = contact::make_auto_solver(task.solver);
  solver.cold = cold;
  if constexpr (D > 3)
    iterate_soft(executor, {solver, problems, candidates}, count);
  else if (!cold && task.solver.method != contact::Method::kAuto)
    contact::iterate_tiles(task.solver, {{executor}, problems, nullptr, candidates, nullptr, count});
  else
    contact::iterate(executor,
                     contact::IterateKernel<solvers::FrictionNewton, kAnyContacts>{
                         solver, problems, nullptr, candidates, nullptr, extent<kAnyContacts>()},
                     count);
}

}  // namespace

template <int D>
InstantMemory measure_instant(const GroupParts<Shown>& m) {
  double none = 0;
  Cutter<double> kept{&none};
  static_cast<void>(cut_sample(m, kept));
  const auto room = [](std::ptrdiff_t fields) { return GroupRoom{nullptr, static_cast<int>(fields)}; };
  const GroupRoom candidates = room(batch::fields<double, solvers::Candidate<double, kAnyContacts, D>>());
  const auto objects = std::ssize(m.objects);
  return {room(kept.at - &none),
          room(std::max(outcome_room<D>(6 * static_cast<int>(objects), m.rows()), RestRoom<D>::fields(m.rows() / D))),
          room(batch::fields<double, solvers::FrictionProblem<double, kAnyContacts, D>>()),
          candidates,
          candidates,
          room(batch::fields<double, Metrics<double, kAnyContacts>>()),
          room(batch::fields<double, SampleResult<double, kAnyContacts, D>>()),
          room(objects),
          room(std::ssize(m.draws))};
}

template <int D>
void run_on_host(const GroupTask& task, Executor executor, const InstantMemory& at) {
  run_group_samples<D>(task, InstantOnHost<D>{task, executor, at}, at);
}

template <int D>
void solve_on_host(const GroupTask& task, Executor executor, std::int64_t count, const InstantMemory& at) {
  iterate<D>(task, executor, false, at.problems.first, at.candidates.first, count);
  if (at.second.first != nullptr) iterate<D>(task, executor, true, at.problems.first, at.second.first, count);
}
template <int D>
void check_on_host(const GroupTask& task, std::int64_t count, const InstantMemory& at) {
  const auto check = make_check<kAnyContacts, D>(task.solver.tolerance, task.held, at);
  for (std::int64_t i = 0; i < count; ++i) check.template operator()<double>(i);
}

template InstantMemory measure_instant<3>(const GroupParts<Shown>&);
template InstantMemory measure_instant<4>(const GroupParts<Shown>&);
template void run_on_host<3>(const GroupTask&, Executor, const InstantMemory&);
template void run_on_host<4>(const GroupTask&, Executor, const InstantMemory&);
template void solve_on_host<3>(const GroupTask&, Executor, std::int64_t, const InstantMemory&);
template void solve_on_host<4>(const GroupTask&, Executor, std::int64_t, const InstantMemory&);
template void check_on_host<3>(const GroupTask&, std::int64_t, const InstantMemory&);
template void check_on_host<4>(const GroupTask&, std::int64_t, const InstantMemory&);

}  // namespace garra::grasp
