// Trajectories of groups of objects on the GPU: a thread per sample. The state stays on the device, measures are copied
// at the end of a block, looks (outputs at chosen times) as they are taken.
#include "garra/batch/on_device.cuh"
#include "garra/batch/parallel.hpp"
#include "grasp/group.cuh"
#include "grasp/motion.cuh"

namespace garra::grasp {

void GroupBackend::find_rest(const GroupMemory& at, bool first) const {
  const bool redundant = job.run.redundant;
  job.run.rules.model.numbers > 3 ? run(GroupRestKernel<4>{there, at, first, redundant})
                                  : run(GroupRestKernel<3>{there, at, first, redundant});
}

namespace {

/// Solves the problems of a step with soft contacts: many contacts by threads of the host.
void solve_soft_contacts(const DeviceGroup& job, const Device& device, const GroupMemory& at) {
  if (const int contacts = job.run.rules.contacts(); contacts <= kSoftOnDevice) {
    const SoftProblems problems{contact::make_auto_solver(job.run.solver),
                                at.problems.first,
                                at.guesses.first,
                                at.candidates.first,
                                contacts,
                                job.count};
    iterate_soft_contacts(problems);
    return certify_on_device(problems, at.solutions.first);
  }
  HostMemory host(job.count);
  GroupMemory here = at;
  for (GroupRoom* room : {&here.problems, &here.guesses, &here.candidates, &here.solutions})
    room->first = host.take(room->fields);
  fetch(here.problems.first, at.problems.first, host.padded() * at.problems.fields);
  fetch(here.guesses.first, at.guesses.first, host.padded() * at.guesses.fields);
  constexpr std::int64_t kTogether = 128;
  batch::for_blocks(study_threads(device), {job.count, kTogether}, [&](std::int64_t first, std::int64_t count) {
    const ContactsInUse many(job.run.rules.contacts());
    GroupMemory part = here;
    for (GroupRoom* room : {&part.problems, &part.guesses, &part.candidates, &part.solutions})
      room->first += first * room->fields;
    solve_soft(job.run.solver, Executor::kLanes, part, count);
  });
  send(at.solutions.first, here.solutions.first, host.padded() * at.solutions.fields);
}

}  // namespace

void GroupBackend::solve(const GroupMemory& at) const {
  if (job.run.rules.model.numbers > 3) return solve_soft_contacts(job, device, at);
  const int contacts = job.run.rules.contacts();
  const double* problems = at.problems.first;
  double* candidates = at.candidates.first;
  const solvers::FrictionNewton solver = contact::make_auto_solver(job.run.solver);
  if (job.run.solver.method != contact::Method::kAuto) {
    const ContactsInUse many(contacts);
    contact::iterate_tiles(job.run.solver, {device, problems, nullptr, candidates, at.guesses.first, job.count});
  }
  contact::for_contacts(contacts, [&](auto n) {
    if (job.run.solver.method == contact::Method::kAuto)
      contact::iterate_on_device(
          contact::IterateKernel<solvers::FrictionNewton, n>{solver, problems, nullptr, candidates, at.guesses.first,
                                                             contacts},
          job.count);
    contact::certify_on_device(
        contact::CertifyKernel<n>{solver.tolerance, problems, nullptr, candidates, at.solutions.first, contacts},
        job.count);
  });
}

void run_kernels(const Device& device, const DeviceGroup& job) {
  const std::int64_t padded = batch::tiles_for(job.count) * batch::kTile;
  ListsThere lists;
  const GroupRules rules = show_rules(job.run.rules, [&](auto list) { return lists(list); });
  cuda::Buffer<GroupRules> there(1);
  there.upload(&rules);
  DeviceMemory memory(padded);
  GroupMemory at = job.at;
  GroupRoom looks{nullptr, grasp::looks(job.run.rules.contacts())};
  // Zero, as on the host: blocks of matrices that nothing couples are never written.
  for (GroupRoom* room : {&at.kept, &at.scratch, &at.rest, &at.problems, &at.guesses, &at.candidates, &at.solutions,
                          &at.moves, &at.measures, &at.lost, &looks}) {
    room->first = memory.take(room->fields);
    cuda::check(cudaMemset(room->first, 0, static_cast<std::size_t>(padded * room->fields) * sizeof(double)),
                "clearing memory");
  }
  const auto all = [&](const GroupRoom& room) { return padded * room.fields; };
  send(at.kept.first, job.at.kept.first, all(at.kept));
  send(at.measures.first, job.at.measures.first, all(at.measures));
  std::vector<double> seen(static_cast<std::size_t>(all(looks)));
  run_group_steps(job.run, GroupBackend{job, device, there.data(), looks}, at, job.looked,
                  [&](std::int64_t k, const StepNow&) {
                    if (!job.looked(k)) return;
                    fetch(seen.data(), looks.first, std::ssize(seen));
                    job.take_looks(k, seen.data());
                  });
  fetch(job.at.measures.first, at.measures.first, all(at.measures));
  fetch(job.at.lost.first, at.lost.first, all(at.lost));
}

}  // namespace garra::grasp

template struct garra::batch::Kernels<garra::grasp::DeviceGroup>;
