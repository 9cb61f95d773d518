// A batch of friction contact problems on the GPU, for any solver: the same bodies as the scalar executor.
#pragma once

#include <algorithm>

#include "contact/batch/arrays.hpp"
#include "contact/batch/body.hpp"
#include "contact/batch/contact_cuda.hpp"
#include "contact/batch/diagnostics.hpp"
#include "garra/batch/rows.cuh"
#include "garra/solvers/friction_newton.hpp"

namespace garra::solvers {
struct FrictionNsgs;
struct FrictionAdmm;
}  // namespace garra::solvers

namespace garra::contact {

/// Compiled once, in certify.cu.
template <int N>
void certify_on_device(const CertifyKernel<N>& certify, std::int64_t count);
/// Compiled once, in newton.cu, newton_team.cu and newton_large.cu; the grasp study iterates
/// problems that never leave the device. Includes the fallback solvers if the solver uses them.
template <int N>
void iterate_on_device(const IterateKernel<solvers::FrictionNewton, N>& iterate, std::int64_t count);
/// Most contacts of a problem that one thread solves.
inline constexpr int kMaxInThread = 3;
/// The same for at most kMaxInThread contacts, for problems that are symmetric to the bit and have
/// neither sliding contacts nor guesses: half of A's registers. Compiled once, in newton.cu.
template <int N>
void iterate_symmetric_on_device(const IterateKernel<solvers::FrictionNewton, N>& iterate, std::int64_t count);
/// FallbackKernel; compiled once, in fallback.cu.
template <int N>
void fallback_on_device(const IterateKernel<solvers::FrictionNewton, N>& job, bool newton, std::int64_t count);
/// The same on the host, for more contacts; compiled once, in newton_large.cu.
template <int N>
void fallback_on_host(const IterateKernel<solvers::FrictionNewton, N>& job, bool newton, std::int64_t count);
template <int N>
void run_fallback(const IterateKernel<solvers::FrictionNewton, N>& job, bool newton, std::int64_t count) {
  if constexpr (kTakesFewer<N>)
    fallback_on_host(job, newton, count);
  else
    fallback_on_device(job, newton, count);
}

/// IterateKernel for problems whose matrices are in device memory. With 32 contacts they take 200 to
/// 400 kB of stack, which the driver reserves for every thread that the device can hold.
template <class Solver, int N>
struct FarIterateKernel {
  /// A, scaled, preconditioned if the solver does so, and the inverse of that.
  static constexpr int kMatrices = std::is_same_v<Solver, solvers::FrictionNsgs>   ? 2
                                   : std::is_same_v<Solver, solvers::FrictionAdmm> ? 4
                                                                                   : 3;
  static constexpr int kEntries = 9 * N * N;
  using Matrix = FarMat<double, 3 * N, 3 * N, batch::kTile>;
  IterateKernel<Solver, N> job;
  double* room;  ///< kMatrices of each problem from `first` on, interleaved in tiles
  std::int64_t first;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    solvers::FrictionProblem<S, N, 3, Matrix> problem;
    problem.A.at = room + i / batch::kTile * (kMatrices * kEntries * batch::kTile) + i % batch::kTile;
    load_problem<S, N>(job.problems, job.sliding, first + i, job.contacts, problem);
    auto state = job.template begin<S>(problem);
    while (any(job.solver.running(state))) job.solver.step(state);
    batch::store<S>(job.candidates, first + i, job.solver.candidate(state));
  }
};

/// Any other solver: its iteration is compiled in the file that uses it.
template <class Solver, int N>
void iterate_on_device(const IterateKernel<Solver, N>& iterate, std::int64_t count) {
  if constexpr (requires { iterate_any_size(iterate, count); }) {
    iterate_any_size(iterate, count);  // any_size.cuh
  } else if constexpr (kTakesFewer<N>) {
    using Body = FarIterateKernel<Solver, N>;
    constexpr std::int64_t kAtOnce = 8192;  // 1.2 to 2.4 GB with 32 contacts
    const std::int64_t together = std::min(batch::tiles_for(count) * batch::kTile, kAtOnce);
    const cuda::Buffer<double> room(together * Body::kMatrices * Body::kEntries);
    for (std::int64_t first = 0; first < count; first += together)
      cuda::for_each(std::min(together, count - first), Body{iterate, room.data(), first});
  } else {
    cuda::for_each(count, iterate);
  }
}

