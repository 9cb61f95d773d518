// Newton's method in mixed precision on the GPU.
#include "contact/batch/mixed.hpp"
#include "contact/solve.cuh"
#include "contact/tiles.cuh"

namespace garra::contact {

template <int N>
void iterate_on_device(const IterateKernel<solvers::FrictionMixed, N>& body, std::int64_t count) {
  const auto guesses = make_tiles<Vec<double, 3 * N>>(count);
  cuda::for_each(count, SingleKernel<N>{body.solver, body.problems, body.sliding, guesses.data()});
  const solvers::FrictionNewton& newton = body.solver;
  iterate_on_device(IterateKernel<solvers::FrictionNewton, N>{newton, body.problems, body.sliding, body.candidates,
                                                              guesses.data(), N},
                    count);
  cuda::for_each(count, StallKernel<N>{guesses.data(), body.candidates});
}

}  // namespace garra::contact

template struct garra::batch::Kernels<garra::solvers::FrictionMixed, garra::contact::HostBatch>;
template struct garra::batch::Kernels<garra::solvers::FrictionMixed, garra::contact::DeviceBatch>;
template struct garra::batch::Kernels<garra::solvers::FrictionMixed, garra::contact::DeviceTiles>;
