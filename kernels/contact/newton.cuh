// Newton's ladder on the GPU, for the files that compile it for their numbers of contacts.
#pragma once

#include "contact/newton_team.cuh"
#include "contact/solve.cuh"

namespace garra::contact {

/// What lies beyond Newton on the processor: it is rare, and a thread would need hundreds of kilobytes of stack, which
/// the driver sets aside for every thread that the device can hold. Tile by tile.
template <int N>
void rescue_on_host(const IterateBody<solvers::FrictionNewton, N>& newton, std::int64_t count) {
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
  for (std::int64_t first = 0; first < count; first += batch::kTile) {
    const std::int64_t here = std::min(batch::kTile, count - first);
    bool any = false;
    for (std::int64_t i = first; i < first + here; ++i)
      any = any || candidates.get(i).reason == static_cast<double>(Status::kIterationLimit);
    if (!any) continue;
    const std::int64_t tile = first / batch::kTile;
    IterateBody<solvers::FrictionNewton, N> there = newton;
    copy(problems.data(), newton.problems + tile * problems.doubles(), problems.doubles(), cudaMemcpyDeviceToHost);
    there.problems = problems.data();
    if (newton.sliding != nullptr) {
      copy(sliding.data(), newton.sliding + tile * sliding.doubles(), sliding.doubles(), cudaMemcpyDeviceToHost);
      there.sliding = sliding.data();
    }
    const std::int64_t doubles = candidates.doubles() / batch::tiles_for(count);
    there.candidates = candidates.data() + tile * doubles;
    rescue_unsolved(there, here);
    copy(newton.candidates + tile * doubles, there.candidates, doubles, cudaMemcpyHostToDevice);
  }
}

/// Up to three contacts fit the registers of a thread; from there on problems have a team of threads,
/// each with some rows of A.
template <int N>
void iterate_on_device(const IterateBody<solvers::FrictionNewton, N>& iterate, std::int64_t count) {
  if constexpr (kTakesFewer<N>)
    cuda::for_each_far_team(count, TeamIterateBody<N>{iterate});
  else if constexpr (N >= 4)
    cuda::for_each_team(count, TeamIterateBody<N>{iterate});
  else
    cuda::for_each(count, iterate);
  if (!iterate.solver.goes_on()) return;
  if constexpr (kTakesFewer<N>)
    rescue_on_host(iterate, count);
  else  // in a kernel of its own: the tail is rare, so it is no part of the hot body
    rescue_on_device(iterate, count);
}

}  // namespace garra::contact
