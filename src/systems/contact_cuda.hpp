// The seam to kernels/contact_*.cu: one overload per solver. Without nvcc, src/systems/no_cuda.cpp stands in and says
// so.
#pragma once

#include <cstdint>

#include "garra/contact.hpp"
#include "systems/contact_solvers.hpp"

namespace garra::contact {

/// Host tiles of FrictionProblem<double, N> and SlidingContacts<double, N> (or null) in, of FrictionSolution<double, N>
/// out.
struct TileArrays {
  const double* problems;
  const double* sliding;
  double* solutions;
  std::int64_t count;
};

/// How many contacts, on which device, judged by which tolerance.
struct CudaJob {
  int contacts;
  int device;
  double tol;
};

void cuda_solve(const solvers::FrictionNewton& solver, const CudaJob& job, const TileArrays& tiles);
void cuda_solve(const solvers::FrictionNsgs& solver, const CudaJob& job, const TileArrays& tiles);
void cuda_solve(const solvers::FrictionAdmm& solver, const CudaJob& job, const TileArrays& tiles);
void cuda_solve(const solvers::FrictionExtragradient& solver, const CudaJob& job, const TileArrays& tiles);
void cuda_solve(const BoxQuacanMethod& solver, const CudaJob& job, const TileArrays& tiles);
void cuda_solve(const SpgMethod& solver, const CudaJob& job, const TileArrays& tiles);
void cuda_solve(const ProjectedLmMethod& solver, const CudaJob& job, const TileArrays& tiles);
void cuda_solve(const FischerBurmeisterMethod& solver, const CudaJob& job, const TileArrays& tiles);

}  // namespace garra::contact
