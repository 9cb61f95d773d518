// Soft contacts of groups on the GPU: Newton's method and the certificate, a thread per sample, for each number of
// contacts. The host runs the fallback solvers, which few problems need.
#include "grasp/group.cuh"
#include "grasp/motion.cuh"

namespace garra::grasp {

namespace {

template <int N>
struct SoftIterateKernel {
  SoftProblems job;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    const auto problem = batch::load<S, solvers::FrictionProblem<S, N, 4>>(job.problems, i);
    auto state = job.guesses == nullptr ? job.solver.start(problem)
                                        : job.solver.start(problem, batch::load<S, Vec<S, 4 * N>>(job.guesses, i));
    while (any(job.solver.running(state))) job.solver.step(state);
    batch::store<S>(job.candidates, i, job.solver.candidate(state));
  }
};

template <int N>
struct SoftCertifyKernel {
  SoftProblems job;
  double* solutions;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    const auto problem = batch::load<S, solvers::FrictionProblem<S, N, 4>>(job.problems, i);
    const auto found = batch::load<S, solvers::Candidate<S, N, 4>>(job.candidates, i);
    batch::store<S>(solutions, i, solvers::certified(problem, found, job.solver.tolerance));
  }
};

}  // namespace

void iterate_soft_contacts(const SoftProblems& job) {
  contact::for_contacts<kSoftOnDevice>(job.contacts,
                                       [&](auto n) { cuda::for_each(job.count, SoftIterateKernel<n>{job}); });
  if (job.solver.cold) return;
  const ContactsInUse many(job.contacts);
  batch::Tiles<solvers::Candidate<double, kAnyContacts, 4>> candidates(job.count);
  fetch(candidates.data(), job.candidates, candidates.doubles());
  bool waits = false;
  for (std::int64_t i = 0; i < job.count; ++i)
    waits = waits || candidates.get(i).reason == static_cast<double>(Status::kIterationLimit);
  if (!waits) return;
  batch::Tiles<solvers::FrictionProblem<double, kAnyContacts, 4>> problems(job.count);
  fetch(problems.data(), job.problems, problems.doubles());
  contact::solve_remaining_soft(job.solver, problems.data(), candidates.data(), job.count);
  send(job.candidates, candidates.data(), candidates.doubles());
}

void certify_on_device(const SoftProblems& job, double* solutions) {
  contact::for_contacts<kSoftOnDevice>(job.contacts, [&](auto n) {
    cuda::for_each(job.count, SoftCertifyKernel<n>{job, solutions});
  });
}

void check_on_device(const SoftProblems& job, const GroupTask& task, const InstantMemory& at) {
  contact::for_contacts<kSoftOnDevice>(
      job.contacts, [&](auto n) { cuda::for_each(job.count, make_check<n, 4>(task.solver.tolerance, task.held, at)); });
}

}  // namespace garra::grasp
