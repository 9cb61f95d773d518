// The same for more than eight contacts (compile flags: cmake/cuda.cmake).
#include "grasp/set_hand_balance.cuh"

namespace garra::grasp {

template void balance_on_device(std::int64_t, const HandBalanceKernel<16>&);
template void balance_on_device(std::int64_t, const HandTorqueKernel<16>&);

/// Tiles of the host have exactly the numbers of `contacts` contacts. The kernel's have memory for
/// N, with the same leading numbers, except for the candidate's members behind its forces.
void run_kernels(const Device&, const NewtonTiles& job) {
  constexpr int N = kMaxSetContacts;
  using Problem = solvers::FrictionProblem<double, N>;
  using Candidate = solvers::Candidate<double, N>;
  constexpr std::int64_t kProblem = batch::kFields<double, Problem>, kCandidate = batch::kFields<double, Candidate>,
                         kRest = kCandidate - 3 * N;
  const std::int64_t parts = std::ssize(job.parts), tiles = job.each / batch::kTile, k = job.contacts,
                     problem = (9 * k + 4) * k, candidate = 3 * k + kRest;
  const auto problems = contact::make_tiles<Problem>(parts * job.each);
  const auto candidates = contact::make_tiles<Candidate>(parts * job.each);
  const auto copy = [&](double* to, const double* from, std::int64_t fields, cudaMemcpyKind kind) {
    cuda::check(cudaMemcpy(to, from, static_cast<std::size_t>(batch::kTile * fields) * sizeof(double), kind),
                "copying");
  };
  for (std::int64_t t = 0; t < parts * tiles; ++t)
    copy(problems.data() + t * batch::kTile * kProblem,
         job.parts[static_cast<std::size_t>(t / tiles)].problems + t % tiles * batch::kTile * problem, problem,
         cudaMemcpyHostToDevice);
  contact::iterate_on_device(
      contact::IterateKernel<solvers::FrictionNewton, N>{job.solver, problems.data(), nullptr, candidates.data(),
                                                         nullptr, job.contacts},
      parts * job.each);
  for (std::int64_t t = 0; t < parts * tiles; ++t) {
    double* to = job.parts[static_cast<std::size_t>(t / tiles)].candidates + t % tiles * batch::kTile * candidate;
    const double* from = candidates.data() + t * batch::kTile * kCandidate;
    copy(to, from, 3 * k, cudaMemcpyDeviceToHost);
    copy(to + 3 * k * batch::kTile, from + 3 * N * batch::kTile, kRest, cudaMemcpyDeviceToHost);
  }
}
}  // namespace garra::grasp

template struct garra::batch::Kernels<garra::grasp::HandJob<16>>;
template struct garra::batch::Kernels<garra::grasp::NewtonTiles>;
