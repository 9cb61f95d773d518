// Projected Levenberg-Marquardt on the Fischer-Burmeister function, on the host.
#include "contact/batch/solve_batch.hpp"

namespace garra::contact {

void run_fischer_burmeister(const MethodCall& call) { call.by_merit<FischerBurmeisterMethod>(); }

}  // namespace garra::contact
