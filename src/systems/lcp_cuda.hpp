// The seam to kernels/lcp.cu. Without nvcc, src/systems/no_cuda.cpp stands in and says so.
#pragma once

#include <cstdint>

#include "garra/solve/lcp.hpp"

namespace garra::lcp {

/// Host tiles of LcpProblem<double, size> in, of LcpSolution<double, size> out.
struct CudaTiles {
  int size;
  std::int64_t count;
  const double* problems;
  double* solutions;
};
void cuda_solve(const solvers::Lemke& solver, int device, const CudaTiles& tiles);

}  // namespace garra::lcp
