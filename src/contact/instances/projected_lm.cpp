// Projected Levenberg-Marquardt on componentwise products, on the host.
#include "contact/batch/solve_batch.hpp"

namespace garra::contact {

void run_projected_lm(const MethodCall& call) { call.by_merit<ProjectedLmMethod>(); }

}  // namespace garra::contact
