#include "garra/lcp.hpp"

#include <omp.h>

#include <algorithm>
#include <array>
#include <string>

#include "garra/batch/for_each.hpp"
#include "garra/core/error.hpp"
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
solvers::LcpProblem<double, N> problem_at(const Problems& in, std::int64_t k) {
  solvers::LcpProblem<double, N> p;
  std::copy_n(in.M.data() + k * N * N, N * N, p.M.m);
  std::copy_n(in.q.data() + k * N, N, p.q.m);
  return p;
}

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

int threads_of(const Device& device) {
  if (device.executor == Executor::kScalar) return 1;
  return device.threads > 0 ? device.threads : omp_get_max_threads();
}

template <int N>
void solve_on_cpu(const Job& job) {
  const std::int64_t blocks = (job.in.count + kBlock - 1) / kBlock;
#pragma omp parallel num_threads(threads_of(job.device))
  {
    Block<N> block(kBlock);
    const SolveBody<N> body{job.solver, block.problems.data(), block.solutions.data()};
#pragma omp for schedule(dynamic)
    for (std::int64_t k = 0; k < blocks; ++k) {
      const std::int64_t first = k * kBlock, count = std::min(kBlock, job.in.count - first);
      fill_tiles<N>(job.in, first, count, block);
      if (job.device.executor == Executor::kScalar)
        batch::for_each_scalar(count, body);
      else
        batch::for_each_lanes(count, body);
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

/// The enumerations of problems of N pairs, appended in order.
template <int N>
void enumerate_all(const Problems& in, int threads, Enumeration& out) {
  std::vector<solvers::LcpEnumeration<N>> each(static_cast<std::size_t>(in.count));
#pragma omp parallel for schedule(dynamic) num_threads(threads)
  for (std::int64_t k = 0; k < in.count; ++k)
    each[static_cast<std::size_t>(k)] = solvers::enumerate_solutions<N>(problem_at<N>(in, k));
  for (const auto& e : each) {
    out.verdict.push_back(e.verdict);
    out.p_matrix.push_back(e.p_matrix);
    out.singular.push_back(e.singular);
    out.undecided.push_back(e.undecided);
    for (const auto& s : e.solutions) {
      out.z.insert(out.z.end(), s.z.m, s.z.m + N);
      out.proved.push_back(s.proved ? 1 : 0);
      out.degenerate.push_back(s.degenerate ? 1 : 0);
    }
    out.first.push_back(out.first.back() + static_cast<std::int64_t>(e.solutions.size()));
  }
}

void check_sizes(const Problems& in) {
  if (in.size < 1 || in.size > kMaxSize)
    throw Error(ExitCode::kInvalidFile, "size = " + std::to_string(in.size) + " per problem",
                "between 1 and " + std::to_string(kMaxSize) + " pairs are supported");
  const auto n = static_cast<std::size_t>(in.count), k = static_cast<std::size_t>(in.size);
  if (in.count < 0 || in.M.size() != n * k * k || in.q.size() != n * k)
    throw Error(ExitCode::kInvalidFile, "M and q do not have the sizes [n,k,k] and [n,k] of n = " +
                                            std::to_string(in.count) + ", k = " + std::to_string(in.size));
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

Enumeration enumerate(const Problems& problems, int threads) {
  check_sizes(problems);
  Enumeration out;
  out.size = problems.size;
  out.count = problems.count;
  out.first.push_back(0);
  using Run = void (*)(const Problems&, int, Enumeration&);
  static constexpr std::array<Run, kMaxSize> runs = {enumerate_all<1>, enumerate_all<2>, enumerate_all<3>,
                                                     enumerate_all<4>, enumerate_all<5>, enumerate_all<6>,
                                                     enumerate_all<7>, enumerate_all<8>};
  const auto run = runs[static_cast<std::size_t>(problems.size - 1)];
  run(problems, threads > 0 ? threads : omp_get_max_threads(), out);
  return out;
}

}  // namespace garra::lcp
