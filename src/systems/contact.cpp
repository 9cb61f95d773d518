#include "garra/contact.hpp"

#include <omp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "garra/batch/for_each.hpp"
#include "garra/core/error.hpp"
#include "systems/contact_lanes.hpp"
#include "systems/contact_cuda.hpp"

namespace garra::contact {

namespace {

constexpr std::int64_t kBlock = 256;  // problems per block: problems, candidates and solutions stay in the L2 cache

template <int N>
void fill_tiles(const Problems& in, std::int64_t first, batch::Tiles<solvers::FrictionProblem<double, N>>& tiles,
                std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    solvers::FrictionProblem<double, N> p;
    const std::int64_t k = first + i;
    std::copy_n(in.A.data() + k * 9 * N * N, 9 * N * N, p.A.m);
    std::copy_n(in.b.data() + k * 3 * N, 3 * N, p.b.m);
    std::copy_n(in.mu.data() + k * N, N, p.mu.m);
    tiles.set(i, p);
  }
  for (std::int64_t i = count; i % batch::kTile != 0; ++i) tiles.set(i, tiles.get(count - 1));
}

template <int N>
void store_solution(const Problems& in, std::int64_t k, const solvers::FrictionSolution<double, N>& s, Solutions& out) {
  const auto at = static_cast<std::size_t>(k);
  std::copy_n(s.c.m, 3 * N, out.c.data() + k * 3 * N);
  std::copy_n(s.a.m, 3 * N, out.a.data() + k * 3 * N);
  out.residual[at] = s.residual;
  out.residual_raw[at] = s.residual_raw;
  out.iterations[at] = static_cast<std::int32_t>(s.iterations);
  out.status[at] = static_cast<Status>(static_cast<int>(s.status));
  Vec<double, N> mu;
  std::copy_n(in.mu.data() + k * N, N, mu.m);
  out.merit[at] = solvers::papers_merit<double, N>(mu, s.c, s.a);
}

template <int N>
void solve_block(const Problems& in, const Options& options, const Device& device, std::int64_t first,
                 std::int64_t count, Solutions& out) {
  batch::Tiles<solvers::FrictionProblem<double, N>> problems(kBlock);
  batch::Tiles<solvers::Candidate<double, N>> candidates(kBlock);
  batch::Tiles<solvers::FrictionSolution<double, N>> solutions(kBlock);
  fill_tiles<N>(in, first, problems, count);
  solvers::FrictionNewton solver;
  solver.tol = options.tol;
  solver.max_iterations = options.max_iterations;
  const IterateBody<N> iterate{solver, problems.data(), candidates.data()};
  const CertifyBody<N> certify{solver, problems.data(), candidates.data(), solutions.data()};
  if (device.executor == Executor::kScalar) {
    batch::for_each_scalar(count, iterate);
    batch::for_each_scalar(count, certify);
  } else {
    iterate_lanes<N>(iterate, count);
    batch::for_each_lanes(count, certify);
  }
  for (std::int64_t i = 0; i < count; ++i) store_solution<N>(in, first + i, solutions.get(i), out);
}

template <int N>
void solve_on_cpu(const Problems& in, const Options& options, const Device& device, Solutions& out) {
  const std::int64_t blocks = (in.count + kBlock - 1) / kBlock;
  const int all = device.threads > 0 ? device.threads : omp_get_max_threads();
  const int threads = device.executor == Executor::kScalar ? 1 : all;
#pragma omp parallel for schedule(dynamic) num_threads(threads)
  for (std::int64_t k = 0; k < blocks; ++k)
    solve_block<N>(in, options, device, k * kBlock, std::min(kBlock, in.count - k * kBlock), out);
}

template <int N>
void solve_on_gpu(const Problems& in, const Options& options, const Device& device, Solutions& out) {
  using Solution = solvers::FrictionSolution<double, N>;
  const std::uint64_t bytes = sizeof(solvers::FrictionProblem<double, N>) + sizeof(solvers::Candidate<double, N>) + sizeof(Solution);
  const std::int64_t fit = std::min<std::int64_t>(how_many_fit(device, bytes), std::int64_t{1} << 20);
  for (std::int64_t first = 0; first < in.count; first += fit) {
    const std::int64_t count = std::min(fit, in.count - first);
    batch::Tiles<solvers::FrictionProblem<double, N>> problems(count);
    batch::Tiles<Solution> solutions(count);
    fill_tiles<N>(in, first, problems, count);
    cuda_solve(N, options, device.index, {problems.data(), solutions.data(), count});
    for (std::int64_t i = 0; i < count; ++i) store_solution<N>(in, first + i, solutions.get(i), out);
  }
}

template <int N>
void solve_all(const Problems& in, const Options& options, const Device& device, Solutions& out) {
  if (device.executor == Executor::kCuda)
    solve_on_gpu<N>(in, options, device, out);
  else
    solve_on_cpu<N>(in, options, device, out);
}

void check_sizes(const Problems& in) {
  if (in.contacts < 1 || in.contacts > kMaxContacts)
    throw Error(ExitCode::kInvalidFile, "contacts = " + std::to_string(in.contacts) + " per problem",
                "between 1 and " + std::to_string(kMaxContacts) + " contacts are supported");
  const auto n = static_cast<std::size_t>(in.count), k = static_cast<std::size_t>(in.contacts);
  if (in.count < 0 || in.A.size() != n * 9 * k * k || in.b.size() != n * 3 * k || in.mu.size() != n * k)
    throw Error(ExitCode::kInvalidFile, "A, b and mu do not have the sizes [n,3k,3k], [n,3k], [n,k] of n = " +
                                            std::to_string(in.count) + ", k = " + std::to_string(in.contacts));
}

}  // namespace

Solutions solve(const Problems& problems, const Options& options, const Device& device) {
  check_sizes(problems);
  Solutions out;
  out.contacts = problems.contacts;
  out.count = problems.count;
  const auto n = static_cast<std::size_t>(problems.count), k = static_cast<std::size_t>(problems.contacts);
  out.c.resize(n * 3 * k);
  out.a.resize(n * 3 * k);
  for (auto* v : {&out.residual, &out.residual_raw, &out.merit}) v->resize(n);
  out.iterations.resize(n);
  out.status.resize(n);
  using Run = void (*)(const Problems&, const Options&, const Device&, Solutions&);
  static constexpr std::array<Run, kMaxContacts> runs = {solve_all<1>, solve_all<2>, solve_all<3>, solve_all<4>,
                                                         solve_all<5>, solve_all<6>, solve_all<7>, solve_all<8>};
  runs[k - 1](problems, options, device, out);
  return out;
}

}  // namespace garra::contact
