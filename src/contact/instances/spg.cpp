// Spectral projected gradient on the papers' merit function, on the host.
#include "contact/batch/solve_batch.hpp"

namespace garra::contact {

void run_spg(const MethodCall& call) { call.by_merit<SpgMethod>(); }

}  // namespace garra::contact
