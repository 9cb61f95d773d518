// Newton's method with restarts on the GPU, for batches and the grasp study: up to three contacts.
#include "contact/newton.cuh"

namespace garra::contact {

template void iterate_on_device(const IterateKernel<solvers::FrictionNewton, 1>&, std::int64_t);
template void iterate_on_device(const IterateKernel<solvers::FrictionNewton, 2>&, std::int64_t);
template void iterate_on_device(const IterateKernel<solvers::FrictionNewton, 3>&, std::int64_t);

template void iterate_symmetric_on_device(const IterateKernel<solvers::FrictionNewton, 1>&, std::int64_t);
template void iterate_symmetric_on_device(const IterateKernel<solvers::FrictionNewton, 2>&, std::int64_t);
template void iterate_symmetric_on_device(const IterateKernel<solvers::FrictionNewton, 3>&, std::int64_t);

}  // namespace garra::contact
