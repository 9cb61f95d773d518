// What follows where Newton fails, on the GPU for up to eight contacts (newton.cuh): a kernel of its own, since few
// threads have work here.
#include "contact/batch/rescue.hpp"
#include "contact/solve.cuh"

namespace garra::contact {

template <int N>
void rescue_on_device(const IterateBody<solvers::FrictionNewton, N>& newton, std::int64_t count) {
  cuda::for_each(count, RescueBody<N>(newton));
}
template void rescue_on_device(const IterateBody<solvers::FrictionNewton, 1>&, std::int64_t);
template void rescue_on_device(const IterateBody<solvers::FrictionNewton, 2>&, std::int64_t);
template void rescue_on_device(const IterateBody<solvers::FrictionNewton, 3>&, std::int64_t);
template void rescue_on_device(const IterateBody<solvers::FrictionNewton, 4>&, std::int64_t);
template void rescue_on_device(const IterateBody<solvers::FrictionNewton, 5>&, std::int64_t);
template void rescue_on_device(const IterateBody<solvers::FrictionNewton, 6>&, std::int64_t);
template void rescue_on_device(const IterateBody<solvers::FrictionNewton, 7>&, std::int64_t);
template void rescue_on_device(const IterateBody<solvers::FrictionNewton, 8>&, std::int64_t);

}  // namespace garra::contact
