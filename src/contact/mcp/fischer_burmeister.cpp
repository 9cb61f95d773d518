#include "contact/mcp/pairs.hpp"

namespace garra::mcp {

Solution run_fischer_burmeister(const PairJob& job) { return run_merit<solvers::FischerBurmeisterMerit>(job); }

}  // namespace garra::mcp
