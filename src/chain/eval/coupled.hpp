// Chains of which joints follow others: evaluated with all of their joints, said in their coordinates.
#pragma once

#include "garra/chain_eval.hpp"

namespace garra::chain {

/// evaluate() of a robot with Robot::coupled. `states` are those of its coordinates, and have been checked.
void evaluate_coupled(const Robot& robot, const StateView& states, const Outputs& wanted, const EvalPlace& place,
                      Results& out);

}  // namespace garra::chain
