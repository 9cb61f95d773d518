// The fallback solvers beyond Newton on the CPU: few problems need them, so they are solved one after another.
#include "contact/batch/fallback.hpp"

#include "contact/batch/lanes.hpp"
#include "garra/batch/interrupt.hpp"

namespace garra::contact {

void solve_remaining(const IterateKernel<solvers::FrictionNewton, kAnyContacts>& job, bool newton, std::int64_t count) {
  const FallbackKernel<kAnyContacts> body(job, newton);
  // On doubles: in SIMD lanes one problem would hold up all of its neighbors.
  for (std::int64_t i = 0; i < count; ++i) {
    // A problem may take a millisecond here, a block of them a second.
    if (body.template waits<double>(i)) check_interrupt();
    body.template operator()<double>(i);
  }
}

}  // namespace garra::contact
