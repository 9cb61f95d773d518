// Stands in for siconos_lcp.cpp where Siconos is not installed.
#include "peers/siconos_lcp.hpp"

namespace garra::bench::siconos {

bool lcp_available() { return false; }

LcpAnswers solve_lcp(const lcp::Problems&) { return {}; }

}  // namespace garra::bench::siconos
