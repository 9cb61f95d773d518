// The same of more than eight contacts (cmake/cuda.cmake says how it is compiled).
#include "grasp/set_hand_balance.cuh"

namespace garra::grasp {

template void balance_on_device(std::int64_t, const HandBalanceBody<16>&);
template void balance_on_device(std::int64_t, const HandTorqueBody<16>&);

void run_kernels(const Device&, const NewtonTiles<kMostSetContacts>& job) {
  constexpr int N = kMostSetContacts;
  const std::int64_t parts = std::ssize(job.parts);
  const auto problems = contact::tiles_of<solvers::FrictionProblem<double, N>>(parts * job.each);
  const auto candidates = contact::tiles_of<solvers::Candidate<double, N>>(parts * job.each);
  const auto copy = [&](auto* to, const auto* from, std::int64_t fields, cudaMemcpyKind kind) {
    cuda::check(cudaMemcpy(to, from, static_cast<std::size_t>(job.each * fields) * sizeof(double), kind), "copying");
  };
  constexpr std::int64_t kProblem = batch::kFields<double, solvers::FrictionProblem<double, N>>,
                         kCandidate = batch::kFields<double, solvers::Candidate<double, N>>;
  for (std::int64_t k = 0; k < parts; ++k)
    copy(problems.data() + k * job.each * kProblem, job.parts[static_cast<std::size_t>(k)].problems, kProblem,
         cudaMemcpyHostToDevice);
  contact::iterate_on_device(
      contact::IterateBody<solvers::FrictionNewton, N>{job.solver, problems.data(), nullptr, candidates.data()},
      parts * job.each);
  for (std::int64_t k = 0; k < parts; ++k)
    copy(job.parts[static_cast<std::size_t>(k)].candidates, candidates.data() + k * job.each * kCandidate, kCandidate,
         cudaMemcpyDeviceToHost);
}

}  // namespace garra::grasp

template struct garra::batch::Kernels<garra::grasp::HandJob<16>>;
template struct garra::batch::Kernels<garra::grasp::NewtonTiles<32>>;
