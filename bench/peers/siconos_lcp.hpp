// The same LCPs solved by Siconos' lexicographic Lemke, in this process and on this thread. Optional: where Siconos is
// not installed, siconos_lcp_absent.cpp stands in.
#pragma once

#include <vector>

#include "garra/lcp.hpp"

namespace garra::bench::siconos {

struct LcpAnswers {
  std::vector<double> z;  ///< [count][size]
  double seconds;         ///< in the solver alone, all problems together; building its matrices is not timed
};

/// False where the project was built without Siconos.
[[nodiscard]] bool lcp_available();

/// lcp_lexicolemke on every problem, called without the driver's checks.
[[nodiscard]] LcpAnswers solve_lcp(const lcp::Problems& problems);

}  // namespace garra::bench::siconos
