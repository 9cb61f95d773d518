// The ladder beyond Newton on the CPU, of five contacts and more: apart, for wheels compile it for size.
#include "contact/batch/rescue_each.hpp"

namespace garra::contact {

template void rescue_unsolved(const IterateBody<solvers::FrictionNewton, 5>&, std::int64_t);
template void rescue_unsolved(const IterateBody<solvers::FrictionNewton, 6>&, std::int64_t);
template void rescue_unsolved(const IterateBody<solvers::FrictionNewton, 7>&, std::int64_t);
template void rescue_unsolved(const IterateBody<solvers::FrictionNewton, 8>&, std::int64_t);
template void rescue_unsolved(const IterateBody<solvers::FrictionNewton, 12>&, std::int64_t);
template void rescue_unsolved(const IterateBody<solvers::FrictionNewton, 16>&, std::int64_t);
template void rescue_unsolved(const IterateBody<solvers::FrictionNewton, 24>&, std::int64_t);
template void rescue_unsolved(const IterateBody<solvers::FrictionNewton, 32>&, std::int64_t);

}  // namespace garra::contact
