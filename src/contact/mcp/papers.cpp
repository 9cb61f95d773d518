#include "contact/mcp/pairs.hpp"

namespace garra::mcp {

Solution run_papers(const PairJob& job) { return run_merit<solvers::PapersMerit>(job); }

}  // namespace garra::mcp
