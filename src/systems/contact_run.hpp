// Runs one solver over a batch of friction contact problems on the executor that was asked for. One translation unit
// per family of solvers instantiates it (contact_*.cpp), so that they compile side by side.
#pragma once

#include <algorithm>
#include <array>

#include "garra/batch/for_each.hpp"
#include "systems/contact_arrays.hpp"
#include "systems/contact_cuda.hpp"
#include "systems/contact_lanes.hpp"

namespace garra::contact {

/// What is to be solved, how and where, and where the answers go. `out` has its sizes already.
struct Job {
  const Problems& in;
  const Options& options;
  const Device& device;
  Solutions& out;
};

inline constexpr std::int64_t kBlock =
    256;  // problems per block: problems, candidates and solutions stay in the L2 cache
inline constexpr std::int64_t kDeviceBlock = std::int64_t{1}
                                             << 17;  // the same on a GPU: its tiles are cleared once and reused

/// Tiles that a thread uses for one block after another.
template <int N>
struct Block {
  batch::Tiles<solvers::FrictionProblem<double, N>> problems;
  batch::Tiles<solvers::SlidingContacts<double, N>> sliding;
  batch::Tiles<solvers::FrictionSolution<double, N>> solutions;
  Block(std::int64_t count, bool mixed) : problems(count), sliding(mixed ? count : 0), solutions(count) {}
  [[nodiscard]] const double* slips() const { return sliding.count() > 0 ? sliding.data() : nullptr; }
};

// Between plain arrays and the tiles of a block: problems first, first + 1, ... of `in`. Compiled once, in
// contact_rows.cpp.
template <int N>
void fill_block(const Problems& in, std::int64_t first, std::int64_t count, Block<N>& block, int threads = 1);
template <int N>
void store_block(const Job& job, std::int64_t first, std::int64_t count, const Block<N>& block, int threads = 1);

/// The certificate of a block on the CPU; compiled once, in contact_certify.cpp.
template <int N>
void certify_tiles(Executor executor, const CertifyBody<N>& certify, std::int64_t count);

template <class Solver, int N>
void solve_on_cpu(const Solver& solver, const Job& job) {
  const std::int64_t blocks = (job.in.count + kBlock - 1) / kBlock, most = std::min(kBlock, job.in.count);
#pragma omp parallel num_threads(solve_threads(job.device))
  {
    Block<N> block(most, !job.in.slip_velocity.empty());
    batch::Tiles<solvers::Candidate<double, N>> candidates(most);
    const IterateBody<Solver, N> body{solver, block.problems.data(), block.slips(), candidates.data()};
    const CertifyBody<N> certify{job.options.tol, block.problems.data(), block.slips(), candidates.data(),
                                 block.solutions.data()};
#pragma omp for schedule(dynamic)
    for (std::int64_t k = 0; k < blocks; ++k) {
      const std::int64_t first = k * kBlock, count = std::min(kBlock, job.in.count - first);
      fill_block<N>(job.in, first, count, block);
      iterate(job.device.executor, body, count);
      certify_tiles(job.device.executor, certify, count);
      store_block<N>(job, first, count, block);
    }
  }
}

template <class Solver, int N>
void solve_on_gpu(const Solver& solver, const Job& job) {
  using Solution = solvers::FrictionSolution<double, N>;
  const std::uint64_t bytes = sizeof(solvers::FrictionProblem<double, N>) +
                              sizeof(solvers::SlidingContacts<double, N>) + sizeof(solvers::Candidate<double, N>) +
                              sizeof(Solution);
  const std::int64_t fit = std::min({how_many_fit(job.device, bytes), kDeviceBlock, job.in.count});
  const int threads = solve_threads(job.device);
  Block<N> block(fit, !job.in.slip_velocity.empty());
  for (std::int64_t first = 0; first < job.in.count; first += fit) {
    const std::int64_t count = std::min(fit, job.in.count - first);
    fill_block<N>(job.in, first, count, block, threads);
    cuda_solve(solver, {N, job.device.index, job.options.tol},
               {block.problems.data(), block.slips(), block.solutions.data(), count});
    store_block<N>(job, first, count, block, threads);
  }
}

template <class Solver, int N>
void solve_all(const Solver& solver, const Job& job) {
  if (job.device.executor == Executor::kCuda)
    solve_on_gpu<Solver, N>(solver, job);
  else
    solve_on_cpu<Solver, N>(solver, job);
}

/// Sets what every solver has: tolerance and iteration limit.
template <class Solver>
void solve_with(Solver solver, const Job& job) {
  solver.tol = job.options.tol;
  if (job.options.max_iterations > 0) solver.max_iterations = job.options.max_iterations;
  for_contacts<kMostContacts<Solver>>(job.in.contacts, [&](auto n) { solve_all<Solver, n>(solver, job); });
}

// One per Method, each in its own file.
void run_newton(const Job& job);
void run_nsgs(const Job& job);
void run_admm(const Job& job);
void run_extragradient(const Job& job);
void run_box_quacan(const Job& job);
void run_spg(const Job& job);
void run_projected_lm(const Job& job);
void run_fischer_burmeister(const Job& job);
void run_lemke(const Job& job);

}  // namespace garra::contact
