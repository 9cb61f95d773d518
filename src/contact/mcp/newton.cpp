#include "contact/mcp/pairs.hpp"

namespace garra::mcp {

Solution run_newton(const PairJob& job) {
  if (job.stage.merit == Stage::Merit::kNatural) return run_pair<solvers::NaturalMerit, solvers::SemismoothNewton>(job);
  return run_pair<solvers::FischerBurmeisterMerit, solvers::SemismoothNewton>(job);
}

}  // namespace garra::mcp
