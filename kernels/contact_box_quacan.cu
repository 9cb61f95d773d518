#include "contact_solve.cuh"

namespace garra::contact {

void cuda_solve(const BoxQuacanMethod& solver, const CudaJob& job, const TileArrays& tiles) {
  solve_on_device(solver, job, tiles);
}

}  // namespace garra::contact
