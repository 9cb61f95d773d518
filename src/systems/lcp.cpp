#include "garra/lcp.hpp"

#include <algorithm>
#include <array>

#include "garra/batch/for_each.hpp"
#include "systems/lcp_arrays.hpp"
#include "systems/lcp_batch.hpp"
#include "systems/lcp_cuda.hpp"

namespace garra::lcp {

namespace {

constexpr std::int64_t kBlock = 256;  // problems per block: problems and solutions stay in the cache

template <int N>
struct Block {
  batch::Tiles<solvers::LcpProblem<double, N>> problems;
  batch::Tiles<solvers::LcpSolution<double, N>> solutions;
  explicit Block(std::int64_t count) : problems(count), solutions(count) {}
};

template <int N>
void fill_tiles(const Problems& in, std::int64_t first, std::int64_t count, Block<N>& block) {
  for (std::int64_t i = 0; i < count; ++i) block.problems.set(i, problem_at<N>(in, first + i));
  for (std::int64_t i = count; i % batch::kTile != 0; ++i) block.problems.set(i, block.problems.get(count - 1));
}

template <int N>
void store_solutions(const Block<N>& block, std::int64_t first, std::int64_t count, Solutions& out) {
  for (std::int64_t i = 0; i < count; ++i) {
    const auto s = block.solutions.get(i);
    const auto at = static_cast<std::size_t>(first + i);
    std::copy_n(s.z.m, N, out.z.data() + at * N);
    std::copy_n(s.w.m, N, out.w.data() + at * N);
    out.residual[at] = s.residual;
    out.pivots[at] = static_cast<std::int32_t>(s.pivots);
    out.status[at] = static_cast<Status>(static_cast<int>(s.status));
  }
}

/// What is to be solved, how and where, and where the answers go. `out` has its sizes already.
struct Job {
  const Problems& in;
  const solvers::Lemke& solver;
  const Device& device;
  Solutions& out;
};

template <int N>
void solve_on_cpu(const Job& job) {
  const std::int64_t blocks = (job.in.count + kBlock - 1) / kBlock;
#pragma omp parallel num_threads(solve_threads(job.device))
  {
    Block<N> block(kBlock);
    const SolveBody<N> body{job.solver, block.problems.data(), block.solutions.data()};
#pragma omp for schedule(dynamic)
    for (std::int64_t k = 0; k < blocks; ++k) {
      const std::int64_t first = k * kBlock, count = std::min(kBlock, job.in.count - first);
      fill_tiles<N>(job.in, first, count, block);
      batch::for_each(job.device.executor, count, body);
      store_solutions<N>(block, first, count, job.out);
    }
  }
}

template <int N>
void solve_on_gpu(const Job& job) {
  const std::uint64_t bytes = sizeof(solvers::LcpProblem<double, N>) + sizeof(solvers::LcpSolution<double, N>);
  const std::int64_t fit = std::min<std::int64_t>(how_many_fit(job.device, bytes), std::int64_t{1} << 20);
  for (std::int64_t first = 0; first < job.in.count; first += fit) {
    const std::int64_t count = std::min(fit, job.in.count - first);
    Block<N> block(count);
    fill_tiles<N>(job.in, first, count, block);
    cuda_solve(job.solver, job.device.index, {N, count, block.problems.data(), block.solutions.data()});
    store_solutions<N>(block, first, count, job.out);
  }
}

template <int N>
void solve_all(const Job& job) {
  if (job.device.executor == Executor::kCuda)
    solve_on_gpu<N>(job);
  else
    solve_on_cpu<N>(job);
}

}  // namespace

Solutions solve(const Problems& problems, const Options& options, const Device& device) {
  check_sizes(problems);
  Solutions out;
  out.size = problems.size;
  out.count = problems.count;
  const auto n = static_cast<std::size_t>(problems.count), k = static_cast<std::size_t>(problems.size);
  out.z.resize(n * k);
  out.w.resize(n * k);
  out.residual.resize(n);
  out.pivots.resize(n);
  out.status.resize(n);
  const solvers::Lemke solver{options.tol, options.max_pivots};
  static constexpr std::array<void (*)(const Job&), kMaxSize> runs = {
      solve_all<1>, solve_all<2>, solve_all<3>, solve_all<4>, solve_all<5>, solve_all<6>, solve_all<7>, solve_all<8>};
  runs[k - 1]({problems, solver, device, out});
  return out;
}

}  // namespace garra::lcp
