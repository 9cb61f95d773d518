// Newton's ladder on the GPU for sets of grasps with more contacts, without what lies beyond it.
#include "contact/solve.cuh"

namespace garra::contact {

template <>
void iterate_on_device(const IterateBody<solvers::FrictionNewton, 16>& iterate, std::int64_t count) {
  cuda::for_each(count, iterate);
}

}  // namespace garra::contact
