#include "contact/mcp/pairs.hpp"

namespace garra::mcp {

Solution run_products(const PairJob& job) { return run_merit<solvers::ComponentwiseMerit>(job); }

}  // namespace garra::mcp
