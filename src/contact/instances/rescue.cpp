// The ladder beyond Newton on the CPU: few problems need it, so they are solved one after another.
#include "contact/batch/rescue.hpp"

#include "contact/batch/lanes.hpp"

namespace garra::contact {

template <int N>
void rescue_unsolved(const IterateBody<solvers::FrictionNewton, N>& newton, std::int64_t count) {
  const RescueBody<N> body(newton);
  // On doubles: in lanes one problem on the ladder would hold up all of its neighbors.
  for (std::int64_t i = 0; i < count; ++i) body.template operator()<double>(i);
}
template void rescue_unsolved(const IterateBody<solvers::FrictionNewton, 1>&, std::int64_t);
template void rescue_unsolved(const IterateBody<solvers::FrictionNewton, 2>&, std::int64_t);
template void rescue_unsolved(const IterateBody<solvers::FrictionNewton, 3>&, std::int64_t);
template void rescue_unsolved(const IterateBody<solvers::FrictionNewton, 4>&, std::int64_t);
template void rescue_unsolved(const IterateBody<solvers::FrictionNewton, 5>&, std::int64_t);
template void rescue_unsolved(const IterateBody<solvers::FrictionNewton, 6>&, std::int64_t);
template void rescue_unsolved(const IterateBody<solvers::FrictionNewton, 7>&, std::int64_t);
template void rescue_unsolved(const IterateBody<solvers::FrictionNewton, 8>&, std::int64_t);
template void rescue_unsolved(const IterateBody<solvers::FrictionNewton, 12>&, std::int64_t);
template void rescue_unsolved(const IterateBody<solvers::FrictionNewton, 16>&, std::int64_t);
template void rescue_unsolved(const IterateBody<solvers::FrictionNewton, 24>&, std::int64_t);
template void rescue_unsolved(const IterateBody<solvers::FrictionNewton, 32>&, std::int64_t);

}  // namespace garra::contact
