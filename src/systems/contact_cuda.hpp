// The seam to kernels/contact.cu. Without nvcc, src/systems/no_cuda.cpp stands in and says so.
#pragma once

#include <cstdint>

#include "garra/contact.hpp"

namespace garra::contact {

/// Host tiles of FrictionProblem<double, N> in, of FrictionSolution<double, N> out.
struct TileArrays {
  const double* problems;
  double* solutions;
  std::int64_t count;
};
void cuda_solve(int contacts, const Options& options, int device, const TileArrays& tiles);

}  // namespace garra::contact
