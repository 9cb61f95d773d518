// The fallback solvers beyond Newton on the CPU: few problems need them, so they are solved one after another.
#include "contact/batch/fallback.hpp"

#include "contact/batch/lanes.hpp"
#include "garra/batch/interrupt.hpp"

namespace garra::contact {

void solve_remaining(const IterateKernel<solvers::FrictionNewton, kAnyContacts>& job, bool newton, std::int64_t count) {
  FallbackKernel<kAnyContacts> body(job, newton);
  body.fallback.between = check_interrupt;  // a search may take seconds
  // On doubles: in SIMD lanes one problem would hold up all of its neighbors.
  for (std::int64_t i = 0; i < count; ++i) {
    if (body.template waits<double>(i)) check_interrupt();
    body.template operator()<double>(i);
  }
}

}  // namespace garra::contact
