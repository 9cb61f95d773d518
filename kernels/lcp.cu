// Batches of linear complementarity problems on the GPU: the same body as the scalar executor.
#include "for_each.cuh"
#include "systems/lcp_batch.hpp"
#include "systems/lcp_cuda.hpp"

namespace garra::lcp {

namespace {

template <int N>
void solve_tiles(const solvers::Lemke& solver, const CudaTiles& t) {
  const std::int64_t padded = batch::tiles_for(t.count) * batch::kTile;
  cuda::Buffer<double> problems(padded * batch::kFields<double, solvers::LcpProblem<double, N>>);
  cuda::Buffer<double> solutions(padded * batch::kFields<double, solvers::LcpSolution<double, N>>);
  problems.upload(t.problems);
  cuda::for_each(t.count, SolveBody<N>{solver, problems.data(), solutions.data()});
  solutions.download(t.solutions);
}

}  // namespace

void cuda_solve(const solvers::Lemke& solver, int device, const CudaTiles& tiles) {
  cuda::check(cudaSetDevice(device), "choosing the device");
  using Solve = void (*)(const solvers::Lemke&, const CudaTiles&);
  static constexpr Solve solve[] = {solve_tiles<1>, solve_tiles<2>, solve_tiles<3>, solve_tiles<4>,
                                    solve_tiles<5>, solve_tiles<6>, solve_tiles<7>, solve_tiles<8>};
  solve[tiles.size - 1](solver, tiles);
}

}  // namespace garra::lcp
