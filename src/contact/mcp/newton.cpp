#include "contact/mcp/pairs.hpp"

namespace garra::mcp {

Solution run_newton(const Stage& stage, const Options& options, Oracle& oracle, const Numbers& start) {
  if (stage.merit == Stage::Merit::kNatural)
    return run_pair<solvers::NaturalMerit, solvers::SemismoothNewton>(stage, options, oracle, start);
  return run_pair<solvers::FischerBurmeisterMerit, solvers::SemismoothNewton>(stage, options, oracle, start);
}

}  // namespace garra::mcp
