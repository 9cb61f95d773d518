// Newton's method with restarts on the GPU, for files that compile it for a number of contacts.
#pragma once

#include "contact/batch/fallback.hpp"
#include "contact/newton_team.cuh"
#include "contact/solve.cuh"

namespace garra::contact {

/// Runs the fallback solvers on the CPU, tile by tile. They are rarely needed and take hundreds of
/// kilobytes of stack, which the driver reserves for every thread that the device can hold.
template <int N>
void fallback_on_host(const IterateKernel<solvers::FrictionNewton, N>& newton, bool after_newton, std::int64_t count) {
  using Candidate = solvers::Candidate<double, N>;
  using Problem = solvers::FrictionProblem<double, N>;
  using Sliding = solvers::SlidingContacts<double, N>;
  if (cuda::only_counts()) return;
  const auto copy = [](double* to, const double* from, std::int64_t doubles, cudaMemcpyKind kind) {
    const cudaStream_t stream = cuda::current_stream();
    cuda::check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(doubles) * sizeof(double), kind, stream), "copying");
    cuda::check(cudaStreamSynchronize(stream), "running a kernel");
  };
  batch::Tiles<Candidate> candidates(count);
  copy(candidates.data(), newton.candidates, candidates.doubles(), cudaMemcpyDeviceToHost);
  batch::Tiles<Problem> problems(batch::kTile);
  batch::Tiles<Sliding> sliding(batch::kTile);
  // The host's tiles have exactly the numbers of the actual contacts: the same leading numbers,
  // except for the candidate's members behind its forces.
  const ContactsInUse many(newton.contacts);
  batch::Tiles<solvers::Candidate<double, kAnyContacts>> exact(batch::kTile);
  const auto move = [&](double* padded, bool back) {
    const std::int64_t forces = 3 * newton.contacts * batch::kTile, all = 3 * N * batch::kTile;
    const auto part = [&](double* a, double* b, std::int64_t size) {
      back ? std::copy_n(b, size, a) : std::copy_n(a, size, b);
    };
    part(padded, exact.data(), forces);
    part(padded + all, exact.data() + forces, exact.doubles() - forces);
  };
  for (std::int64_t first = 0; first < count; first += batch::kTile) {
    const std::int64_t here = std::min(batch::kTile, count - first);
    bool any = false;
    for (std::int64_t i = first; i < first + here; ++i)
      any = any || !after_newton || candidates.get(i).reason == static_cast<double>(Status::kIterationLimit);
    if (!any) continue;
    const std::int64_t tile = first / batch::kTile;
    IterateKernel<solvers::FrictionNewton, kAnyContacts> there{newton.solver, nullptr, nullptr,
                                                               exact.data(),  nullptr, newton.contacts};
    copy(problems.data(), newton.problems + tile * problems.doubles(), problems.doubles(), cudaMemcpyDeviceToHost);
    there.problems = problems.data();
    if (newton.sliding != nullptr) {
      copy(sliding.data(), newton.sliding + tile * sliding.doubles(), sliding.doubles(), cudaMemcpyDeviceToHost);
      there.sliding = sliding.data();
    }
    const std::int64_t doubles = candidates.doubles() / batch::tiles_for(count);
    double* padded = candidates.data() + tile * doubles;
    move(padded, false);
    solve_remaining(there, after_newton, here);
    move(padded, true);
    copy(newton.candidates + tile * doubles, padded, doubles, cudaMemcpyHostToDevice);
  }
}

/// Newton's method on problems of up to three contacts whose matrix is symmetric to the bit, as
/// nearly all are, and whose contacts may all roll: half of the matrix needs half of the registers.
/// Other problems are marked and skipped.
template <int N>
struct SymmetricKernel {
  IterateKernel<solvers::FrictionNewton, N> job;
  bool known;  ///< all are symmetric

  static constexpr double kLeft = -1;  ///< in place of a Candidate's reason

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    const TileProblem<S, N> given(job.problems, i, N);
    solvers::FrictionProblem<S, N, 3, SymmetricMat<S, 3 * N>> problem;
    bool symmetric = true;
    for (int r = 0; r < 3 * N; ++r)
      for (int c = 0; c <= r; ++c) {
        problem.A(r, c) = given.A(r, c);
        if (c < r && !known) symmetric = symmetric && to_bits(given.A(c, r)) == to_bits(problem.A(r, c));
      }
    if (!symmetric) {
      *reason_at<S, N>(job.candidates, i) = kLeft;
      return;
    }
    problem.b = given.b();
    problem.mu = given.mu();
    auto guess = Vec<S, 3 * N>::zero();
    if (job.guesses != nullptr) guess = batch::load<S, Vec<S, 3 * N>>(job.guesses, i);
    auto state = job.solver.start(problem, guess);
    while (any(job.solver.running(state))) job.solver.step(state);
    batch::store<S>(job.candidates, i, job.solver.candidate(state));
  }
};

/// Newton's method on all problems, or on those that SymmetricKernel has skipped.
template <int N>
struct WholeKernel {
  IterateKernel<solvers::FrictionNewton, N> job;
  bool all;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    if (all || *reason_at<S, N>(job.candidates, i) == SymmetricKernel<N>::kLeft) job.template operator()<S>(i);
  }
};

/// Runs the fallback solvers after Newton in a separate kernel, since few problems need them.
template <int N>
void run_fallback(const IterateKernel<solvers::FrictionNewton, N>& newton, std::int64_t count) {
  if (!newton.solver.cold) run_fallback(newton, true, count);
}

/// Up to three contacts fit the registers of a thread; larger problems have a team of threads, each
/// with some rows of A.
template <int N>
void iterate_on_device(const IterateKernel<solvers::FrictionNewton, N>& iterate, std::int64_t count) {
  if constexpr (kTakesFewer<N>)
    cuda::for_each_far_team(count, TeamIterateKernel<N>{iterate});
  else if constexpr (N > kMaxInThread)
    cuda::for_each_team(count, TeamIterateKernel<N>{iterate});
  else {
    const bool all = iterate.sliding != nullptr;  // the elimination of sliding contacts destroys symmetry
    if (!all) cuda::for_each(count, SymmetricKernel<N>{iterate, false});
    cuda::for_each(count, WholeKernel<N>{iterate, all});
  }
  run_fallback(iterate, count);
}
template <int N>
void iterate_symmetric_on_device(const IterateKernel<solvers::FrictionNewton, N>& iterate, std::int64_t count) {
  static_assert(N <= kMaxInThread);
  cuda::for_each(count, SymmetricKernel<N>{iterate, true});
  run_fallback(iterate, count);
}

}  // namespace garra::contact
