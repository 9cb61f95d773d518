// BOX-QUACAN on the papers' merit function, on the host.
#include "contact/batch/solve_batch.hpp"

namespace garra::contact {

void run_box_quacan(const MethodCall& call) { call.by_merit<BoxQuacanMethod>(); }

}  // namespace garra::contact
