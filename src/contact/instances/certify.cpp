// The certificate on the host, one instance for all solvers.
#include "contact/batch/lanes.hpp"

namespace garra::contact {

void certify_tiles(Executor executor, const CertifyKernel<kAnyContacts>& certify, std::int64_t count) {
  with_contacts(executor, [&](auto n) {
    for_each_problem<n>(executor, count,
                        CertifyKernel<n>{certify.tolerance, certify.problems, certify.sliding, certify.candidates,
                                         certify.solutions, certify.contacts});
  });
}

}  // namespace garra::contact
