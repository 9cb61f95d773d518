// Newton's method with restarts on the GPU for four to eight contacts: a problem for each team of
// four or eight lanes.
#include "contact/newton.cuh"

namespace garra::contact {

template void iterate_on_device(const IterateKernel<solvers::FrictionNewton, 4>&, std::int64_t);
template void iterate_on_device(const IterateKernel<solvers::FrictionNewton, 5>&, std::int64_t);
template void iterate_on_device(const IterateKernel<solvers::FrictionNewton, 6>&, std::int64_t);
template void iterate_on_device(const IterateKernel<solvers::FrictionNewton, 7>&, std::int64_t);
template void iterate_on_device(const IterateKernel<solvers::FrictionNewton, 8>&, std::int64_t);

}  // namespace garra::contact
