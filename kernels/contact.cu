// Batches of friction contact problems on the GPU: the same bodies as the scalar executor.
#include "for_each.cuh"
#include "systems/contact_batch.hpp"
#include "systems/contact_cuda.hpp"

namespace garra::contact {

namespace {

template <int N>
void solve_tiles(const Options& options, const TileArrays& t) {
  const std::int64_t padded = batch::tiles_for(t.count) * batch::kTile;
  constexpr int problem = batch::kFields<double, solvers::FrictionProblem<double, N>>;
  constexpr int candidate = batch::kFields<double, solvers::Candidate<double, N>>;
  constexpr int solution = batch::kFields<double, solvers::FrictionSolution<double, N>>;
  cuda::Buffer<double> problems(padded * problem), candidates(padded * candidate), solutions(padded * solution);
  problems.upload(t.problems);
  solvers::FrictionNewton solver;
  solver.tol = options.tol;
  solver.max_iterations = options.max_iterations;
  cuda::for_each(t.count, IterateBody<N>{solver, problems.data(), candidates.data()});
  cuda::for_each(t.count, CertifyBody<N>{solver, problems.data(), candidates.data(), solutions.data()});
  solutions.download(t.solutions);
}

}  // namespace

void cuda_solve(int contacts, const Options& options, int device, const TileArrays& tiles) {
  cuda::check(cudaSetDevice(device), "choosing the device");
  using Solve = void (*)(const Options&, const TileArrays&);
  static constexpr Solve solve[kMaxContacts] = {solve_tiles<1>, solve_tiles<2>, solve_tiles<3>, solve_tiles<4>,
                                                solve_tiles<5>, solve_tiles<6>, solve_tiles<7>, solve_tiles<8>};
  solve[contacts - 1](options, tiles);
}

}  // namespace garra::contact
