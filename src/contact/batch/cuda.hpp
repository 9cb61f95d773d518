// What the host hands to kernels/contact/*.cu with a solver (garra/batch/on_device.hpp).
#pragma once

#include <cstdint>

namespace garra::contact {

/// Problems of `contacts` contacts in tiles of FrictionProblem and SlidingContacts (or null), to be solved and judged
/// by the tolerance; their FrictionSolutions go to `solutions`.
struct HostTiles {
  int contacts;
  double tol;
  std::int64_t count;
  const double* problems;  ///< host memory, as the following
  const double* sliding;
  double* solutions;
};

}  // namespace garra::contact
