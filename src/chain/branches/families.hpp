// Continuous families among the solutions of a pose.
#pragma once

#include "chain/branches/prepared.hpp"

namespace garra::chain {

/// Marks the solutions of a pose [16] from which the arm can move on without its tool, and keeps one of each family:
/// with q0 [6] the one next to it.
void keep_families(const AllSolutions::Prepared& p, std::span<const double> pose, const double* q0,
                   std::vector<TurnedSolution>& all);

}  // namespace garra::chain
