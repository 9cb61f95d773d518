// Batches of mixed complementarity problems on a GPU: include this in a file that nvcc compiles (C++20, -fmad=false for
// the bits of the CPU, --expt-relaxed-constexpr). The bodies are those of mncp.hpp; see docs/mncp.md.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "garra/batch/for_each.cuh"
#include "garra/mncp_batch.hpp"
#include "garra/solve/projected_lm.hpp"

namespace garra::mncp {

namespace detail {

inline constexpr std::int64_t kGpuChunk = std::int64_t{1} << 18;  ///< problems on the GPU at a time

/// work(first, how_many) for every chunk, on the GPU number `device`.
template <class Work>
void for_each_chunk(std::int64_t count, int device, const Work& work) {
  cuda::check(cudaSetDevice(device), "choosing a device");
  for (std::int64_t first = 0; first < count; first += kGpuChunk) work(first, std::min(kGpuChunk, count - first));
}

}  // namespace detail

/// solve() of mncp.hpp on the GPU number `device`.
template <class Problem, class Merit = solvers::ComponentwiseMerit, class Minimizer = solvers::ProjectedLm>
[[nodiscard]] Solutions solve_on_gpu(const std::vector<typename Problem::template Data<double>>& problems,
                                     const std::vector<double>& start, const Options& options = {}, int device = 0) {
  using Given = Instance<Problem, double>;
  using Solver = detail::SolverOf<Problem, Merit, Minimizer>;
  using Solution = solvers::MncpSolution<Problem, double>;
  using Candidate = solvers::MncpCandidate<Problem, double>;
  const auto count = static_cast<std::int64_t>(problems.size());
  const detail::Rows rows = detail::rows_of(start, count, solvers::kUnknowns<Problem>);
  const Solver solver = detail::make_solver<Problem, Merit, Minimizer>(options);
  Solutions out = detail::make_solutions<Problem>(count);
  detail::for_each_chunk(count, device, [&](std::int64_t first, std::int64_t size) {
    batch::Tiles<Given> instances(size);
    batch::Tiles<Solution> solutions(size);
    detail::fill_tiles<Problem>(problems, rows, first, instances, size);
    const std::int64_t places = batch::tiles_for(size) * batch::kTile;
    cuda::Buffer<double> given(instances.doubles()), solved(solutions.doubles());
    cuda::Buffer<double> candidates(places * batch::kFields<double, Candidate>);
    given.upload(instances.data());
    cuda::for_each(size, IterateBody<Problem, Solver>{solver, given.data(), candidates.data()});
    cuda::for_each(size, CertifyBody<Problem>{options.tol, given.data(), candidates.data(), solved.data()});
    solved.download(solutions.data());
    for (std::int64_t i = 0; i < size; ++i) detail::store_solution<Problem>(first + i, solutions.get(i), out);
  });
  return out;
}

/// evaluate() of mncp.hpp on the GPU number `device`.
template <class Problem, class Merit = solvers::ComponentwiseMerit>
[[nodiscard]] Values evaluate_on_gpu(const std::vector<typename Problem::template Data<double>>& problems,
                                     const std::vector<double>& points, int device = 0) {
  using Body = EvaluateBody<Problem, Merit>;
  constexpr int V = Body::kVariables;
  const auto count = static_cast<std::int64_t>(problems.size());
  const detail::Rows rows = detail::points_of<Problem, Merit>(points, count);
  Values out = detail::make_values<Problem, Merit>(count);
  detail::for_each_chunk(count, device, [&](std::int64_t first, std::int64_t size) {
    batch::Tiles<Instance<Problem, double, V>> instances(size);
    batch::Tiles<PointValue<double, Body::kResiduals, V>> values(size);
    detail::fill_tiles<Problem, V>(problems, rows, first, instances, size);
    cuda::Buffer<double> given(instances.doubles()), computed(values.doubles());
    given.upload(instances.data());
    cuda::for_each(size, Body{rows.width == V, given.data(), computed.data()});
    computed.download(values.data());
    for (std::int64_t i = 0; i < size; ++i) detail::store_value(first + i, values.get(i), out);
  });
  return out;
}

}  // namespace garra::mncp
