// Solves batches of user-defined mixed complementarity problems on a GPU, with the loop bodies of
// mncp.hpp.
// Units are the user's; unknowns are x = (u, v); problems and unknowns count from 0. Arrays are
// host arrays.
// Wrong sizes and CUDA errors throw Error; a problem that fails has a Status and NaN unknowns.
// Not for host compilers: nvcc compiles files that include this header, with the flags of
// docs/howto/gpu.md.
// Docs: docs/theory/mncp.md.
#pragma once

#include <cstdint>
#include <vector>

#include "garra/batch/rows.cuh"
#include "garra/mncp_batch.hpp"
#include "garra/solvers/projected_lm.hpp"

namespace garra::mncp {

namespace detail {

inline constexpr std::int64_t kGpuChunk = std::int64_t{1} << 18;  ///< problems on the GPU at a time

/// Calls kernels(count, in, out) on chunks of the rows, in tiles of In and Out, on the GPU
/// `rows.device.index`.
template <class In, class Out, class Kernels>
void run_on_gpu(const batch::Rows& rows, const Kernels& kernels) {
  if (rows.count == 0) return;
  cuda::check(cudaSetDevice(rows.device.index), "choosing a device");
  // Fixed chunks instead of free memory: the program may be linked without the library's kernels,
  // which query it.
  batch::run_staged(
      rows, [](std::uint64_t) { return kGpuChunk; },
      [&](const batch::ResidentRows& share) {
        batch::run_resident_chunks<In, Out>(
            share, [&](const batch::RowRange& chunk, const double* in, double* out) { kernels(chunk.count, in, out); });
      });
}

}  // namespace detail

/// solve() of mncp.hpp on a GPU.
/// @param start initial guess: n unknowns (u, v) for all problems, or [count][n].
/// @param device number of the GPU.
/// @throws Error kUsage for the size of start; also for a CUDA error.
template <class Problem, class Merit = solvers::ComponentwiseMerit, class Minimizer = solvers::ProjectedLm>
[[nodiscard]] Solutions solve_on_gpu(const std::vector<typename Problem::template Data<double>>& problems,
                                     const std::vector<double>& start, const Options& options = {}, int device = 0) {
  using Given = Instance<Problem, double>;
  using Solver = detail::SolverOf<Problem, Merit, Minimizer>;
  using Solution = solvers::MncpSolution<Problem, double>;
  using Candidate = solvers::MncpCandidate<Problem, double>;
  const auto count = static_cast<std::int64_t>(problems.size());
  const batch::InColumn starts = detail::make_in_column(start, count, solvers::kUnknowns<Problem>);
  const Solver solver = detail::make_solver<Problem, Merit, Minimizer>(options);
  Solutions out = detail::make_solutions<Problem>(count);
  batch::Rows rows = detail::make_instances<Problem>(problems, starts, {Executor::kCuda, 0, device});
  rows.out = detail::make_columns(out);
  detail::run_on_gpu<Given, Solution>(rows, [&](std::int64_t size, const double* given, double* solved) {
    cuda::Buffer<double> candidates(batch::tiles_for(size) * batch::kTile * batch::kFields<double, Candidate>);
    cuda::for_each(size, IterateKernel<Problem, Solver>{solver, given, candidates.data()});
    cuda::for_each(size, CertifyKernel<Problem>{options.tolerance, given, candidates.data(), solved});
  });
  return out;
}

/// evaluate() of mncp.hpp on a GPU.
/// @param points (u, v) or (u, v, z), for all problems or for each.
/// @param device number of the GPU.
/// @throws Error kUsage for the size of points; also for a CUDA error.
template <class Problem, class Merit = solvers::ComponentwiseMerit>
[[nodiscard]] Values evaluate_on_gpu(const std::vector<typename Problem::template Data<double>>& problems,
                                     const std::vector<double>& points, int device = 0) {
  using Body = EvaluateKernel<Problem, Merit>;
  constexpr int V = Body::kVariables;
  const auto count = static_cast<std::int64_t>(problems.size());
  const batch::InColumn column = detail::make_point_column<Problem, Merit>(points, count);
  Values out = detail::make_values<Problem, Merit>(count);
  batch::Rows rows = detail::make_instances<Problem, V>(problems, column, {Executor::kCuda, 0, device});
  rows.out = detail::make_columns(out);
  using Value = PointValue<double, Body::kResiduals, V>;
  detail::run_on_gpu<Instance<Problem, double, V>, Value>(
      rows, [&](std::int64_t size, const double* given, double* computed) {
        cuda::for_each(size, Body{column.width == V, given, computed});
      });
  return out;
}

}  // namespace garra::mncp
