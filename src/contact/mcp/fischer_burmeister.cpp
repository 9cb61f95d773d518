#include "contact/mcp/pairs.hpp"

namespace garra::mcp {

Solution run_fischer_burmeister(const Stage& stage, const Options& options, Oracle& oracle, const Numbers& start) {
  return run_merit<solvers::FischerBurmeisterMerit>(stage, options, oracle, start);
}

}  // namespace garra::mcp
