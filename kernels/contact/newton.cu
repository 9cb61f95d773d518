// Newton's ladder on the GPU, for batches and for the grasp study.
#include "contact/solve.cuh"

namespace garra::contact {

template <int N>
void iterate_on_device(const IterateBody<solvers::FrictionNewton, N>& iterate, std::int64_t count) {
  cuda::for_each(count, iterate);
  // In a kernel of its own: the tail is rare, so it is no part of the hot body.
  if (iterate.solver.goes_on()) rescue_on_device(iterate, count);
}
template void iterate_on_device(const IterateBody<solvers::FrictionNewton, 1>&, std::int64_t);
template void iterate_on_device(const IterateBody<solvers::FrictionNewton, 2>&, std::int64_t);
template void iterate_on_device(const IterateBody<solvers::FrictionNewton, 3>&, std::int64_t);
template void iterate_on_device(const IterateBody<solvers::FrictionNewton, 4>&, std::int64_t);
template void iterate_on_device(const IterateBody<solvers::FrictionNewton, 5>&, std::int64_t);
template void iterate_on_device(const IterateBody<solvers::FrictionNewton, 6>&, std::int64_t);
template void iterate_on_device(const IterateBody<solvers::FrictionNewton, 7>&, std::int64_t);
template void iterate_on_device(const IterateBody<solvers::FrictionNewton, 8>&, std::int64_t);

}  // namespace garra::contact

template struct garra::batch::Kernels<garra::solvers::FrictionNewton, garra::contact::HostTiles>;
template struct garra::batch::Kernels<garra::solvers::FrictionNewton, garra::contact::DeviceBatch>;
