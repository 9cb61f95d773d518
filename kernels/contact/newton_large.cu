// Newton's method with restarts on the GPU for more than eight contacts: a problem for each warp,
// which may contain padding contacts.
#include "contact/newton.cuh"

namespace garra::contact {

template void iterate_on_device(const IterateKernel<solvers::FrictionNewton, 12>&, std::int64_t);
template void iterate_on_device(const IterateKernel<solvers::FrictionNewton, 16>&, std::int64_t);
template void iterate_on_device(const IterateKernel<solvers::FrictionNewton, 24>&, std::int64_t);
template void iterate_on_device(const IterateKernel<solvers::FrictionNewton, 32>&, std::int64_t);
template void fallback_on_host(const IterateKernel<solvers::FrictionNewton, 12>&, bool, std::int64_t);
template void fallback_on_host(const IterateKernel<solvers::FrictionNewton, 16>&, bool, std::int64_t);
template void fallback_on_host(const IterateKernel<solvers::FrictionNewton, 24>&, bool, std::int64_t);
template void fallback_on_host(const IterateKernel<solvers::FrictionNewton, 32>&, bool, std::int64_t);

}  // namespace garra::contact