/// Solution summaries and candidates of given forces; compiled once, in certify.cu.
template <int N>
void diagnostics_on_device(const DiagnosticsKernel<N>& diagnostics, std::int64_t count);
template <int N>
void given_on_device(const GivenKernel<N>& given, std::int64_t count);

/// Whole tiles of memory for `count` problems of type T.
template <class T>
cuda::Buffer<double> make_tiles(std::int64_t count) {
  return cuda::Buffer<double>(batch::tiles_for(count) * batch::kTile * batch::kFields<double, T>);
}

/// Finds candidates by the solver, or takes the given ones.
template <class Solver, int N>
void find_candidates(const Solver& solver, const IterateKernel<Solver, N>& iterate, const batch::RowRange& rows) {
  if constexpr (std::is_same_v<Solver, GivenForces>) {
    const auto forces = make_tiles<Vec<double, 3 * N>>(rows.count);
    batch::gather({solver.force}, rows, {forces.data(), 3 * N});
    given_on_device(GivenKernel<N>{forces.data(), iterate.candidates, iterate.contacts}, rows.count);
  } else {
    iterate_on_device(iterate, rows.count);
    if constexpr (!std::is_same_v<Solver, solvers::FrictionNewton> && !std::is_same_v<Solver, solvers::FrictionMixed>)
      run_fallback(without_solver<solvers::FrictionNewton>(iterate), false, rows.count);
  }
}

/// Solves and certifies problems on the device. All buffers come from the caller's workspace.
template <class Solver, int N>
void solve_resident(const Solver& solver, const DeviceBatch& job) {
  using Sliding = solvers::SlidingContacts<double, N>;
  using Diagnostics = ContactDiagnostics<double, N>;
  const auto solve_chunk = [&](const batch::RowRange& rows, const double* problems, double* solutions) {
    const auto sliding = make_tiles<Sliding>(job.slips.data == nullptr ? 0 : rows.count);
    const auto candidates = make_tiles<solvers::Candidate<double, N>>(rows.count);
    const double* slips = job.slips.data == nullptr ? nullptr : sliding.data();
    if (slips != nullptr) batch::gather({job.slips}, rows, {sliding.data(), 2 * N});
    find_candidates<Solver, N>(solver, {solver, problems, slips, candidates.data(), nullptr, job.contacts}, rows);
    certify_on_device(CertifyKernel<N>{job.tolerance, problems, slips, candidates.data(), solutions, job.contacts},
                      rows.count);
    if (job.diagnostics.empty()) return;
    const auto diagnostics = make_tiles<Diagnostics>(rows.count);
    diagnostics_on_device(DiagnosticsKernel<N>{problems, slips, solutions, diagnostics.data(), job.contacts},
                          rows.count);
    batch::scatter({diagnostics.data(), batch::kFields<double, Diagnostics>}, rows, job.diagnostics);
  };
  batch::run_resident_chunks<solvers::FrictionProblem<double, N>, solvers::FrictionSolution<double, N>>(job.rows,
                                                                                                        solve_chunk);
}

/// Calls use(N) for the number of contacts. Throws Error(kNoDevice) above kMaxOnDevice.
template <class Solver, class Use>
void with_device_contacts(int contacts, const Use& use) {
  if (contacts > kMaxOnDevice<Solver>)
    throw Error(ExitCode::kNoDevice, "this method has no CUDA kernel for " + std::to_string(contacts) + " contacts",
                "it has some for up to " + std::to_string(kMaxOnDevice<Solver>) + "; use --device cpu");
  for_contacts<kMaxOnDevice<Solver>>(contacts, use);
}

/// The function that batch::on_device() calls for a solver.
template <class Solver>
void run_kernels(const Device&, const Solver& solver, const DeviceBatch& job) {
  with_device_contacts<Solver>(job.contacts, [&](auto n) { solve_resident<Solver, n>(solver, job); });
}
template <class Solver>
void run_kernels(const Device& device, const Solver& solver, const HostBatch& job) {
  batch::run_staged(job.rows, batch::as_many_as_fit(device, batch::kDeviceChunk, 0),
                    [&](const batch::ResidentRows& rows) {
                      run_kernels(device, solver, DeviceBatch(job.contacts, job.tolerance, rows));
                    });
}

}  // namespace garra::contact
