// A batch of friction contact problems on the GPU, for any solver: the same bodies as the scalar executor.
#pragma once

#include "for_each.cuh"
#include "systems/contact_arrays.hpp"
#include "systems/contact_batch.hpp"
#include "systems/contact_cuda.hpp"

namespace garra::contact {

/// Compiled once, in contact_certify.cu.
template <int N>
void certify_on_device(const CertifyBody<N>& certify, std::int64_t count);
/// Compiled once, in contact_newton.cu; the grasp study iterates problems that never leave the device. With the ladder
/// beyond Newton, where the solver goes on.
template <int N>
void iterate_on_device(const IterateBody<solvers::FrictionNewton, N>& iterate, std::int64_t count);
template <class Solver, int N>
void iterate_on_device(const IterateBody<Solver, N>& iterate, std::int64_t count) {
  cuda::for_each(count, iterate);
}
/// The ladder beyond Newton; compiled once, in contact_rescue.cu.
template <int N>
void rescue_on_device(const IterateBody<solvers::FrictionNewton, N>& newton, std::int64_t count);

template <class Solver, int N>
void solve_tiles(const Solver& solver, double tol, const TileArrays& t) {
  const std::int64_t padded = batch::tiles_for(t.count) * batch::kTile;
  constexpr int problem = batch::kFields<double, solvers::FrictionProblem<double, N>>;
  constexpr int slip = batch::kFields<double, solvers::SlidingContacts<double, N>>;
  constexpr int candidate = batch::kFields<double, solvers::Candidate<double, N>>;
  constexpr int solution = batch::kFields<double, solvers::FrictionSolution<double, N>>;
  cuda::Buffer<double> problems(padded * problem), sliding(t.sliding != nullptr ? padded * slip : 0),
      candidates(padded * candidate), solutions(padded * solution);
  problems.upload(t.problems);
  if (t.sliding != nullptr) sliding.upload(t.sliding);
  iterate_on_device(IterateBody<Solver, N>{solver, problems.data(), sliding.data(), candidates.data()}, t.count);
  certify_on_device(CertifyBody<N>{tol, problems.data(), sliding.data(), candidates.data(), solutions.data()}, t.count);
  solutions.download(t.solutions);
}

/// Contacts that a solver has kernels for. The assembler takes minutes for a merit method with 32 variables.
template <class Solver>
inline constexpr int kMostOnDevice = kMostContacts<Solver> < kMaxContacts ? 3 : kMaxContacts;

template <class Solver>
void solve_on_device(const Solver& solver, const CudaJob& job, const TileArrays& tiles) {
  if (job.contacts > kMostOnDevice<Solver>)
    throw Error(ExitCode::kNoDevice, "this method has no CUDA kernel for " + std::to_string(job.contacts) + " contacts",
                "use --device cpu, or the method auto");
  cuda::check(cudaSetDevice(job.device), "choosing the device");
  for_contacts<kMostOnDevice<Solver>>(job.contacts, [&](auto n) { solve_tiles<Solver, n>(solver, job.tol, tiles); });
}

}  // namespace garra::contact
