// The ladder beyond Newton on the CPU, of up to four contacts.
#include "contact/batch/rescue_each.hpp"

namespace garra::contact {

template void rescue_unsolved(const IterateBody<solvers::FrictionNewton, 1>&, bool, std::int64_t);
template void rescue_unsolved(const IterateBody<solvers::FrictionNewton, 2>&, bool, std::int64_t);
template void rescue_unsolved(const IterateBody<solvers::FrictionNewton, 3>&, bool, std::int64_t);
template void rescue_unsolved(const IterateBody<solvers::FrictionNewton, 4>&, bool, std::int64_t);

}  // namespace garra::contact
