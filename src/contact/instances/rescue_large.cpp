// The ladder beyond Newton on the CPU, of five contacts and more: apart, for wheels compile it for size.
#include "contact/batch/rescue_each.hpp"

namespace garra::contact {

template void rescue_unsolved(const IterateBody<solvers::FrictionNewton, 5>&, bool, std::int64_t);
template void rescue_unsolved(const IterateBody<solvers::FrictionNewton, 6>&, bool, std::int64_t);
template void rescue_unsolved(const IterateBody<solvers::FrictionNewton, 7>&, bool, std::int64_t);
template void rescue_unsolved(const IterateBody<solvers::FrictionNewton, 8>&, bool, std::int64_t);
template void rescue_unsolved(const IterateBody<solvers::FrictionNewton, 12>&, bool, std::int64_t);
template void rescue_unsolved(const IterateBody<solvers::FrictionNewton, 16>&, bool, std::int64_t);
template void rescue_unsolved(const IterateBody<solvers::FrictionNewton, 24>&, bool, std::int64_t);
template void rescue_unsolved(const IterateBody<solvers::FrictionNewton, 32>&, bool, std::int64_t);

}  // namespace garra::contact
