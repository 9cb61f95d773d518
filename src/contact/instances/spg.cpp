// Spectral projected gradient on the papers' merit function, on the host.
#include "contact/batch/run.hpp"

namespace garra::contact {

void run_spg(const MethodCall& call) { call.by_merit<SpgMethod>(); }

}  // namespace garra::contact
