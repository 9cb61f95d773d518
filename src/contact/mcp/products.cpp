#include "contact/mcp/pairs.hpp"

namespace garra::mcp {

Solution run_products(const Stage& stage, const Options& options, Oracle& oracle, const Numbers& start) {
  return run_merit<solvers::ComponentwiseMerit>(stage, options, oracle, start);
}

}  // namespace garra::mcp
