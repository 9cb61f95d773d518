// A batch of friction contact problems on the GPU, for any solver: the same bodies as the scalar executor.
#pragma once

#include "contact/batch/arrays.hpp"
#include "contact/batch/body.hpp"
#include "contact/batch/cuda.hpp"
#include "contact/batch/solvers.hpp"
#include "garra/batch/on_device.cuh"

namespace garra::contact {

/// Compiled once, in certify.cu.
template <int N>
void certify_on_device(const CertifyBody<N>& certify, std::int64_t count);
/// Compiled once, in newton.cu; the grasp study iterates problems that never leave the device. With the ladder
/// beyond Newton, where the solver goes on.
template <int N>
void iterate_on_device(const IterateBody<solvers::FrictionNewton, N>& iterate, std::int64_t count);
/// Any other solver: its iteration is compiled where it is used.
template <class Solver, int N>
void iterate_on_device(const IterateBody<Solver, N>& iterate, std::int64_t count) {
  cuda::for_each(count, iterate);
}
/// The ladder beyond Newton; compiled once, in rescue.cu.
template <int N>
void rescue_on_device(const IterateBody<solvers::FrictionNewton, N>& newton, std::int64_t count);

/// Solves and judges the host's tiles: problems up, solutions down, candidates never leave the device.
template <class Solver, int N>
void solve_tiles(const Solver& solver, const HostTiles& t) {
  // Whole tiles travel, spare lanes included; the bodies run on `count` problems only.
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
  certify_on_device(CertifyBody<N>{t.tol, problems.data(), sliding.data(), candidates.data(), solutions.data()},
                    t.count);
  solutions.download(t.solutions);
}

/// Contacts that a solver has kernels for. The assembler takes minutes for a merit method with 32 variables.
template <class Solver>
inline constexpr int kMostOnDevice = kMostContacts<Solver> < kMaxContacts ? 3 : kMaxContacts;

/// What batch::on_device() calls for a solver. Throws Error(kNoDevice) above kMostOnDevice contacts.
template <class Solver>
void run_kernels(const Device&, const Solver& solver, const HostTiles& tiles) {
  if (tiles.contacts > kMostOnDevice<Solver>)
    throw Error(ExitCode::kNoDevice,
                "this method has no CUDA kernel for " + std::to_string(tiles.contacts) + " contacts",
                "use --device cpu, or the method auto");
  for_contacts<kMostOnDevice<Solver>>(tiles.contacts, [&](auto n) { solve_tiles<Solver, n>(solver, tiles); });
}

}  // namespace garra::contact
